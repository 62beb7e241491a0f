import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../api/api.ts'
import type { RunEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { showFailure } from '../../components/show-failure.ts'
import { mergeRuns } from './merge-runs.ts'

const PAGE = 100

/** The runs of a caller ('' for all): the newest as they change, older ones page by page. */
export function useRuns(caller: string) {
  const load = useCallback(
    (before?: number) => api.runs.list({ caller: caller || undefined, limit: PAGE, before }),
    [caller],
  )
  const query = useQuery(`runs ${caller}`, () => load(), { refreshOn: ['run', 'call'] })
  const [runs, setRuns] = useState<readonly RunEntry[]>(() => query.data?.runs ?? [])
  // Where the next page begins: told by the first page at first, then by the last one that was loaded.
  const [next, setNext] = useState<number | 'first' | 'none'>('first')
  const isLoading = useRef(false)

  useEffect(() => {
    const fresh = query.data
    if (fresh) setRuns((known) => mergeRuns(known, fresh.runs))
  }, [query.data])

  const before = next === 'first' ? query.data?.next : next
  const hasMore = before !== undefined && before !== 'none'
  const loadMore = async () => {
    if (isLoading.current || typeof before !== 'number') return
    isLoading.current = true
    try {
      const page = await load(before)
      setRuns((known) => mergeRuns(known, page.runs))
      setNext(page.next ?? 'none')
    } catch (error) {
      showFailure('Older runs were not loaded', error)
    } finally {
      isLoading.current = false
    }
  }
  return { query, runs, hasMore, loadMore: () => void loadMore() }
}
