import { isPlainObject } from '../../lib/index.ts'
import { holdsHidden, withoutHidden } from '../hidden-text.ts'
import type { McpJsonObject, ServerToolDefinition } from './definitions.ts'

const DESCRIPTION_CHARS = 4_000
const TITLE_CHARS = 200
/** Half of a surrogate pair, which only cutting produces: hidden characters are removed before. */
const HALF_CHARACTER = /\p{Cs}/u
/** Keywords of a schema that only people and models read. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment'])

/** The texts of a definition that people and models read, without hidden characters. */
export interface CleanTexts {
  readonly title: string | undefined
  readonly description: string
  /** Where hidden characters were found, for the approver; `undefined` if there were none. */
  readonly hidden: string | undefined
}

/** Removes hidden characters from the texts of a definition and reports where they were, schemas included. */
export function cleanTexts({ tool, title, description, input, output, annotations }: ServerToolDefinition): CleanTexts {
  const given = { name: tool, title, description, 'input schema': input, 'output schema': output, annotations }
  const places = Object.entries(given).filter(([, part]) => holdsHiddenAnywhere(part))
  const name = typeof annotations.title === 'string' ? (title ?? annotations.title) : title
  return {
    title: name === undefined ? undefined : withoutHidden(name).slice(0, TITLE_CHARS),
    description: shorten(withoutHidden(description)),
    hidden:
      places.length === 0 ? undefined : `its ${places.map(([place]) => place).join(', ')} holds hidden characters`,
  }
}

/** Removes hidden characters from the texts of a schema; names and values stay as they are. */
export function cleanSchema(schema: McpJsonObject): McpJsonObject {
  return clean(schema) as McpJsonObject
}

function clean(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(clean)
  if (!isPlainObject(part)) return part
  return Object.fromEntries(
    Object.entries(part).map(([keyword, value]) => {
      const isText = typeof value === 'string' && TEXTS.has(keyword)
      return [keyword, isText ? shorten(withoutHidden(value)) : clean(value)]
    }),
  )
}

function holdsHiddenAnywhere(part: unknown): boolean {
  if (typeof part === 'string') return holdsHidden(part)
  if (typeof part !== 'object' || part === null) return false
  return Object.entries(part).some(([key, value]) => holdsHidden(key) || holdsHiddenAnywhere(value))
}

function shorten(text: string): string {
  if (text.length <= DESCRIPTION_CHARS) return text
  const kept = text.slice(0, DESCRIPTION_CHARS).replace(HALF_CHARACTER, '')
  return `${kept} … [${text.length - DESCRIPTION_CHARS} characters cut]`
}
