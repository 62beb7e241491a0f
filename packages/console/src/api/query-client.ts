import { notifyManager, type Query, QueryClient } from '@tanstack/react-query'

// A response is shown as soon as it is there, not with the next timer.
notifyManager.setScheduler(queueMicrotask)

/** Names what is fetched: the endpoint first, then everything that the request depends on. */
export type ResourceKey = readonly unknown[]

/** The cache of everything that was fetched. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // The service often runs on this machine, so it can be reached while the browser is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
})

const queued = new WeakSet<Query>()

/** Fetches again what is on the screen and has a key that starts with these parts; drops the rest from the cache. */
export function refreshResources(...key: ResourceKey): void {
  queryClient.removeQueries({ queryKey: key, type: 'inactive' })
  for (const query of queryClient.getQueryCache().findAll({ queryKey: key })) void refetch(query)
}

/** Fetches again. While a fetch is running, its response may be older than the cause: one more follows it. */
export async function refetch(query: Query): Promise<void> {
  if (queued.has(query)) return
  if (query.state.fetchStatus === 'fetching') {
    queued.add(query)
    await query.fetch().catch(() => undefined)
    queued.delete(query)
  }
  // The error is part of the state of the query.
  await query.fetch().catch(() => undefined)
}
