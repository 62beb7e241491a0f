import type { JsonObject } from '../../core/schema/index.ts'

/** Keywords that help nobody who cannot check them. */
const NOT_WORTH_TELLING = new Set([
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  'deprecated',
  'readOnly',
  'writeOnly',
  'id',
])
const MAX_CHARS = 300
/** A bound that no model would come near by itself. */
const FAR = 1_000

/** The schema with what its provider does not understand told in words to the model, which can still keep to it. */
export function tellInDescription(schema: JsonObject, dropped: JsonObject): JsonObject {
  const told = Object.entries(dropped).filter(([keyword, value]) => isWorthTelling(keyword, value))
  if (told.length === 0) return schema
  const note = `(${told.map(([keyword, value]) => `${keyword}: ${shortJson(value)}`).join(', ')})`
  const description = typeof schema.description === 'string' ? `${schema.description} ${note}` : note
  return { ...schema, description }
}

function isWorthTelling(keyword: string, value: unknown): boolean {
  if (NOT_WORTH_TELLING.has(keyword)) return false
  if (keyword === 'minLength') return Number(value) > 1
  return !(keyword.startsWith('max') && Number(value) >= FAR)
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined'
  return json.length > MAX_CHARS ? `${json.slice(0, MAX_CHARS)}…` : json
}
