import { pointerKeys, readablePath, valueAt } from '../lib/index.ts'
import { nearestNames } from '../names.ts'
import type { JsonObject, SchemaIssue } from './schema.ts'

/** How many issues one validation names; a hostile value can have a million. */
export const MAX_ISSUES = 10

const MAX_VALUES = 12
const MAX_BRANCHES = 4
const MAX_VALUE_LENGTH = 80

/** `must be string, got number`. */
export function wrongType(expected: string, value: unknown): string {
  const got = expected === 'integer' && typeof value === 'number' ? String(value) : typeName(value)
  return `must be ${expected}, got ${got}`
}

/** `must have the key "path"`. */
export function missingKey(key: string): string {
  return `must have the key ${quoteValue(key)}`
}

/** `must have no key "pth" (did you mean "path"?)`, or the keys there are when none is near. */
export function unknownKey(key: string, known: ReadonlySet<string>): string {
  // Another form of a union has it; to suggest the same key again would puzzle.
  if (known.has(key)) return `must have no key ${quoteValue(key)}`
  const [nearest] = nearestNames(key, known, 1)
  if (nearest !== undefined) return `must have no key ${quoteValue(key)} (did you mean ${quoteValue(nearest)}?)`
  if (known.size === 0) return `must have no key ${quoteValue(key)}`
  return `must have no key ${quoteValue(key)} (there is ${list([...known])})`
}

/** `must be one of "fast", "slow"`. */
export function notOneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${quoteValue(values[0])}` : `must be one of ${list(values)}`
}

/** `must be string or null, got number`; when the forms differ by more, what each of them misses. */
export function fitsNone(branches: ReadonlyArray<readonly SchemaIssue[]>): string {
  const types = branches.map(([issue, ...more]) =>
    issue?.path === '' && more.length === 0 ? /^must be (.+), got (.+)$/.exec(issue.message) : null,
  )
  if (types.length > 0 && types.every((type) => type !== null)) {
    return `must be ${types.map((type) => type[1]).join(' or ')}, got ${types[0]?.[2]}`
  }
  const forms = branches.slice(0, MAX_BRANCHES).map((issues) => issues.slice(0, 3).map(sayIssue).join(' and '))
  if (forms.length === 0) return 'must fit one of the allowed forms'
  const more = branches.length > forms.length ? `; or ${branches.length - forms.length} more` : ''
  return `must fit one of ${branches.length} forms: ${forms.join('; or ')}${more}`
}

/** One issue with its place in front: `items[0].name must be string, got number`. */
export function sayIssue({ path, message }: SchemaIssue): string {
  const sentence = message.replace(/\.$/, '')
  if (path === '') return sentence
  return `${readablePath(pointerKeys(path))}${sentence.startsWith('must ') ? '' : ':'} ${sentence}`
}

/** A value as JSON, cut when long. */
export function quoteValue(value: unknown): string {
  const text =
    typeof value === 'string' || Array.isArray(value) || isRecord(value) ? JSON.stringify(value) : String(value)
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}

function list(values: readonly unknown[]): string {
  const more = values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : ''
  return values.slice(0, MAX_VALUES).map(quoteValue).join(', ') + more
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : typeof value
}

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

const MAX_NAMED = 5

/**
 * One message for all issues, for a model or a person to act on.
 * @example
 * describeIssues(issues, 'Invalid arguments for notes.save')
 * // Invalid arguments for notes.save: path must be string, got number; must have no key "pth" (did you mean "path"?).
 */
export function describeIssues(issues: readonly SchemaIssue[], subject: string): string {
  const named = issues.slice(0, MAX_NAMED).map(sayIssue)
  const more = issues.length > MAX_NAMED ? ` and ${issues.length - MAX_NAMED} more` : ''
  return `${subject}: ${named.join('; ')}${more}.`
}

/** The property names a JSON Schema knows for the object at a path: what a mistyped key may have meant. */
export function propertyNamesAt(root: JsonObject, path: readonly PropertyKey[]): Set<string> {
  let places = sameValue(root, [root])
  for (const key of path) {
    places = sameValue(
      root,
      [...places].flatMap((place) => below(place, String(key))),
    )
  }
  return new Set([...places].flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])))
}

/** All subschemas that speak about the same value: references followed, combinations opened, each once. */
function sameValue(root: JsonObject, schemas: readonly unknown[]): Set<JsonObject> {
  const found = new Set<JsonObject>()
  const waiting = [...schemas]
  while (waiting.length > 0) {
    const schema = waiting.pop()
    if (!isObject(schema) || found.has(schema)) continue
    found.add(schema)
    waiting.push(referred(root, schema.$ref))
    const { allOf, anyOf, oneOf, then, else: otherwise } = schema
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) waiting.push(...list)
    waiting.push(then, otherwise)
  }
  return found
}

function below(schema: JsonObject, key: string): unknown[] {
  const { properties, additionalProperties, prefixItems, items } = schema
  if (isObject(properties) && Object.hasOwn(properties, key)) return [properties[key]]
  if (!/^\d+$/.test(key)) return [additionalProperties]
  const position = Number(key)
  return [
    Array.isArray(prefixItems) && position < prefixItems.length ? prefixItems[position] : items,
    additionalProperties,
  ]
}

/** Only resolves references into the same schema by pointer; others get no hint. */
function referred(root: JsonObject, ref: unknown): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  return valueAt(root, pointerKeys(ref.slice(1)))
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
