import { useEffect, useMemo, useRef, useState } from 'react'
import { api } from '../../api/api.ts'
import type { CallEntry, RunDetail } from '../../api/types.ts'
import { useEvents } from '../../api/use-events.ts'
import { type QueryResult, useQuery } from '../../api/use-query.ts'
import { mergeIntoRun } from './merge-into-run.ts'

/** A run with its calls as they are now. */
export type LiveRun = RunDetail

const BETWEEN_MS = 250
const NONE: ReadonlyMap<string, CallEntry> = new Map()

/** A run, fetched once; then its calls are kept up by their events, as fetching thousands again and again would be too much. */
export function useRun(run: string): QueryResult<LiveRun> {
  const query = useQuery(`run ${run}`, () => api.runs.get(run))
  const live = useLiveCalls(run)
  const { error, refresh } = query
  const isNew = error !== undefined && live.size > 0
  // It was opened before its first call had begun.
  useEffect(() => {
    if (isNew) refresh()
  }, [isNew, refresh])
  const data = useMemo(() => query.data && mergeIntoRun(query.data, live), [query.data, live])
  return { ...query, data }
}

/** The calls of a run that have begun or ended since it was opened, told a few times a second. */
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
