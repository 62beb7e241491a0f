import type { z } from 'zod'
import type { KeyPath } from '../core/document/problem.ts'
import { didYouMean } from '../core/names.ts'
import { valueAt } from '../lib/json-pointer.ts'
import { knownKeys, type SchemaNode } from './config-json-schema.ts'

/** A problem before its place is looked up. */
export interface IssueDescription {
  readonly path: KeyPath
  /** Whether the key itself is wrong, or what stands there. */
  readonly part: 'key' | 'value'
  readonly message: string
}

type Issue = z.core.$ZodIssue

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'a text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['tuple', 'a list of a name and its options'],
  ['object', 'a mapping of keys'],
  ['record', 'a mapping of keys'],
])

/** What an owner can do something with, out of what zod found in `value`. */
export function describeIssue(issue: Issue, value: unknown, schema: SchemaNode): IssueDescription[] {
  const path = issue.path as KeyPath
  const found = valueAt(value, path)
  const finding = (message: string): IssueDescription[] => [{ path, part: 'value', message }]
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(path, issue.keys, knownKeys(schema, path))
    case 'invalid_type':
      return finding(wrongType([issue], found))
    case 'invalid_value':
      return finding(wrongValue(issue.values.map(String), found))
    case 'invalid_union':
      return describeUnion(issue, value, schema)
    case 'too_small':
      return finding(
        typeof found === 'number'
          ? `must be ${issue.inclusive ? 'at least' : 'over'} ${issue.minimum}, not ${found}.`
          : 'must not be empty.',
      )
    default:
      return finding(issue.message)
  }
}

/** Of several forms, the one whose kind fits is explained; when none fits, all are named. */
function describeUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  value: unknown,
  schema: SchemaNode,
): IssueDescription[] {
  const fitting = issue.errors.find((issues) => !issues.some(isWrongKind))
  if (fitting)
    return fitting.flatMap((inner) => describeIssue({ ...inner, path: [...issue.path, ...inner.path] }, value, schema))
  const path = issue.path as KeyPath
  return [{ path, part: 'value', message: wrongType(issue.errors.flat().filter(isWrongKind), valueAt(value, path)) }]
}

function isWrongKind(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value')
}

function unknownKeys(path: KeyPath, names: readonly string[], known: readonly string[]): IssueDescription[] {
  const all = `Known here: ${known.join(', ')}.`
  return names.map((name) => ({
    path: [...path, name],
    part: 'key',
    message: `unknown key. ${didYouMean(name, known) || all}`,
  }))
}

function wrongType(issues: readonly Issue[], found: unknown): string {
  const wanted = new Set(issues.map(wantedBy))
  return `must be ${[...wanted].join(' or ')}, ${butIs(found)}.`
}

function wantedBy(issue: Issue): string {
  if (issue.code === 'invalid_value') return issue.values.map(String).join(', ')
  return issue.code === 'invalid_type' ? (TYPE_NAMES.get(issue.expected) ?? issue.expected) : issue.message
}

function wrongValue(allowed: readonly string[], found: unknown): string {
  const list = allowed.length === 1 ? allowed[0]! : `one of ${allowed.join(', ')}`
  const guess = typeof found === 'string' ? didYouMean(found, allowed) : ''
  return `must be ${list}, ${butIs(found)}.${guess === '' ? '' : ` ${guess}`}`
}

function butIs(found: unknown): string {
  return found === undefined ? 'and is missing' : `not ${kindOf(found)}`
}

function kindOf(found: unknown): string {
  if (found === null) return 'nothing'
  if (Array.isArray(found)) return 'a list'
  if (typeof found === 'object') return 'a mapping of keys'
  return typeof found === 'string' ? JSON.stringify(found.slice(0, 40)) : String(found).slice(0, 40)
}
