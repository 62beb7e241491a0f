import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Rule, systemClock, type ToolCard, ToolError } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import {
  type CommandNeed,
  compilePolicy,
  isTextArgument,
  lastWordsOf,
  type ReviewedCall,
  type SuggestedRule,
  type SuggestedTool,
  suggestRules,
} from '@tool-hub/policy'
import {
  type ApprovalAnswered,
  type CallEnded,
  type CallStarted,
  eventLines,
  parseEvent,
  type RecordEvent,
} from '../records/log/index.ts'
import type { Hub } from './hub.ts'
import { runsBelow } from './run-index/read-records.ts'
import { type RunMoment, RunMoments } from './run-index/run-moments.ts'
import { newRunId } from './runs.ts'

/** Options of `suggestFromRuns`. */
export interface SuggestOptions {
  /** Counts only approvals from this time on, in milliseconds; refusals of any time count. Default: all. */
  readonly since?: number
  readonly signal?: AbortSignal
}

/** The rules that recorded approvals suggest. */
export interface SuggestReport {
  readonly rules: readonly SuggestedRule[]
  /** How many runs and calls were read, and how many approvals by people there are. */
  readonly runs: number
  readonly calls: number
  readonly approvals: number
  /** Tools without suggestions: the arguments of a call that was not approved are not in the record. */
  readonly withheld: readonly string[]
  /** Why other approvals have no rule, the most frequent reason first. */
  readonly left: readonly { readonly reason: string; readonly approvals: number }[]
  /** Runs whose records cannot be read, or not all of them: the rules were not compared with those calls. */
  readonly unreadable: readonly { readonly run: string; readonly reason: string }[]
}

/** Calls that ran without a person only show what a rule would make ask. */
const MAX_RAN = 1_000
const MARK = '[redacted:'
/** Decisions take no I/O: other work of a service must get its turn. */
const DECISIONS_A_TURN = 20

/**
 * Suggests rules for calls that people approved, from the records of a folder. Every rule is tried on all recorded calls of
 * its tool; nothing is called and nothing is recorded.
 */
export async function suggestFromRuns(
  hub: Pick<Hub, 'explain' | 'cards' | 'policyLayers'>,
  folder: string,
  { since = 0, signal }: SuggestOptions = {},
): Promise<SuggestReport> {
  const calls: ReviewedCall[] = []
  const unreadable: { run: string; reason: string }[] = []
  const isNew = createFilter()
  const runs = await runsBelow(folder)
  let count = 0
  for (const { run } of runs) {
    signal?.throwIfAborted()
    const review = reviewRun(join(folder, run), run, { since, signal })
    try {
      for await (const call of review.calls) {
        count++
        if (isNew(call)) calls.push(call)
      }
    } catch (error) {
      if (!ToolError.is(error) || signal?.aborted) throw error
      unreadable.push({ run, reason: error.message })
      continue
    }
    if (review.broken() > 0) unreadable.push({ run, reason: `${review.broken()} of its lines cannot be read` })
  }
  const approvals = calls.filter(({ outcome, counts }) => outcome === 'approved' && counts).length
  return {
    // A call that was denied may stand in a line that cannot be read: then no rule is known to be safe.
    ...(unreadable.length > 0
      ? { rules: [], withheld: [], left: [] }
      : await suggestRules(calls, replayOf(hub, signal))),
    runs: runs.length,
    calls: count,
    approvals,
    unreadable,
  }
}

/** Keeps every approval, and of other calls one with the same arguments. */
function createFilter(): (call: ReviewedCall) => boolean {
  const seen = new Set<string>()
  const ran = new Map<string, number>()
  return ({ outcome, tool, args, callerKind, isTainted }) => {
    if (outcome === 'approved') return true
    const key = JSON.stringify([outcome, tool, args ?? null, callerKind, isTainted])
    const known = ran.get(tool) ?? 0
    if (seen.has(key) || (outcome === 'ran' && known >= MAX_RAN)) return false
    seen.add(key)
    if (outcome === 'ran') ran.set(tool, known + 1)
    return true
  }
}

/** Decides in a run of its own: neither what the user said in a run nor what it read later makes a difference. */
function replayOf(hub: Pick<Hub, 'explain' | 'cards' | 'policyLayers'>, signal: AbortSignal | undefined) {
  const current = compilePolicy(hub.policyLayers())
  const run = newRunId(systemClock)
  const tools = new Map(hub.cards().map((card) => [card.tool, card]))
  const withRule = (rule: Rule) => current.withRule({ rule, source: { file: 'suggested' }, base: '/' })
  let decided = 0
  let tried = { rule: undefined as Rule | undefined, policy: current }
  return {
    async decide({ tool, args, callerKind }: ReviewedCall, isTainted: boolean, rule?: Rule) {
      if (++decided % DECISIONS_A_TURN === 0) await nextTurn()
      signal?.throwIfAborted()
      if (rule && tried.rule !== rule) tried = { rule, policy: withRule(rule) }
      const policy = rule ? tried.policy : current
      return (await hub.explain(tool, args, { run, callerKind, untrusted: isTainted, policy })).effect
    },
    async commandsOf({ tool, args, callerKind, isTainted }: ReviewedCall): Promise<CommandNeed | undefined> {
      const { targets, decision } = await hub.explain(tool, args, { run, callerKind, untrusted: isTainted })
      if (!targets.some(({ capability }) => capability === 'exec')) return undefined
      const asking = decision?.demands.filter(({ effect }) => effect !== 'allow') ?? []
      const rules = asking.map(({ fix }) => fix.value as Rule | undefined)
      const [first] = rules
      const isOne = rules.every(
        (rule) => rule?.allow !== undefined && rule.on !== undefined && rule.allow === first?.allow,
      )
      return { allow: first?.allow ?? 'exec', on: isOne ? rules.flatMap((rule) => rule?.on ?? []) : [] }
    },
    describe(tool: string): SuggestedTool | undefined {
      const found = tools.get(tool)
      return found && { capabilities: found.capabilities, texts: found.texts, arguments: argumentsOf(found) }
    },
  }
}

/** The arguments of a tool; `undefined` if its schema accepts others than it names. */
function argumentsOf(card: ToolCard): SuggestedTool['arguments'] {
  const { properties, additionalProperties = false } = card.parameters
  if (!isPlainObject(properties) || additionalProperties !== false) return undefined
  return Object.entries(properties).map(([name, field]) => {
    return {
      name,
      isText:
        isTextArgument([name], { ...card, given: lastWordsOf(Object.keys(properties)) }) &&
        isPlainObject(field) &&
        field.type === 'string',
    }
  })
}

/** Reads what became of the calls of a run. `broken` counts the lines that cannot be read. */
function reviewRun(folder: string, run: string, { since = 0, signal }: SuggestOptions) {
  let broken = 0
  async function* calls(): AsyncGenerator<ReviewedCall> {
    const review = new RunReview(run, since)
    for await (const lines of eventLines(folder)) {
      signal?.throwIfAborted()
      for (const line of lines) {
        const event = parseEvent(line)
        if (event === undefined) broken += line.bytes.length > 0 ? 1 : 0
        else {
          const call = review.add(event)
          if (call) yield call
        }
      }
    }
    yield* review.rest()
  }
  return { calls: calls(), broken: () => broken }
}

interface Started {
  readonly facts: CallStarted | CallEnded
  readonly moment: RunMoment
}

/** Puts together the lines of each call. */
class RunReview {
  readonly #run: string
  readonly #since: number
  readonly #answers = new Map<string, { readonly answer: ApprovalAnswered; readonly at: number }>()
  readonly #started = new Map<string, Started>()
  readonly #moments = new RunMoments()

  constructor(run: string, since: number) {
    this.#run = run
    this.#since = since
  }

  /** Returns the call that ends with this event. */
  add(event: RecordEvent): ReviewedCall | undefined {
    const ended = event.type === 'call-ended' ? this.#end(event) : undefined
    if (event.type === 'approval-answered')
      this.#answers.set(event.callId, { answer: event, at: Date.parse(event.time) })
    else if (event.type === 'call-started')
      this.#started.set(event.callId, { facts: event, moment: this.#moments.of(event) })
    this.#moments.add(event)
    return ended
  }

  /** Calls that have not ended. */
  *rest(): Generator<ReviewedCall> {
    for (const started of this.#started.values()) yield this.#review(started)
  }

  #end(event: RecordEvent & CallEnded): ReviewedCall | undefined {
    const started = this.#started.get(event.callId)
    const call = started ?? { facts: event, moment: this.#moments.of(event) }
    this.#started.delete(event.callId)
    // An end repeats the facts only if no start was recorded.
    if (typeof call.facts.caller !== 'string' || typeof call.facts.tool !== 'string') return undefined
    return this.#review(call, event)
  }

  #review({ facts, moment }: Started, end?: CallEnded): ReviewedCall {
    const { callId, tool, via, rule = '' } = facts
    const answered = this.#answers.get(callId)
    this.#answers.delete(callId)
    return {
      run: this.#run,
      callId,
      tool,
      args: argsOf(facts),
      callerKind: via === 'direct' || via === 'script' ? via : undefined,
      isTainted: moment.isTainted || / when tainted\b/.test(rule),
      outcome: outcomeOf(facts, answered?.answer, end),
      counts: (answered?.at ?? 0) >= this.#since,
    }
  }
}

/** With a secret or over the limit of the record, they are not what policy decided on. */
function argsOf({ args }: CallStarted | CallEnded): unknown {
  const text = JSON.stringify(args)
  return text === undefined || text.includes(MARK) ? undefined : args
}

function outcomeOf(
  { effect, type }: CallStarted | CallEnded,
  answer: ApprovalAnswered | undefined,
  end: CallEnded | undefined,
): ReviewedCall['outcome'] {
  if (effect === 'deny' || end?.status === 'denied' || answer?.decision === 'deny') return 'refused'
  if (effect !== 'ask') return 'ran'
  // An approver who changed the arguments did not approve those that were asked about.
  if (answer?.decision === 'allow') return answer.changed ? 'ran' : 'approved'
  // A remembered answer is not a new approval.
  return type === 'call-started' || end?.approvedBy !== undefined ? 'ran' : 'unanswered'
}
