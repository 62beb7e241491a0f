import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { api } from '../../api/api.ts'
import type { CallEntry } from '../../api/types.ts'
import { useEvents } from '../../api/use-events.ts'
import { type CallFilter, fitsFilter, toQuery } from './call-filter.ts'
import { createLiveList, type LiveList, type LiveSnapshot } from './create-live-list.ts'

const PAGE = 500

/** The calls that fit a filter, as they happen; a changed filter begins with what is known and fits. */
export function useLiveCalls({ tool, caller, status, text }: CallFilter): { list: LiveList; snapshot: LiveSnapshot } {
  const known = useRef<readonly CallEntry[]>([])
  const list = useMemo(() => {
    const filter = { tool, caller, status, text }
    const fits = (call: CallEntry) => fitsFilter(call, filter)
    return createLiveList({
      fits,
      load: (before) => api.calls.list({ ...toQuery(filter), before, limit: PAGE }),
      seed: known.current.filter(fits),
    })
  }, [tool, caller, status, text])
  useEffect(() => {
    void list.reload()
    return () => list.close()
  }, [list])
  useEvents((event) => (event.type === 'call' ? list.hear(event.call) : void list.reload()), ['call', 'reset'])
  const snapshot = useSyncExternalStore(list.watch, list.get)
  useEffect(() => {
    known.current = snapshot.rows
  }, [snapshot.rows])
  return { list, snapshot }
}
