import type { Effect, Rule, WhereRange, WhereTest, WhereValue } from '../core/index.ts'
import { isPlainObject, toPointer } from '../lib/index.ts'
import { readSubject } from './compile-rule.ts'
import { isIdName, isTextArgument, type TextFacts } from './provenance.ts'
import { writeRule } from './suggest-fix.ts'

/** A recorded call and what became of it. */
export interface ReviewedCall {
  readonly run: string
  readonly callId: string
  readonly tool: string
  /** `undefined` if the record does not have them as policy saw them. */
  readonly args: unknown
  readonly callerKind?: 'direct' | 'script'
  /** Whether the run had read content from outside by then. */
  readonly isTainted: boolean
  /** `refused` by a rule or a person, `unanswered` if nobody answered, `ran` without a person. */
  readonly outcome: 'approved' | 'refused' | 'unanswered' | 'ran'
  /** Whether its approval counts, or is too long ago. */
  readonly counts: boolean
}

/** What is known about a tool. */
export interface SuggestedTool extends TextFacts {
  /** All its arguments, and which of them are texts for people; absent if others are possible. */
  readonly arguments?: readonly { readonly name: string; readonly isText: boolean }[]
}

/** How recorded calls are decided again. */
export interface Replay {
  /** Decides a call in a run with no history, by the current rules and, if given, one more. */
  readonly decide: (call: ReviewedCall, isTainted: boolean, rule?: Rule) => Promise<Effect>
  /** Returns `undefined` if there is no such tool now. */
  readonly describe: (tool: string) => SuggestedTool | undefined
}

/** A rule that would have made approvals unnecessary. */
export interface SuggestedRule {
  readonly rule: Rule
  /** Rules that belong to it: arguments that no recorded call used still ask. */
  readonly also: readonly Rule[]
  /** The rules as they are written in the config. */
  readonly yaml: readonly string[]
  /** How many approvals it would have saved. */
  readonly saves: number
  /** The calls that would not have asked. */
  readonly calls: readonly { readonly run: string; readonly callId: string }[]
  /** Arguments that the rule does not restrict. */
  readonly open: readonly string[]
}

/** The suggestions, and the tools that get none because a call that was not approved cannot be decided again. */
export interface Suggestions {
  readonly rules: readonly SuggestedRule[]
  readonly withheld: readonly string[]
}

type Tier = 'exact' | 'pattern'

/** Approved calls whose values one rule covers. */
interface Group {
  readonly values: ReadonlyMap<string, readonly WhereValue[]>
  /** Arguments of which any number between the smallest and the largest is meant. */
  readonly ranges: ReadonlySet<string>
  readonly calls: number
}

interface Candidate {
  readonly group?: Group
  readonly rule: Rule
  readonly saved: readonly ReviewedCall[]
}

const MIN_SAVED = 2
const MAX_GROUPS = 20
const MAX_LIST = 100
/** With more, nobody reads a rule for each that was not used. */
const MAX_ARGUMENTS = 20
const MAX_VALUES = 1_000
/** As `where` compares them. */
const MAX_TEXT_CHARS = 512
const MAIL = /^[^\s@<>,;:"'*?]+(@[a-z\d-]+(?:\.[a-z\d-]+)+)$/i
/** Anybody can have an address there. */
const PUBLIC_MAIL =
  /^@(?:g(?:oogle)?mail|outlook|hotmail|live|msn|yahoo|ymail|icloud|me|aol|proton(?:mail)?|pm|gmx|web|mail|qq|163|126|yandex)\.[a-z.]+$/i

/**
 * Finds the smallest rules that would have covered approved calls: exact values, then the domain of a mail address, the host
 * of a URL or bounds of a number, then the tool. A wider rule must save two more approvals than the narrower ones. A rule
 * that would let through a call that was refused or not approved, or that would make others ask, is left out. Only rules
 * that name the values of all arguments, apart from texts for people, hold in runs that have read content from outside: any
 * other would let through values there that nobody has approved.
 */
export async function suggestRules(calls: readonly ReviewedCall[], replay: Replay): Promise<Suggestions> {
  const found: SuggestedRule[][] = []
  const withheld: string[] = []
  for (const [tool, all] of groupBy(calls, (call) => call.tool)) {
    const facts = replay.describe(tool)
    const approved = all.filter(({ outcome, counts }) => outcome === 'approved' && counts)
    // A tool that is called like a capability cannot be named: the word means the capability.
    const isNamed = readSubject(tool, 'allow').kind === 'tool'
    if (facts === undefined || !isNamed || approved.length < MIN_SAVED) continue
    const known = new Set(all.filter(({ outcome }) => outcome === 'approved').map(keyOf))
    const ofTool = all.filter(
      (call) => call.outcome !== 'unanswered' || call.args === undefined || !known.has(keyOf(call)),
    )
    if (ofTool.some((call) => isNotApproved(call) && call.args === undefined)) withheld.push(tool)
    else {
      const unused = unusedOf(facts, all)
      found.push(await suggestForTool({ tool, facts, calls: ofTool, approved, unused, before: new Map(), replay }))
    }
  }
  const most = (rules: readonly SuggestedRule[]) => Math.max(0, ...rules.map(({ saves }) => saves))
  return { rules: found.sort((a, b) => most(b) - most(a)).flat(), withheld }
}

interface ToolCalls {
  readonly tool: string
  readonly facts: SuggestedTool
  readonly calls: readonly ReviewedCall[]
  /** Those that count. */
  readonly approved: readonly ReviewedCall[]
  /** Arguments that no recorded call has used. */
  readonly unused: ReadonlySet<string>
  /** The decisions of the current rules, by call. */
  readonly before: Map<string, Promise<Effect>>
  readonly replay: Replay
}

async function suggestForTool(of: ToolCalls): Promise<SuggestedRule[]> {
  const { tool, facts } = of
  const covered = new Set<ReviewedCall>()
  const offered: SuggestedRule[] = []
  const offer = ({ rule, saved }: Candidate) => {
    if (saved.filter((call) => !covered.has(call)).length < MIN_SAVED) return
    for (const call of saved) covered.add(call)
    const open = openArguments(facts, rule)
    const also = rule.when ? [] : (open ?? []).filter(({ isText }) => !isText).map(({ name }) => askIfUsed(tool, name))
    const left = open?.filter(({ isText }) => isText || rule.when).map(({ name }) => name)
    offered.push({
      rule,
      also,
      yaml: [rule, ...also].map(writeRule),
      saves: saved.length,
      calls: saved.map(({ run, callId }) => ({ run, callId })),
      open: left ?? ['arguments that it does not name'],
    })
  }
  const runsCommands = facts.capabilities.includes('exec')
  for (const tier of runsCommands ? (['exact'] as const) : (['exact', 'pattern'] as const))
    for (const candidate of await candidatesOf(of, groupsOf(of, tier))) offer(candidate)
  // What deletes or runs commands is never allowed as a whole.
  if (runsCommands || facts.capabilities.includes('danger:destructive')) return offered
  const whole = await tryRule(
    of,
    facts.arguments?.length === 0 ? { allow: tool } : { allow: tool, when: { tainted: false } },
  )
  if (whole) offer(whole)
  return offered
}

/** Returns the groups that make safe rules, as few rules as possible, those that save most first. */
async function candidatesOf(of: ToolCalls, groups: readonly Group[]): Promise<Candidate[]> {
  const alone: Candidate[] = []
  for (const group of groups) {
    const candidate = await tryRule(of, ruleOf(of, group), group)
    if (candidate) alone.push(candidate)
  }
  const merged: Candidate[] = []
  for (const members of mergeable(alone)) {
    const group = members.map((each) => each.group!).reduce(together)
    const candidate = members.length > 1 ? await tryRule(of, ruleOf(of, group), group) : undefined
    merged.push(...(candidate ? [candidate] : members))
  }
  return merged.sort((a, b) => b.saved.length - a.saved.length)
}

/** Decides all calls of the tool again. Returns `undefined` if the rule must not be offered. */
async function tryRule(of: ToolCalls, rule: Rule, group?: Group): Promise<Candidate | undefined> {
  const decisions = new Map<string, Promise<Effect>>()
  const saved: ReviewedCall[] = []
  for (const call of of.calls) {
    if (call.args === undefined) continue
    // What was not approved stays so in any run, whatever it had read then.
    for (const isTainted of isNotApproved(call) ? [false, true] : [call.isTainted]) {
      const key = `${isTainted} ${call.callerKind} ${keyOf(call)}`
      const before = await once(of.before, key, () => of.replay.decide(call, isTainted))
      const after = await once(decisions, key, () => of.replay.decide(call, isTainted, rule))
      const isOpened = before !== 'allow' && after === 'allow'
      if (isOpened ? isNotApproved(call) : before === 'allow' && after !== 'allow') return undefined
      if (isOpened && call.outcome === 'approved' && call.counts) saved.push(call)
    }
  }
  return saved.length < MIN_SAVED ? undefined : { rule, group, saved }
}

function once<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

function isNotApproved({ outcome }: ReviewedCall): boolean {
  return outcome === 'refused' || outcome === 'unanswered'
}

function keyOf({ args }: ReviewedCall): string {
  return JSON.stringify(args) ?? ''
}

/** Groups approved calls with the same values, or values of the same shape; the largest groups first. */
function groupsOf({ approved, facts }: ToolCalls, tier: Tier): Group[] {
  const groups = new Map<string, Group>()
  for (const { args } of approved) {
    const group = readGroup(args, tier, facts)
    if (group === undefined) continue
    const key = shapeOf(group)
    const known = groups.get(key)
    groups.set(key, known ? together(known, group) : group)
  }
  return [...groups.values()]
    .filter(({ calls }) => calls >= MIN_SAVED)
    .sort((a, b) => b.calls - a.calls)
    .slice(0, MAX_GROUPS)
}

/** Reads the values of a call that decide what it does. `undefined` if no rule can name them. */
function readGroup(args: unknown, tier: Tier, facts: SuggestedTool): Group | undefined {
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
        return (isTextArgument(at, facts) && isText(field)) || visit(field, at)
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

function together(a: Group, b: Group): Group {
  const values = new Map([...a.values].map(([name, list]) => [name, unique([...list, ...b.values.get(name)!])]))
  return { values, ranges: a.ranges, calls: a.calls + b.calls }
}

/** Groups that differ in one argument only, so that one rule with a list covers them and nothing else. */
function mergeable(candidates: readonly Candidate[]): (readonly Candidate[])[] {
  const names = new Set(candidates.flatMap(({ group }) => [...group!.values.keys()]))
  let best = candidates.map((each) => [each] as readonly Candidate[])
  for (const name of names) {
    const others = ({ group }: Candidate) =>
      JSON.stringify([...group!.values].map((entry) => (entry[0] === name && !group!.ranges.has(name) ? name : entry)))
    const sets = [...groupBy(candidates, others).values()]
    if (sets.length < best.length && sets.every((set) => set.length <= MAX_LIST)) best = sets
  }
  return best
}

function ruleOf({ tool, facts, unused }: ToolCalls, { values, ranges }: Group): Rule {
  const testOf = (name: string, list: readonly WhereValue[]): WhereTest => {
    if (list.length === 1) return list[0]!
    return ranges.has(name) ? rangeOf(list) : list
  }
  const where = Object.fromEntries([...values].map(([name, list]) => [name, testOf(name, list)]))
  const rule = { allow: tool, where }
  const isExact = [...values.values()].flat().every((value) => !/\*/.test(`${value}`)) && ranges.size === 0
  // A text may hold an address, which nobody has approved.
  const isPinned = openArguments(facts, rule)?.every(({ name }) => unused.has(name)) ?? false
  return isExact && isPinned ? rule : { ...rule, when: { tainted: false } }
}

function rangeOf(values: readonly WhereValue[]): WhereRange {
  const numbers = values.filter((value) => typeof value === 'number')
  return { min: Math.min(...numbers), max: Math.max(...numbers) }
}

/** The arguments of a tool that a rule says nothing about; `undefined` if nobody knows all of them. */
function openArguments({ arguments: all }: SuggestedTool, { where = {} }: Rule): SuggestedTool['arguments'] {
  return all?.filter(({ name }) => !Object.hasOwn(where, name))
}

function unusedOf({ arguments: all = [] }: SuggestedTool, calls: readonly ReviewedCall[]): Set<string> {
  if (all.length > MAX_ARGUMENTS) return new Set()
  const used = new Set(calls.flatMap(({ args }) => (isPlainObject(args) ? Object.keys(args) : [])))
  return new Set(all.map(({ name }) => name).filter((name) => name !== '' && !used.has(name)))
}

/** Any value of the argument asks: of two rules with `where`, the stricter decides. */
function askIfUsed(tool: string, name: string): Rule {
  return { ask: tool, where: { [name.startsWith('/') ? toPointer([name]) : name]: '**' } }
}

function groupBy<T>(items: readonly T[], keyOfItem: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOfItem(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
