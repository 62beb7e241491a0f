import { type FeatureHost, messageOf, type Rights, type ToolResult } from '../../core/index.ts'
import type { KnownSchedule } from './definition.ts'
import type { ScheduleRunStatus } from './types.ts'

/** How the calls of a run ended. */
export interface Outcome {
  readonly status: ScheduleRunStatus
  readonly summary?: string
  readonly error?: string
  readonly untrusted?: boolean
}

/** Everything that one run needs. */
export interface CallsOptions {
  readonly known: KnownSchedule
  readonly rights: Rights
  /** The hub's run that the calls are recorded in. */
  readonly runId: string
  readonly host: Pick<FeatureHost, 'as' | 'clock'>
  /** Stops what is under way. */
  readonly signal: AbortSignal
  /** Why it may not go on with the next call; undefined while it may. */
  readonly mayGoOn: () => Promise<string | undefined>
}

const MAX_CHARS = 500

/** Makes the calls of a schedule in their order, in a run of their own, down the same road as every other. */
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
  const door = host.as(rights)
  try {
    const outcome = await callAll(door, options, AbortSignal.any([signal, stop.signal]))
    if (!isLate || outcome.status === 'ok') return outcome
    return { ...outcome, status: 'timeout', error: `It took longer than ${timeoutMs} ms, so it was stopped.` }
  } finally {
    cancel()
    // The records are flushed by whoever closes the hub, should this not work any more.
    await door.endRun(runId).catch(() => {})
  }
}

async function callAll(
  door: ReturnType<FeatureHost['as']>,
  { known: { row, definition }, runId, mayGoOn }: CallsOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const { calls, continueOnError, createdBy } = definition
  const options = { run: runId, purpose: `schedule ${row.name}`, signal, ...(createdBy.tainted && { untrusted: true }) }
  let failed: Outcome | undefined
  let last: ToolResult | undefined
  let untrusted = createdBy.tainted
  for (const [index, { tool, input = {} }] of calls.entries()) {
    const why = index === 0 ? undefined : await mayGoOn()
    if (why !== undefined) return { status: 'aborted', error: why, untrusted }
    last = await door.call(tool, input, options)
    untrusted ||= last.meta.labels?.includes('untrusted') === true
    if (!last.ok)
      failed ??= { status: last.status, error: cut(`${last.tool}: ${last.error.code} ${last.error.message}`) }
    if (failed && !continueOnError) break
  }
  const summary = last && last.summary !== '' ? { summary: cut(last.summary) } : {}
  return { status: 'ok', ...summary, ...failed, untrusted }
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1)}…`
}

/** A run that failed before any call. */
export function failedOutcome(error: unknown): Outcome {
  return { status: 'error', error: cut(messageOf(error)) }
}
