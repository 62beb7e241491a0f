import { join } from 'node:path'
import { type Clock, type Effect, lazyModule, ToolError } from '@tool-hub/core'
import type { Decision } from '@tool-hub/policy'
import { eventLines, type Line, parseEvent, type ShadowDiffered } from '../records/log/index.ts'
import type { Redactor } from '../records/redaction/index.ts'
import type { Metrics } from '../records/telemetry.ts'
import type { Call } from './pipeline/call.ts'
import type { RunState } from './run-state.ts'

/** A call about which the shadow policy decides otherwise. */
export interface ShadowExample {
  /** Id of the run. */
  readonly run: string
  /** Id of the call. */
  readonly callId: string
  /** When it was decided, as in the record. */
  readonly time: string
  /** The rule in force that decided. */
  readonly rule: string
  /** The rule of the shadow policy that decides. */
  readonly shadowRule: string
  /** What the call used later; absent if the decision before the call differs. */
  readonly target?: string
}

/** The calls of a tool with the same two decisions. */
export interface ShadowDifference {
  /** Canonical name; `other` for the tools beyond the first 1,000 differences. */
  readonly tool: string
  /** What the policy in force decided. */
  readonly effect: Effect
  /** What the shadow policy decides. */
  readonly shadowEffect: Effect
  /** How many calls. */
  readonly count: number
  /** The latest of them, newest first; at most 5. */
  readonly examples: readonly ShadowExample[]
}

/** Where the shadow policy differs from the policy in force, in this process and since either was changed. */
export interface ShadowReport {
  /** When the comparison began. */
  readonly since: string
  /** How many decisions were compared. */
  readonly compared: number
  /** How often the shadow policy failed to decide. */
  readonly failed: number
  /** The differences, the most frequent first. */
  readonly differences: readonly ShadowDifference[]
}

const MAX_GROUPS = 1_000
const MAX_EXAMPLES = 5

/** Counts differences by tool and decisions, in memory that does not grow with the calls. */
class ShadowTally {
  readonly #groups = new Map<
    string,
    Omit<ShadowDifference, 'examples'> & { count: number; examples: ShadowExample[] }
  >()

  add({ tool, effect, shadowEffect }: Pick<ShadowDifference, 'tool' | 'effect' | 'shadowEffect'>, of: ShadowExample) {
    const key = `${effect} ${shadowEffect} ${tool}`
    const isKnown = this.#groups.has(key) || this.#groups.size < MAX_GROUPS
    const groupKey = isKnown ? key : `${effect} ${shadowEffect}`
    const group = this.#groups.get(groupKey) ?? {
      tool: isKnown ? tool : 'other',
      effect,
      shadowEffect,
      count: 0,
      examples: [],
    }
    group.count++
    group.examples.unshift(of)
    group.examples.length = Math.min(group.examples.length, MAX_EXAMPLES)
    this.#groups.set(groupKey, group)
  }

  list(): ShadowDifference[] {
    const groups = [...this.#groups.values()].map((group) => ({ ...group, examples: [...group.examples] }))
    return groups.sort((a, b) => b.count - a.count || (a.tool < b.tool ? -1 : 1))
  }
}

/** Compares the decisions of the shadow policy with those in force. Never throws, and changes nothing about a call. */
export class ShadowLog {
  readonly #options: { readonly clock: Clock; readonly metrics: Metrics; readonly redactor: Redactor }
  /** Each call is reported once, whatever it uses later. */
  readonly #differed = new WeakSet<Call>()
  #tally = new ShadowTally()
  #since: string
  #compared = 0
  #failed = 0
  #hasWarned = false

  constructor(options: { readonly clock: Clock; readonly metrics: Metrics; readonly redactor: Redactor }) {
    this.#options = options
    this.#since = this.#now()
  }

  /** Forgets what was counted, because one of the two policies has changed. */
  restart(): void {
    this.#tally = new ShadowTally()
    this.#since = this.#now()
    this.#compared = 0
    this.#failed = 0
  }

  report(): ShadowReport {
    return {
      since: this.#since,
      compared: this.#compared,
      failed: this.#failed,
      differences: this.#tally.list(),
    }
  }

  /** `decideShadow` is called here, so that nothing it throws reaches the call. */
  compare(
    { records }: Pick<RunState, 'records'>,
    call: Call,
    { effect, rule }: Decision,
    decideShadow: () => Decision,
    target?: string,
  ): void {
    if (this.#differed.has(call)) return
    const { metrics, redactor } = this.#options
    try {
      const shadow = decideShadow()
      this.#compared++
      metrics.shadow.compared++
      if (shadow.effect === effect) return
      this.#differed.add(call)
      const event: ShadowDiffered = redactor.value({
        type: 'shadow-differed',
        callId: call.id,
        tool: call.name,
        effect,
        rule,
        shadowEffect: shadow.effect,
        shadowRule: shadow.rule,
        ...(target !== undefined && { target }),
      } as const)
      metrics.recordShadow(effect, shadow.effect)
      this.#tally.add(event, exampleOf(event, call.run, this.#now()))
      records?.append(event)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#failed++
    this.#options.metrics.shadow.failed++
    if (this.#hasWarned) return
    this.#hasWarned = true
    const message = error instanceof Error ? error.message : String(error)
    process.emitWarning(
      `The shadow policy failed to decide a call; the call is not affected: ${message}`,
      'ToolHubWarning',
    )
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString()
  }
}

/** The example that a recorded difference is. */
function exampleOf({ callId, rule, shadowRule, target }: ShadowDiffered, run: string, time: string): ShadowExample {
  return { run, callId, time, rule, shadowRule, ...(target !== undefined && { target }) }
}

/** The differences of shadow policies that the records of a folder have. */
export interface RecordedShadow {
  /** How many runs were read. */
  readonly runs: number
  /** How many calls they have in this time. */
  readonly calls: number
  /** How many of them a shadow policy decided otherwise. */
  readonly differing: number
  /** The differences, the most frequent first. */
  readonly differences: readonly ShadowDifference[]
  /** Runs whose records cannot be read. */
  readonly unreadable: readonly { readonly run: string; readonly reason: string }[]
}

/** Only a question about past runs needs it. */
const loadReadRecords = lazyModule(() => import('./run-index/read-records.ts'))

const HEAD = /^\{"seq":\d{1,15},"time":"([^"\\]{1,40})","type":"(call-ended|shadow-differed)"/
const HEAD_BYTES = 128
const EFFECTS: ReadonlySet<unknown> = new Set<Effect>(['allow', 'ask', 'deny'])

/** Reads where shadow policies differed from the policy in force, oldest run first. Runs that cannot be read are named. */
export async function shadowFromRuns(
  folder: string,
  { since = 0, signal }: { readonly since?: number; readonly signal?: AbortSignal } = {},
): Promise<RecordedShadow> {
  const tally = new ShadowTally()
  const unreadable: { run: string; reason: string }[] = []
  const { runsBelow } = await loadReadRecords()
  const runs = (await runsBelow(folder)).reverse()
  let calls = 0
  let differing = 0
  for (const { run, changedAt } of runs) {
    if (changedAt < since) continue
    try {
      for await (const lines of eventLines(join(folder, run))) {
        signal?.throwIfAborted()
        for (const line of lines) {
          const [, time = '', type] = HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES)) ?? []
          if (type === undefined || Date.parse(time) < since) continue
          const event = type === 'call-ended' ? undefined : differenceOf(line)
          if (type === 'call-ended') calls++
          if (event === undefined) continue
          differing++
          tally.add(event, exampleOf(event, run, time))
        }
      }
    } catch (error) {
      if (!ToolError.is(error)) throw error
      unreadable.push({ run, reason: error.message })
    }
  }
  return { runs: runs.length, calls, differing, differences: tally.list(), unreadable }
}

/** Records may have been changed by others: a line of another shape is left out. */
function differenceOf(line: Line): ShadowDiffered | undefined {
  const event = parseEvent(line)
  if (event?.type !== 'shadow-differed') return undefined
  const { callId, tool, rule, shadowRule, effect, shadowEffect, target = '' } = event
  const isText = [callId, tool, rule, shadowRule, target].every((text) => typeof text === 'string')
  return isText && EFFECTS.has(effect) && EFFECTS.has(shadowEffect) ? event : undefined
}
