import { pointerKeys, readablePath } from '../../lib/index.ts'
import { nearestNames } from '../names.ts'
import type { SchemaIssue } from './compiled-schema.ts'

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
