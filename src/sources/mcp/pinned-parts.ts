import { hashJson } from '../../lib/index.ts'
import type { McpJsonObject, McpToolDefinition } from './definition.ts'

/** The parts of a definition, as texts that a person can compare. */
export type PinnedParts = Readonly<Partial<Record<PartName, string>>>

/** What of a definition can have changed. */
export const PART_NAMES = ['title', 'description', 'input', 'output', 'annotations'] as const

/** One of them. */
export type PartName = (typeof PART_NAMES)[number]

/** Name, texts, schemas and annotations as one hash: equal for what is equal, whatever the order of its keys. */
export function hashDefinition(definition: Omit<McpToolDefinition, 'hash'>): string {
  const { tool, title = null, description, input = null, output = null, annotations } = definition
  return hashJson({ annotations, description, input, output, title, tool })
}

/** What is kept of a definition: to show a change, and to show models the definition as it was before the change. */
export function partsOf(definition: McpToolDefinition): PinnedParts {
  const parts: Partial<Record<PartName, string>> = {}
  for (const name of PART_NAMES) {
    const value = definition[name]
    if (value === undefined) continue
    parts[name] = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
  }
  return parts
}

/** The definition that was pinned; undefined when what was kept of it is not all of it. */
export function pinnedDefinition(
  tool: string,
  { hash, parts }: { readonly hash: string; readonly parts: PinnedParts },
): McpToolDefinition | undefined {
  try {
    const definition = {
      tool,
      title: parts.title,
      description: parts.description ?? '',
      input: parse(parts.input),
      output: parse(parts.output) as McpJsonObject | undefined,
      annotations: (parse(parts.annotations) ?? {}) as McpJsonObject,
    }
    return hashDefinition(definition) === hash ? { ...definition, hash } : undefined
  } catch {
    // A part that is no JSON was not written by partsOf.
    return undefined
  }
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text)
}
