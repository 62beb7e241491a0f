import { hashJson } from '../../value/hash.ts'
import type { Definition } from './definition.ts'

/** The parts of a definition that a person can compare, as text; one that is too long, as its hash. */
export type PinnedParts = Readonly<Partial<Record<PartName, string>>>

/** What of a definition can have changed. */
export const PART_NAMES = ['title', 'description', 'input', 'output', 'annotations'] as const

/** One of them. */
export type PartName = (typeof PART_NAMES)[number]

const LONGEST_PART = 4_000

/** Name, texts, schemas and annotations as one hash: equal for what is equal, whatever the order of its keys. */
export function hashDefinition(definition: Omit<Definition, 'hash'>): string {
  const { tool, title = null, description, input = null, output = null, annotations } = definition
  return hashJson({ annotations, description, input, output, title, tool })
}

/** What is kept of a definition, so that a change can be shown. */
export function partsOf(definition: Definition): PinnedParts {
  const parts: Partial<Record<PartName, string>> = {}
  for (const name of PART_NAMES) {
    const value = definition[name]
    if (value === undefined) continue
    const text = typeof value === 'string' ? value : JSON.stringify(value, undefined, 1)
    parts[name] = text.length > LONGEST_PART ? `sha256:${hashJson(value)}` : text
  }
  return parts
}
