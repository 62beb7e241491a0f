import type { IndexedCall, IndexedRun } from '../../store.ts'

/** What entries of a batch change in a run: numbers are added, times widen its span. */
export interface RunChange {
  readonly run: string
  readonly caller: string
  readonly principal?: string
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: number
  readonly failures: number
  readonly bytes: number
}

/** A run as the index keeps it. */
export type KeptRun = IndexedRun & { readonly bytes: number }

const NO_FAILURE: ReadonlySet<string> = new Set(['ok', 'pending', 'running'])

/** Whether a call of this state ended without a result, for whatever reason. */
export function isFailure(status: string): boolean {
  return !NO_FAILURE.has(status)
}

/** Whether a call of this state was not allowed, or waits for a person: it did not run, so it did not fail. */
export function isDenial(status: string): boolean {
  return status === 'denied' || status === 'approval_required'
}

/** Whether a call of this state counts among failures: it ran, or should have, and ended without a result. */
export function countsAsFailure(status: string): boolean {
  return isFailure(status) && !isDenial(status)
}

/**
 * The call with what a later entry says of it; the same object when that says nothing new. An end completes what its
 * start said; a start that comes late, or a call of the same id in another run, changes nothing.
 */
export function mergeCall(before: IndexedCall, entry: IndexedCall): IndexedCall {
  if (before.run !== entry.run) return before
  if (entry.status === 'running' && before.status !== 'running') return before
  const said = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
  return {
    ...before,
    ...said,
    seq: Math.min(before.seq, entry.seq),
    startedAt: Math.min(before.startedAt, entry.startedAt),
  }
}

/** What a call that is new to the index, or was another before, changes in its run. */
export function changeOf(call: IndexedCall, before: IndexedCall | undefined): RunChange {
  const failures = Number(countsAsFailure(call.status)) - Number(before !== undefined && countsAsFailure(before.status))
  return {
    run: call.run,
    caller: call.caller,
    ...(call.principal !== undefined && { principal: rootOf(call.principal) }),
    startedAt: call.startedAt,
    endedAt: call.startedAt + (call.durationMs ?? 0),
    calls: before ? 0 : 1,
    failures,
    bytes: 0,
  }
}

/** What it changes in a run that its record was read up to there. */
export function progressOf({ run, bytes, at }: { run: string; bytes: number; at: number }): RunChange {
  return { run, caller: '', startedAt: at, endedAt: at, calls: 0, failures: 0, bytes }
}

/** The run after a change. The first caller stays; one who reads behind another does not set the position back. */
export function changeRun(before: KeptRun | undefined, change: RunChange): KeptRun {
  if (!before) return change
  const principal = before.principal ?? change.principal
  return {
    run: before.run,
    caller: before.caller || change.caller,
    ...(principal !== undefined && { principal }),
    startedAt: Math.min(before.startedAt, change.startedAt),
    endedAt: Math.max(before.endedAt, change.endedAt),
    calls: before.calls + change.calls,
    failures: before.failures + change.failures,
    bytes: Math.max(before.bytes, change.bytes),
  }
}

/** Whom a principal works for in the end: `token:ci` of `token:ci/session-1`. */
function rootOf(principal: string): string {
  return principal.split('/', 1)[0] ?? principal
}
