import { useMemo, useState } from 'react'
import type { CallEntry } from '../../api/types.ts'
import { useEvents } from '../../api/use-events.ts'
import { useLatestCalls } from './use-latest-calls.ts'

const MOST_NAMES = 500

/** The tools and callers that were seen, to choose from. */
export function useSeenNames(): { readonly tools: readonly string[]; readonly callers: readonly string[] } {
  const latest = useLatestCalls()
  const [heard, setHeard] = useState<ReadonlySet<string>>(new Set())
  const known = useMemo(() => {
    const all = [...(latest.data?.calls ?? []).map(keyOf), ...heard]
    return new Set(all.slice(0, MOST_NAMES))
  }, [latest.data, heard])
  useEvents(
    (event) => {
      if (event.type !== 'call' || known.has(keyOf(event.call)) || known.size >= MOST_NAMES) return
      setHeard((before) => new Set([...before, keyOf(event.call)]))
    },
    ['call'],
  )
  return useMemo(() => {
    const pairs = [...known].map((key) => JSON.parse(key) as [string, string])
    return { tools: sorted(pairs.map(([tool]) => tool)), callers: sorted(pairs.map(([, caller]) => caller)) }
  }, [known])
}

function keyOf({ tool, caller }: CallEntry): string {
  return JSON.stringify([tool, caller])
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}
