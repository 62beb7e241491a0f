import { useEffect, useMemo, useRef, useState } from 'react'
import { useEvents } from '../../api/events.ts'
import { api } from '../../api/session.ts'
import type { CallEntry, RunDetail } from '../../api/types.ts'
import { type Resource, useResource } from '../../api/use-resource.ts'
import { mergeIntoRun, type Wait } from './run-calls.ts'

/** A run with its current calls. */
export type LiveRun = RunDetail

const BETWEEN_MS = 250
const NONE: ReadonlyMap<string, CallEntry> = new Map()

/** A run, fetched once; then its calls are updated by events, since a run can have thousands of calls. */
export function useRun(run: string): Resource<LiveRun> {
  const query = useResource(['run', run], () => api.runs.get(run))
  const live = useLiveCalls(run)
  const { error, refresh } = query
  const isNew = error !== undefined && live.size > 0
  // The page was opened before the first call of the run.
  useEffect(() => {
    if (isNew) refresh()
  }, [isNew, refresh])
  const data = useMemo(() => query.data && mergeIntoRun(query.data, live), [query.data, live])
  return { ...query, data }
}

/** The calls of a run that started or ended since the page was opened, updated a few times per second. */
function useLiveCalls(run: string): ReadonlyMap<string, CallEntry> {
  const [live, setLive] = useState({ run, calls: NONE })
  const waiting = useRef(new Map<string, CallEntry>())
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    const pending = waiting.current
    return () => {
      pending.clear()
      clearTimeout(timer.current)
      timer.current = undefined
    }
  }, [])
  useEvents(
    (event) => {
      if (event.type !== 'call' || event.call.run !== run) return
      waiting.current.set(event.call.callId, event.call)
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        const came = [...waiting.current].filter(([, call]) => call.run === run)
        waiting.current.clear()
        setLive((known) => ({ run, calls: new Map([...(known.run === run ? known.calls : NONE), ...came]) }))
      }, BETWEEN_MS)
    },
    ['call'],
  )
  return live.run === run ? live.calls : NONE
}

/** When the calls of a run waited for a person, as far as the service still has their requests. */
export function useWaits(run: string): ReadonlyMap<string, readonly Wait[]> {
  const { data } = useResource(['approvals', 'all'], () => api.approvals.list({ state: 'all', limit: 500 }), {
    refreshOn: ['approval'],
  })
  return useMemo(() => {
    const waits = new Map<string, Wait[]>()
    for (const { run: of, callId, state, isLeft, askedAt, expiresAt, answered } of data ?? []) {
      const end = answered?.at ?? (state === 'expired' ? expiresAt : undefined)
      // Nobody waited, or nobody knows until when.
      if (of !== run || isLeft || (end === undefined && state !== 'waiting')) continue
      const wait = { from: Date.parse(askedAt), to: end === undefined ? undefined : Date.parse(end) }
      waits.set(callId, [...(waits.get(callId) ?? []), wait])
    }
    return waits
  }, [data, run])
}
