import type { Effect, Rule, WhereRange, WhereTest, WhereValue } from '@tool-hub/core'
import { isPlainObject, toPointer } from '@tool-hub/core/lib'
import { readSubject } from '../compile-rule.ts'
import { writeRule } from '../decide/index.ts'
import type { ArgumentFacts } from '../evidence/index.ts'
import { type CommandNeed, canSuggest, commandRules } from './suggest-commands.ts'
import { type Group, groupCalls, together } from './suggest-values.ts'

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
export interface SuggestedTool extends ArgumentFacts {
  /** All its arguments, and which of them are texts for people; absent if others are possible. */
  readonly arguments?: readonly { readonly name: string; readonly isText: boolean }[]
}

/** How recorded calls are decided again. */
export interface Replay {
  /** Decides a call in a run with no history, by the current rules and, if given, one more. */
  readonly decide: (call: ReviewedCall, isTainted: boolean, rule?: Rule) => Promise<Effect>
  /** Returns what a rule would have to name so that the commands of a call run; `undefined` for a call without commands. */
  readonly commandsOf: (call: ReviewedCall) => Promise<CommandNeed | undefined>
  /** Returns `undefined` if the tool does not exist now. */
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

/** The suggestions, and what has none. */
export interface Suggestions {
  readonly rules: readonly SuggestedRule[]
  /** Tools without suggestions: a call that was not approved cannot be decided again. */
  readonly withheld: readonly string[]
  /** Why the other approvals have no rule, the most frequent reason first. */
  readonly left: readonly { readonly reason: string; readonly approvals: number }[]
}

const LEFT = {
  unrecorded: 'their arguments are not on record: they were too large or contained a secret',
  tool: 'their tool no longer exists, or it has the name of a capability',
  allowed: 'your rules allow them by now',
  eachTime:
    'they run commands that are approved each time: they delete, publish, run code that cannot be inspected, or cannot be written as a pattern',
  unsafe: 'a rule for them would also allow a call that was denied or not approved, or make another call ask',
  alone: 'no rule can name what they have in common with another approved call',
} as const

interface Candidate {
  readonly group?: Group
  readonly rule: Rule
  readonly saved: readonly ReviewedCall[]
}

const MIN_SAVED = 2
const MAX_LIST = 100
/** With more, nobody reads a rule for each that was not used. */
const MAX_ARGUMENTS = 20

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
  const reasons = new Map<ReviewedCall, keyof typeof LEFT>()
  const leave = (reason: keyof typeof LEFT) => (call: ReviewedCall) => void reasons.set(call, reason)
  const commands: { readonly call: ReviewedCall; readonly need: CommandNeed }[] = []
  const runners: ReviewedCall[][] = []
  for (const [tool, all] of groupBy(calls, (call) => call.tool)) {
    const facts = replay.describe(tool)
    const counted = all.filter(({ outcome, counts }) => outcome === 'approved' && counts)
    // A tool that is called like a capability cannot be named: the word means the capability.
    const isNamed = readSubject(tool, 'allow').kind === 'tool'
    if (facts === undefined || !isNamed) counted.forEach(leave('tool'))
    if (facts === undefined) continue
    const known = new Set(all.filter(({ outcome }) => outcome === 'approved').map(keyOf))
    const ofTool = all.filter(
      (call) => call.outcome !== 'unanswered' || call.args === undefined || !known.has(keyOf(call)),
    )
    const isRunner = facts.capabilities.includes('exec')
    if (isRunner) runners.push(ofTool)
    const isWithheld = ofTool.some((call) => isNotApproved(call) && call.args === undefined)
    if (isWithheld && (isRunner || (isNamed && counted.length >= MIN_SAVED))) withheld.push(tool)
    if (isWithheld) continue
    counted.filter(({ args }) => args === undefined).forEach(leave('unrecorded'))
    const approved: ReviewedCall[] = []
    for (const call of counted.filter(({ args }) => args !== undefined)) {
      const need = isRunner ? await replay.commandsOf(call) : undefined
      if (need === undefined) approved.push(call)
      else commands.push({ call, need })
    }
    if (!isNamed) continue
    approved.forEach(leave('alone'))
    const unused = unusedOf(facts, all)
    const unsafe = leave('unsafe')
    const of = { tool, facts, calls: ofTool, approved, unused, before: new Map(), replay, unsafe }
    if (approved.length >= MIN_SAVED) found.push(await suggestForTool(of))
    await markAllowed(of, leave('allowed'))
  }
  for (const { call, need } of commands) reasons.set(call, canSuggest(need) ? 'alone' : 'eachTime')
  // A rule about commands holds for every tool that runs them.
  const ofRunners = runners.flat()
  if (!ofRunners.some((call) => isNotApproved(call) && call.args === undefined)) {
    const of = { calls: ofRunners, approved: commands.map(({ call }) => call), before: new Map(), replay }
    const named = commands.filter(({ need }) => canSuggest(need))
    found.push(
      await suggestForCommands(
        { ...of, unsafe: leave('unsafe') },
        named.map(({ need }) => need),
      ),
    )
    await markAllowed(of, leave('allowed'))
  }
  const most = (rules: readonly SuggestedRule[]) => Math.max(0, ...rules.map(({ saves }) => saves))
  const rules = found.sort((a, b) => most(b) - most(a)).flat()
  return { rules, withheld, left: countLeft(reasons, rules) }
}

/** The calls that a rule is tried on. */
interface TriedCalls {
  readonly calls: readonly ReviewedCall[]
  /** Those that count. */
  readonly approved: readonly ReviewedCall[]
  /** The decisions of the current rules, by call. */
  readonly before: Map<string, Promise<Effect>>
  readonly replay: Replay
  /** Called with each approved call that only a rule would cover that is not safe. */
  readonly unsafe: (call: ReviewedCall) => void
}

interface ToolCalls extends TriedCalls {
  readonly tool: string
  readonly facts: SuggestedTool
  /** Arguments that no recorded call has used. */
  readonly unused: ReadonlySet<string>
}

/** Rules about commands: the common words of several, else the very command. */
async function suggestForCommands(of: TriedCalls, needs: readonly CommandNeed[]): Promise<SuggestedRule[]> {
  const offered: SuggestedRule[] = []
  const covered = new Set<ReviewedCall>()
  const offer = ({ rule, saved }: Candidate) => {
    if (saved.filter((call) => !covered.has(call)).length < MIN_SAVED) return
    for (const call of saved) covered.add(call)
    offered.push({ ...{ rule, also: [], open: [], yaml: [writeRule(rule)] }, ...savedBy(saved) })
  }
  for (const { rule, exact } of commandRules(needs)) {
    const found = await tryRule(of, rule)
    if (found) offer(found)
    else for (const each of exact) offer((await tryRule(of, each)) ?? { rule: each, saved: [] })
  }
  return offered.sort((a, b) => b.saves - a.saves)
}

function savedBy(saved: readonly ReviewedCall[]): Pick<SuggestedRule, 'saves' | 'calls'> {
  return { saves: saved.length, calls: saved.map(({ run, callId }) => ({ run, callId })) }
}

/** Notes the approved calls that the current rules allow. */
async function markAllowed({ approved, before, replay }: Omit<TriedCalls, 'unsafe'>, mark: TriedCalls['unsafe']) {
  for (const call of approved)
    if ((await once(before, decisionKey(call, call.isTainted), () => replay.decide(call, call.isTainted))) === 'allow')
      mark(call)
}

function countLeft(reasons: ReadonlyMap<ReviewedCall, keyof typeof LEFT>, rules: readonly SuggestedRule[]) {
  const covered = new Set(rules.flatMap(({ calls }) => calls.map(({ run, callId }) => `${run} ${callId}`)))
  const left = [...reasons].filter(([{ run, callId }]) => !covered.has(`${run} ${callId}`))
  return [...groupBy(left, ([, reason]) => LEFT[reason])]
    .map(([reason, calls]) => ({ reason, approvals: calls.length }))
    .sort((a, b) => b.approvals - a.approvals)
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
      ...savedBy(saved),
      open: left ?? ['arguments that it does not name'],
    })
  }
  const runsCommands = facts.capabilities.includes('exec')
  for (const tier of runsCommands ? (['exact'] as const) : (['exact', 'pattern'] as const))
    for (const candidate of await candidatesOf(of, groupCalls(of, tier))) offer(candidate)
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

/** Decides all calls again. Returns `undefined` if the rule must not be offered. */
async function tryRule(of: TriedCalls, rule: Rule, group?: Group): Promise<Candidate | undefined> {
  let isSafe = true
  const decisions = new Map<string, Promise<Effect>>()
  const saved: ReviewedCall[] = []
  for (const call of of.calls) {
    if (call.args === undefined) continue
    // What was not approved stays so in any run, whatever it had read then.
    for (const isTainted of isNotApproved(call) ? [false, true] : [call.isTainted]) {
      const key = decisionKey(call, isTainted)
      const before = await once(of.before, key, () => of.replay.decide(call, isTainted))
      const after = await once(decisions, key, () => of.replay.decide(call, isTainted, rule))
      const isOpened = before !== 'allow' && after === 'allow'
      if (isOpened ? isNotApproved(call) : before === 'allow' && after !== 'allow') isSafe = false
      if (isOpened && call.outcome === 'approved' && call.counts) saved.push(call)
    }
  }
  if (!isSafe) saved.forEach(of.unsafe)
  return !isSafe || saved.length < MIN_SAVED ? undefined : { rule, group, saved }
}

function decisionKey(call: ReviewedCall, isTainted: boolean): string {
  return `${isTainted} ${call.callerKind} ${call.tool} ${keyOf(call)}`
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
