import { countsAsFailure, type IndexedCall, type IndexedRun } from '@tool-hub/core'

/** What the entries of a batch change in a run: numbers are added, times extend its span. */
export interface RunChange {
  readonly run: string
  readonly caller: string
  readonly principal?: string
  readonly startedAt: number
  readonly endedAt: number
  readonly calls: number
  readonly failures: number
  readonly denials: number
  readonly bytes: number
}

/** A run with how many bytes of its record are in the index. */
export type RunProgress = IndexedRun & { readonly bytes: number }

/**
 * The call completed by a later entry; the same object if the entry adds nothing. The end of a call completes its
 * start; a start that comes late, or a call with the same id in another run, changes nothing.
 */
export function mergeCall(before: IndexedCall, entry: IndexedCall): IndexedCall {
  if (before.run !== entry.run) return before
  if (entry.status === 'running' && before.status !== 'running') return before
  const known = Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined))
  return {
    ...before,
    ...known,
    seq: Math.min(before.seq, entry.seq),
    startedAt: Math.min(before.startedAt, entry.startedAt),
  }
}

/** What a call changes in its run, compared with what the index had of it before. */
export function changeOf(call: IndexedCall, before: IndexedCall | undefined): RunChange {
  const failures = Number(countsAsFailure(call.status)) - Number(before !== undefined && countsAsFailure(before.status))
  const denials = Number(call.status === 'denied') - Number(before?.status === 'denied')
  return {
    run: call.run,
    caller: call.caller,
    // The one that it works for in the end: `token:ci` for `token:ci/session-1`.
    principal: call.principal?.split('/', 1)[0],
    startedAt: call.startedAt,
    endedAt: call.startedAt + (call.durationMs ?? 0),
    calls: before ? 0 : 1,
    failures,
    denials,
    bytes: 0,
  }
}

/** What it changes in a run that its record was read up to this position. */
export function progressChange({ run, bytes, at }: { run: string; bytes: number; at: number }): RunChange {
  return { run, caller: '', startedAt: at, endedAt: at, calls: 0, failures: 0, denials: 0, bytes }
}

/** The run after a change. The first caller stays, and the position never decreases. */
export function changeRun(before: RunProgress | undefined, change: RunChange): RunProgress {
  if (!before) return change
  return {
    run: before.run,
    caller: before.caller || change.caller,
    principal: before.principal ?? change.principal,
    startedAt: Math.min(before.startedAt, change.startedAt),
    endedAt: Math.max(before.endedAt, change.endedAt),
    calls: before.calls + change.calls,
    failures: before.failures + change.failures,
    denials: before.denials + change.denials,
    bytes: Math.max(before.bytes, change.bytes),
  }
}
