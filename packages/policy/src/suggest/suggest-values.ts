import type { WhereValue } from '@tool-hub/core'
import { isPlainObject, toPointer } from '@tool-hub/core/lib'
import { type ArgumentFacts, isIdName, isTextArgument, lastWordsOf } from '../evidence/index.ts'

/** `exact` values, or `pattern`: the domain of an address, the host of a URL, the bounds of a number. */
export type Tier = 'exact' | 'pattern'

/** Approved calls whose values one rule covers. */
export interface Group {
  readonly values: ReadonlyMap<string, readonly WhereValue[]>
  /** Arguments of which any number between the smallest and the largest is meant. */
  readonly ranges: ReadonlySet<string>
  readonly calls: number
}

const MIN_CALLS = 2
const MAX_GROUPS = 20
const MAX_VALUES = 1_000
/** As `where` compares them. */
const MAX_TEXT_CHARS = 512
const MAIL = /^[^\s@<>,;:"'*?]+(@[a-z\d-]+(?:\.[a-z\d-]+)+)$/i
/** Anybody can have an address there. */
const PUBLIC_MAIL =
  /^@(?:g(?:oogle)?mail|outlook|hotmail|live|msn|yahoo|ymail|icloud|me|aol|proton(?:mail)?|pm|gmx|web|mail|qq|163|126|yandex)\.[a-z.]+$/i

/** Groups approved calls with the same values, or values of the same shape; the largest groups first. */
export function groupCalls(
  { approved, facts }: { readonly approved: readonly { readonly args: unknown }[]; readonly facts: ArgumentFacts },
  tier: Tier,
): Group[] {
  const groups = new Map<string, Group>()
  for (const { args } of approved) {
    const group = readGroup(args, tier, facts)
    if (group === undefined) continue
    const key = shapeOf(group)
    const known = groups.get(key)
    groups.set(key, known ? together(known, group) : group)
  }
  return [...groups.values()]
    .filter(({ calls }) => calls >= MIN_CALLS)
    .sort((a, b) => b.calls - a.calls)
    .slice(0, MAX_GROUPS)
}

/** Reads the values of a call that decide what it does. `undefined` if no rule can name them. */
function readGroup(args: unknown, tier: Tier, facts: ArgumentFacts): Group | undefined {
  const values = new Map<string, WhereValue[]>()
  const ranges = new Set<string>()
  let left = MAX_VALUES
  const visit = (value: unknown, path: readonly string[]): boolean => {
    if (left-- <= 0) return false
    if (Array.isArray(value)) return value.every((item) => visit(item, path))
    if (isPlainObject(value))
      return Object.entries(value).every(([key, field]) => {
        const at = [...path, key]
        // A text for people decides nothing.
        return (
          (isTextArgument(at, { ...facts, given: lastWordsOf(Object.keys(value)) }) && isText(field)) ||
          visit(field, at)
        )
      })
    const name = path.length === 1 && !path[0]!.startsWith('/') ? path[0]! : toPointer(path)
    if (name === '' || value === undefined) return value === undefined
    const written = tier === 'pattern' ? widen(value) : value
    if (!isWritable(written, tier)) return false
    if (tier === 'pattern' && typeof value === 'number' && !isIdName(path.at(-1)!)) ranges.add(name)
    values.set(name, unique([...(values.get(name) ?? []), written]))
    return true
  }
  if (!isPlainObject(args) || !visit(args, []) || values.size === 0) return undefined
  return { values: new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1))), ranges, calls: 1 }
}

function isText(value: unknown): boolean {
  const values = Array.isArray(value) ? value : [value]
  return values.every((each) => typeof each === 'string')
}

/** A mail address becomes its domain, a URL its host. */
function widen(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const domain = MAIL.exec(value)?.[1]
  if (domain !== undefined) return PUBLIC_MAIL.test(domain) ? value : `*${domain}`
  const url = /^https?:\/\//.test(value) && URL.canParse(value) ? new URL(value) : undefined
  return url && value.startsWith(`${url.origin}/`) ? `${url.origin}/**` : value
}

/** Whether a rule can say exactly this: `*` and `?` stand for other characters, and some words for evidence. */
function isWritable(value: unknown, tier: Tier): value is WhereValue {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'string') return value === null || typeof value === 'boolean'
  if (value.length > MAX_TEXT_CHARS || /\p{C}/u.test(value) || /^(?:from-user|approved-before)$/.test(value))
    return false
  const literal = tier === 'pattern' ? value.replace(/^\*@|(?<=^https?:\/\/[^/]*\/)\*\*$/, '') : value
  return !/[*?]/.test(literal)
}

function unique(values: readonly WhereValue[]): WhereValue[] {
  return [...new Set(values)].sort((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : `${a}` < `${b}` ? -1 : 1,
  )
}

/** What the calls of one group have in common. */
function shapeOf({ values, ranges }: Group): string {
  return JSON.stringify([...values].map(([name, list]) => [name, ranges.has(name) ? 'range' : list]))
}

/** One group for the calls of both. */
export function together(a: Group, b: Group): Group {
  const values = new Map([...a.values].map(([name, list]) => [name, unique([...list, ...b.values.get(name)!])]))
  return { values, ranges: a.ranges, calls: a.calls + b.calls }
}
