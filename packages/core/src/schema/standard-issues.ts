import { readablePath, toPointer, valueAt } from '../lib/index.ts'
import { fitsNone, MAX_ISSUES, missingKey, notOneOf, propertyNamesAt, unknownKey } from './issues.ts'
import type { JsonObject, SchemaIssue, StandardIssue } from './schema.ts'

/** What zod adds to an issue. */
interface ZodIssue extends StandardIssue {
  readonly code?: string
  readonly keys?: readonly string[]
  readonly values?: readonly unknown[]
  readonly options?: readonly unknown[]
  readonly errors?: ReadonlyArray<readonly ZodIssue[]>
}

interface Checked {
  readonly value: unknown
  /** Asked only when a key is unknown, to say which one was meant. */
  readonly jsonSchema: () => JsonObject
}

/** What a Standard Schema library found; zod's own short messages are said better, an author's are kept. */
export function fromStandardIssues(issues: readonly StandardIssue[], checked: Checked): SchemaIssue[] {
  return issues
    .slice(0, MAX_ISSUES)
    .flatMap((issue) => toIssues(issue, [], checked))
    .slice(0, MAX_ISSUES)
}

/** `base` is where the union is whose branch this issue comes from: zod counts its paths from there. */
function toIssues(issue: ZodIssue, base: readonly PropertyKey[], checked: Checked): SchemaIssue[] {
  const path = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  const place = [...base, ...path]
  if (issue.code === 'unrecognized_keys' && issue.message.startsWith('Unrecognized key')) {
    return unknownKeys(issue.keys ?? [], place, checked).map((message) => ({ path: toPointer(path), message }))
  }
  if (isZodDefault(issue) && isMissing(checked.value, place)) {
    return [{ path: toPointer(path.slice(0, -1)), message: missingKey(String(path.at(-1))) }]
  }
  return [{ path: toPointer(path), message: wording(issue, place, checked) }]
}

function wording(issue: ZodIssue, place: readonly PropertyKey[], checked: Checked): string {
  if (!isZodDefault(issue)) return withoutPath(issue.message, place)
  const types = /^Invalid input: expected (.+), received (.+)$/.exec(issue.message)
  if (issue.code === 'invalid_type' && types) return `must be ${typeName(types[1]!)}, got ${types[2]}`
  if (issue.code === 'invalid_value' && issue.values) return notOneOf(issue.values)
  if (issue.options) return notOneOf(issue.options)
  if (!issue.errors || issue.errors.length === 0) return issue.message
  return fitsNone(
    issue.errors.map((branch) => branch.slice(0, MAX_ISSUES).flatMap((inner) => toIssues(inner, place, checked))),
  )
}

/** Known codes with the message zod gives when the author gave none. */
function isZodDefault({ code, message }: ZodIssue): boolean {
  if (code !== 'invalid_type' && code !== 'invalid_value' && code !== 'invalid_union') return false
  return /^Invalid (?:input|option|discriminator)/.test(message)
}

function unknownKeys(keys: readonly string[], place: readonly PropertyKey[], { jsonSchema }: Checked): string[] {
  const known = knownNames(jsonSchema, place)
  return keys.slice(0, MAX_ISSUES).map((key) => unknownKey(key, known))
}

/** A schema without a JSON form still checks values; there is just no name to suggest. */
function knownNames(jsonSchema: () => JsonObject, place: readonly PropertyKey[]): Set<string> {
  try {
    return propertyNamesAt(jsonSchema(), place)
  } catch {
    return new Set()
  }
}

function isMissing(value: unknown, place: readonly PropertyKey[]): boolean {
  const key = place.at(-1)
  if (key === undefined) return false
  const parent = valueAt(value, place.slice(0, -1))
  return typeof parent === 'object' && parent !== null && !Object.hasOwn(parent, key)
}

/** zod's words for types that JSON names differently. */
function typeName(expected: string): string {
  if (expected === 'int') return 'integer'
  return expected === 'record' ? 'object' : expected
}

/** arktype begins its messages with the path, which an issue has already. */
function withoutPath(message: string, place: readonly PropertyKey[]): string {
  const path = `${readablePath(place)} `
  return place.length > 0 && message.startsWith(path) ? message.slice(path.length) : message
}
