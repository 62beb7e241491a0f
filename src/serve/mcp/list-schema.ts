import { FORMS } from '../../schema/schema-forms.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'

/** Has clients send an argument as a header too, which nobody here compares: it is not promised. */
const HEADER_KEYWORD = 'x-mcp-header'

/** A copy of a schema as it goes into the list of tools. */
export function listSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const keywords = Object.entries(schema).filter(([keyword]) => keyword !== HEADER_KEYWORD)
  return Object.fromEntries(keywords.map(([keyword, value]) => [keyword, listKeyword(keyword, value)]))
}

/** Only where schemas stand: a property may have any name, and a value be anything. */
function listKeyword(keyword: string, value: unknown): unknown {
  const form = FORMS.get(keyword)
  if (form === 'schema') return listAny(value)
  if (form === 'list' && Array.isArray(value)) return value.map(listAny)
  if (form !== 'map' || !isPlainObject(value)) return structuredClone(value)
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, listAny(part)]))
}

function listAny(schema: unknown): unknown {
  return isPlainObject(schema) ? listSchema(schema) : structuredClone(schema)
}
