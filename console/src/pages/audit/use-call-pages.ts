import { useCallback, useEffect, useRef, useState } from 'react'
import { api } from '../../api/api.ts'
import type { CallEntry } from '../../api/types.ts'

/** What is looked for; empty ones do not count. */
interface CallSearch {
  readonly text: string
  readonly tool: string
  readonly caller: string
  readonly status: string
  /** Only calls that started within so many milliseconds; 0 for any time. */
  readonly withinMs: number
}

interface CallPages {
  readonly calls: readonly CallEntry[]
  readonly isLoading: boolean
  readonly isComplete: boolean
  readonly error: Error | undefined
  /** Fetches what comes after. */
  more(): void
  /** From the newest again. */
  restart(): void
}

const PAGE = 200
const NONE = { calls: [] as readonly CallEntry[], next: undefined as number | undefined, isComplete: false }

/** The calls that fit, newest first, a page at a time. */
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
        const said = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''))
        const page = await api.calls.list({ ...said, limit: PAGE, ...(before !== undefined && { before }) })
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
