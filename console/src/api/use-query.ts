import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { openQuery, type QueryState, refresh } from './query-cache.ts'
import type { ServiceEvent } from './types.ts'
import { useEvents } from './use-events.ts'

/** What is known of an answer, and how to ask again. */
export interface QueryResult<T> extends QueryState<T> {
  refresh(): void
}

/** When to ask again by itself. */
export interface QueryOptions {
  /** Something like this has happened. */
  readonly refreshOn?: readonly ServiceEvent['type'][]
  /** Of `ability-changed`, only those of this one. */
  readonly ability?: AbilityName
  /** Of `call`, only those of this run. */
  readonly run?: string
  readonly everyMs?: number
}

type AbilityName = Extract<ServiceEvent, { type: 'ability-changed' }>['ability']

const NONE: readonly ServiceEvent['type'][] = []
const MIN_BETWEEN_MS = 500

/**
 * What the service answers, shared by its key and asked again when something happens:
 * `useQuery('runs', () => api.runs.list(), { refreshOn: ['run'] })`. Begin the key with the endpoint's name, and put into it
 * everything that `load` depends on.
 */
export function useQuery<T>(
  key: string,
  load: () => Promise<T>,
  { refreshOn = NONE, ability, run, everyMs }: QueryOptions = {},
): QueryResult<T> {
  const query = openQuery(key, load)
  const watch = useCallback(
    (listener: () => void) => {
      query.listeners.add(listener)
      return () => query.listeners.delete(listener)
    },
    [query],
  )
  const state = useSyncExternalStore(watch, () => query.state)
  const ask = useCallback(() => void refresh(query), [query])

  useEffect(ask, [ask])
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(ask, everyMs)
    return () => clearInterval(timer)
  }, [ask, everyMs])

  const soon = useThrottled(ask)
  useEvents((event) => {
    if (event.type === 'ability-changed' && ability !== undefined && event.ability !== ability) return
    if (event.type === 'call' && run !== undefined && event.call.run !== run) return
    soon()
  }, refreshOn)
  return { ...state, refresh: ask }
}

// Many calls a second happen; their lists need not be fetched as often.
function useThrottled(action: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      action()
    }, MIN_BETWEEN_MS)
  }, [action])
}
