import type { CallEntry, RunDetail } from '../../api/types.ts'
import { countsAsFailure } from '../../calls/is-failure.ts'

/** A run as it was fetched, with the calls that were told since; its sums are kept true. */
export function mergeIntoRun(fetched: RunDetail, told: ReadonlyMap<string, CallEntry>): RunDetail {
  if (told.size === 0) return fetched
  const byId = new Map(fetched.calls.map((call) => [call.callId, call]))
  let { calls: count, failures, endedAt } = fetched.run
  for (const [id, call] of told) {
    const known = byId.get(id)
    // An event may be older than what was fetched: an end is never taken back.
    if (known && known.status !== 'running') continue
    byId.set(id, call)
    endedAt = Math.max(endedAt, call.startedAt + (call.durationMs ?? 0))
    if (!known) count += 1
    if (countsAsFailure(call.status)) failures += 1
  }
  return { ...fetched, run: { ...fetched.run, calls: count, failures, endedAt }, calls: [...byId.values()] }
}
