import type { ReactNode } from 'react'
import type { QueryResult } from '../api/use-query.ts'
import { ErrorState } from './error-state.tsx'
import { Skeleton } from './skeleton.tsx'

/** Shows a query's data, or why there is none; data that was there stays while it is asked again. */
export function Loaded<T>({ query, children }: { query: QueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <ErrorState error={query.error} onRetry={query.refresh} />
  return <Skeleton />
}
