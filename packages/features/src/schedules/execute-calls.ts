import { type FeatureHost, messageOf, type Principal, type Rights, rootsOf, type ToolResult } from '@tool-hub/core'
import type { KnownSchedule } from './definition.ts'
import type { ScheduleRunStatus } from './types.ts'

/** How the calls of a run ended. */
export interface Outcome {
  readonly status: ScheduleRunStatus
  readonly summary?: string
  readonly error?: string
  readonly untrusted?: boolean
}

/** The schedule, rights and run of `executeCalls`. */
export interface CallsOptions {
  readonly known: KnownSchedule
  readonly rights: Rights
  /** The hub's run that the calls are recorded in. */
  readonly runId: string
  readonly host: Pick<FeatureHost, 'as' | 'clock'>
  /** Cancels the current call. */
  readonly signal: AbortSignal
  /** Why the run must end before the next call; `undefined` if it may continue. */
  readonly checkContinue: () => Promise<string | undefined>
}

const MAX_CHARS = 500

/** Makes the calls of a schedule in order, in a run of their own, through the same pipeline as any other call. */
export async function executeCalls(options: CallsOptions): Promise<Outcome> {
  const { known, rights, runId, host, signal } = options
  const { timeoutMs } = known.definition
  const stop = new AbortController()
  let isLate = false
  const cancel = host.clock.after(
    timeoutMs,
    () => {
      isLate = true
      stop.abort()
    },
    { background: true },
  )
  const port = host.as(rights)
  try {
    const outcome = await callAll(port, options, AbortSignal.any([signal, stop.signal]))
    if (!isLate || outcome.status === 'ok') return outcome
    return { ...outcome, status: 'timeout', error: `Timed out after ${timeoutMs} ms.` }
  } finally {
    cancel()
    // If this fails, closing the hub flushes the records.
    await port.endRun(runId).catch(() => {})
  }
}

async function callAll(
  port: ReturnType<FeatureHost['as']>,
  { known: { row, definition }, runId, checkContinue }: CallsOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const { calls, continueOnError, createdBy } = definition
  const userText = textsOf(definition)
  const options = {
    ...{ run: runId, purpose: `schedule ${row.name}`, signal },
    ...(createdBy.tainted && { untrusted: true }),
    ...(userText.length > 0 && { userText }),
  }
  let failed: Outcome | undefined
  let last: ToolResult | undefined
  let untrusted = createdBy.tainted
  for (const [index, { tool, input = {} }] of calls.entries()) {
    const why = index === 0 ? undefined : await checkContinue()
    if (why !== undefined) return { status: 'aborted', error: why, untrusted }
    last = await port.call(tool, input, options)
    untrusted ||= last.meta.labels?.includes('untrusted') === true
    if (!last.ok)
      failed ??= { status: last.status, error: cut(`${last.tool}: ${last.error.code} ${last.error.message}`) }
    if (failed && !continueOnError) break
  }
  const summary = last && last.summary !== '' ? { summary: cut(last.summary) } : {}
  return { status: 'ok', ...summary, ...failed, untrusted }
}

/** What a person wrote: the arguments of the calls, unless an agent made the schedule or changed them. */
function textsOf({ calls, createdBy }: KnownSchedule['definition']): readonly string[] {
  return createdBy.callId !== undefined || createdBy.tainted ? [] : calls.flatMap(({ input }) => leavesOf(input))
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`
}

/** The outcome of a run that failed before its first call. */
export function failedOutcome(error: unknown): Outcome {
  return { status: 'error', error: cut(messageOf(error)) }
}

/** The captured rights within the current ones, or why the schedule may not run. */
type PresentRights =
  | { readonly ok: true; readonly rights: Rights }
  | { readonly ok: false; readonly why: string; readonly isForGood: boolean }

/** Checks captured rights again: both the captured and the current rights must allow a call. */
export async function presentRights(
  captured: Rights,
  { principalNow }: Pick<FeatureHost, 'principalNow'>,
): Promise<PresentRights> {
  const { principal: then } = captured
  if (!then) return { ok: true, rights: captured }
  const now = await principalNow(then)
  if (!now)
    return {
      ok: false,
      why: `${then.name}, who owns the schedule, no longer exists or may no longer make calls.`,
      isForGood: true,
    }
  if (textOf(rootsOf(now)) !== textOf(rootsOf(then)))
    return {
      ok: false,
      why: `The folders of ${then.name} have changed since the schedule was created. Create it again.`,
      isForGood: false,
    }
  return { ok: true, rights: { ...captured, principal: textOf(now) === textOf(then) ? then : narrowed(now, then) } }
}

/** The current principal, further limited by the captured one. */
function narrowed(now: Principal, then: Principal): Principal {
  return { ...now, within: now.within ? narrowed(now.within, then) : uncounted(then) }
}

/** Without budgets and rates, which only the current principal counts. */
function uncounted({ budget: _, budgetFor: __, rate: ___, chargedRuns: ____, within, ...rest }: Principal): Principal {
  return { ...rest, ...(within && { within: uncounted(within) }) }
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
