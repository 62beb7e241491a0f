import { hashKey, useMutation, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { showFailure } from '../components/toast.tsx'
import { useEvents } from './events.ts'
import { queryClient, type ResourceKey, refetch, refreshResources } from './query-client.ts'
import type { ServiceEvent } from './types.ts'

/** What was fetched. `data` stays while it is fetched again, and when that fails. */
export interface Resource<T> {
  readonly data: T | undefined
  readonly error: Error | undefined
  readonly isLoading: boolean
  refresh(): void
}

/** When a resource is fetched again. */
export interface ResourceOptions {
  /** After events of these types. */
  readonly refreshOn?: readonly ServiceEvent['type'][]
  /** After a change in this feature. */
  readonly feature?: Extract<ServiceEvent, { type: 'feature-changed' }>['feature']
  /** Of the events of type `call`, only those of this run. */
  readonly run?: string
  readonly everyMs?: number
}

const NO_EVENTS: readonly ServiceEvent['type'][] = []
const MIN_INTERVAL_MS = 500

/**
 * Fetches a resource and keeps it up to date: `useResource(['runs'], () => api.runs.list(), { refreshOn: ['run'] })`.
 * Components with the same key share it.
 */
export function useResource<T>(
  key: ResourceKey,
  load: () => Promise<T>,
  { refreshOn = NO_EVENTS, feature, run, everyMs }: ResourceOptions = {},
): Resource<T> {
  const hash = hashKey(key)
  const { data, error, isFetching, isPending } = useQuery({
    queryKey: key,
    queryFn: load,
    refetchInterval: everyMs,
    refetchIntervalInBackground: true,
  })
  const refresh = useCallback(() => {
    const query = queryClient.getQueryCache().get(hash)
    if (query) void refetch(query)
  }, [hash])
  const refreshSoon = useThrottle(refresh)
  useEvents(
    (event) => {
      if (event.type === 'feature-changed' && event.feature !== feature) return
      if (event.type === 'call' && run !== undefined && event.call.run !== run) return
      refreshSoon()
    },
    feature === undefined ? refreshOn : [...refreshOn, 'feature-changed'],
  )
  return { data, error: useLastError(hash, error, isPending), isLoading: isFetching, refresh }
}

/** A change that a button or a form makes. */
export interface Action<Input> {
  readonly isBusy: boolean
  /** Why the last run failed. */
  readonly error: Error | undefined
  /** Runs it, and shows a failure as a toast. */
  run(input: Input): Promise<void>
  /** Runs it, and leaves a failure in `error`, for a form to show. */
  submit(input: Input): Promise<void>
}

interface ActionOptions {
  /** The title of the toast after a failure: `Not saved`. */
  readonly failure?: string
  /** The first parts of the keys of the resources to fetch again afterwards, even after a failure. */
  readonly refreshes?: readonly string[]
}

/** A change, one at a time: `useAction(() => api.runs.remove(id), { failure: 'Not removed', refreshes: ['runs'] })`. */
export function useAction<Input = void>(
  change: (input: Input) => Promise<unknown>,
  { failure = 'Not done', refreshes = [] }: ActionOptions,
): Action<Input> {
  const { mutateAsync, isPending, error } = useMutation({
    mutationFn: change,
    onSettled: () => {
      for (const name of refreshes) refreshResources(name)
    },
  })
  const attempt = async (input: Input, onFailure: (failure: unknown) => void) => {
    if (!isPending) await mutateAsync(input).catch(onFailure)
  }
  return {
    isBusy: isPending,
    error: error ?? undefined,
    run: (input) => attempt(input, (reason) => showFailure(failure, reason)),
    submit: (input) => attempt(input, () => {}),
  }
}

/** The error of the last fetch, which react-query drops as soon as it fetches again. */
function useLastError(hash: string, error: Error | null, isPending: boolean): Error | undefined {
  const [last, setLast] = useState({ hash, error })
  const current = isPending && last.hash === hash ? last.error : error
  if (last.hash !== hash || last.error !== current) setLast({ hash, error: current })
  return current ?? undefined
}

/** Runs at most once per interval: many calls can happen per second, and their lists need not be fetched as often. */
function useThrottle(action: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      action()
    }, MIN_INTERVAL_MS)
  }, [action])
}
