import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../api/session.ts'
import type { CallEntry } from '../../api/types.ts'
import { spanLength } from '../../lib/format.ts'
import { useSettled } from '../../lib/hooks.ts'
import { navigate, useSearchParam } from '../../router/router.ts'

/** The filters of the search, which are part of the address, and the debounced query. */
export function useCallSearch() {
  const [text, setText] = useSearchParam('text')
  const [tool, setTool] = useSearchParam('tool')
  const [caller, setCaller] = useSearchParam('caller')
  const [status, setStatus] = useSearchParam('status')
  const [span, setSpan] = useSearchParam('within')
  const [approved, setApproved] = useSearchParam('approved')
  const query = {
    text: useSettled(text),
    tool: useSettled(tool),
    caller: useSettled(caller),
    status,
    withinMs: spanLength(span),
  }
  return {
    text,
    setText,
    tool,
    setTool,
    caller,
    setCaller,
    status,
    setStatus,
    span,
    setSpan,
    approved,
    setApproved,
    query,
    isApproved: approved === 'yes',
    isFiltered: [text, tool, caller, status, span, approved].some((value) => value !== ''),
    clear: () => navigate('/audit?view=calls', { replace: true }),
  }
}

/** The filters of the search and their setters. */
export type CallSearchState = ReturnType<typeof useCallSearch>

/** The search; empty values are ignored. */
interface CallSearch {
  readonly text: string
  readonly tool: string
  readonly caller: string
  readonly status: string
  /** Only calls that started within this many milliseconds; 0 for any time. */
  readonly withinMs: number
}

interface CallPages {
  readonly calls: readonly CallEntry[]
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly error: Error | undefined
  /** Fetches the next page. */
  more(): void
  /** Starts again with the newest calls. */
  restart(): void
}

const PAGE = 200
const NONE = { calls: [] as readonly CallEntry[], next: undefined as number | undefined, isComplete: false }

/** The matching calls, newest first, page by page. */
export function useCallPages({ text, tool, caller, status, withinMs }: CallSearch): CallPages {
  const [found, setFound] = useState(NONE)
  const [isLoading, setLoading] = useState(true)
  const [error, setError] = useState<Error>()
  const turn = useRef(0)
  const isBusy = useRef(false)

  const load = useCallback(
    async (before: number | undefined, known: readonly CallEntry[]) => {
      turn.current += 1
      const mine = turn.current
      isBusy.current = true
      setLoading(true)
      setError(undefined)
      try {
        const since = withinMs === 0 ? 0 : Date.now() - withinMs
        const filter = { text, tool, caller, status }
        const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
        const page = await api.calls.list({ ...given, limit: PAGE, ...(before !== undefined && { before }) })
        if (mine !== turn.current) return
        const fresh = page.calls.filter(({ startedAt }) => startedAt >= since)
        const isComplete = page.next === undefined || fresh.length < page.calls.length
        setFound({ calls: [...known, ...fresh], next: page.next, isComplete })
      } catch (failure) {
        if (mine === turn.current) setError(failure as Error)
      } finally {
        if (mine === turn.current) {
          isBusy.current = false
          setLoading(false)
        }
      }
    },
    [text, tool, caller, status, withinMs],
  )
  const restart = useCallback(() => void load(undefined, []), [load])
  useEffect(restart, [restart])
  const more = () => {
    if (isBusy.current || found.isComplete || error) return
    void load(found.next, found.calls)
  }
  return { calls: found.calls, isLoading, isComplete: found.isComplete, error, more, restart }
}
