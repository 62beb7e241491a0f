import { type PointerEvent, type UIEvent, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useEvents } from '../../api/events.ts'
import { api } from '../../api/session.ts'
import type { CallEntry } from '../../api/types.ts'
import { type CallFilter, fitsFilter, toQuery } from './call-filter.ts'
import { createLiveList, type LiveList, type LiveSnapshot } from './live-list.ts'

const PAGE = 500

/** The calls that match a filter, as they happen. A changed filter starts with the known calls that match it. */
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
  useEvents((event) => (event.type === 'call' ? list.add(event.call) : void list.reload()), ['call', 'reset'])
  const snapshot = useSyncExternalStore(list.watch, list.get)
  useEffect(() => {
    known.current = snapshot.rows
  }, [snapshot.rows])
  return { list, snapshot }
}

/** Whether the list is held, and the event handlers for the element around the table. */
export interface Hold {
  readonly isHeld: boolean
  /** By the button or its key, not by reading. */
  readonly isPaused: boolean
  readonly area: {
    onPointerMove(event: PointerEvent): void
    onPointerLeave(): void
    onScrollCapture(event: UIEvent): void
  }
  /** Called when the keys move to the row with this index. */
  moveTo(index: number): void
  pause(): void
  resume(): void
}

const ROW_PX = 40

/** Holds the list while the user points at or reads any row but the newest, so that it does not move away. */
export function useHold(): Hold {
  const [isPaused, setPaused] = useState(false)
  const [isPointedAt, setPointedAt] = useState(false)
  const [hasKeys, setHasKeys] = useState(false)
  const [isScrolled, setScrolled] = useState(false)
  const scroller = useRef<Element>(null)
  return {
    isHeld: isPaused || isPointedAt || hasKeys || isScrolled,
    isPaused,
    area: {
      onPointerMove({ target, pointerType }) {
        if (pointerType === 'touch' || !(target instanceof Element)) return
        const row = target.closest('[role="row"][data-index]')
        setPointedAt(row !== null && row.getAttribute('data-index') !== '0')
      },
      onPointerLeave: () => setPointedAt(false),
      onScrollCapture({ target }) {
        if (!(target instanceof Element) || target.getAttribute('role') !== 'grid') return
        scroller.current = target
        setScrolled(target.scrollTop > ROW_PX)
      },
    },
    moveTo: (index) => setHasKeys(index > 0),
    pause: () => setPaused(true),
    resume() {
      setPaused(false)
      setPointedAt(false)
      setHasKeys(false)
      setScrolled(false)
      scroller.current?.scrollTo({ top: 0 })
    },
  }
}
