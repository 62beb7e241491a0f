import { useEffect, useMemo, useRef } from 'react'
import type { CallEntry } from '../../api/types.ts'
import { useEvents } from '../../api/use-events.ts'
import { countsAsFailure } from '../../calls/is-failure.ts'
import { now } from '../../components/now.ts'
import { useValue } from '../../state/create-value.ts'
import { MINUTE_MS, type Minute, measureMinute, type Sample } from './measure-minute.ts'
import { useLatestCalls } from './use-latest-calls.ts'

// It waits for a person by itself, whatever policy says.
const ASKING_TOOL = 'core/ask.user'

/** The last minute of every call whatever the filter, a second exact, and how many run now. */
export function useMinute(): Minute & { readonly running: number } {
  const samples = useRef(new Map<string, Sample>())
  const running = useRef(new Set<string>())
  const latest = useLatestCalls()
  const current = useValue(now)

  const hear = (call: CallEntry, at: number) => {
    const { callId, status, durationMs } = call
    if (samples.current.has(callId)) return
    if (status === 'running' || status === 'pending') return void running.current.add(callId)
    running.current.delete(callId)
    if (durationMs === undefined) return
    const hasWaited = call.effect === 'ask' || call.approvedBy !== undefined || call.tool === ASKING_TOOL
    samples.current.set(callId, { at, durationMs, isFailure: countsAsFailure(status), hasWaited })
  }
  // By when it was heard: the clocks of server and browser need not agree.
  useEvents((event) => event.type === 'call' && hear(event.call, Date.now()), ['call'])

  // biome-ignore lint/correctness/useExhaustiveDependencies: `hear` only writes to what lives as long as the page.
  useEffect(() => {
    for (const call of latest.data?.calls ?? []) hear(call, call.startedAt + (call.durationMs ?? 0))
  }, [latest.data])

  const since = latest.data?.next ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was fetched is in the samples by then.
  return useMemo(() => {
    for (const [id, { at }] of samples.current) if (at < current - MINUTE_MS) samples.current.delete(id)
    return { ...measureMinute(samples.current.values(), current, since), running: running.current.size }
  }, [current, since, latest.data])
}
