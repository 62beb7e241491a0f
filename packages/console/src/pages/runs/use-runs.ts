import { api } from '../../api/session.ts'
import type { RunEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { spanLength, startOfDay } from '../../lib/format.ts'
import { useSettled } from '../../lib/hooks.ts'
import { navigate, useSearchParam } from '../../router/router.ts'

/** The query of the list. */
interface RunQuery {
  readonly text: string
  readonly caller: string
  /** How far back, in milliseconds; 0 for any time, or if `from` and `to` are used. */
  readonly withinMs: number
  readonly from: number | undefined
  readonly to: number | undefined
}

/** The filters of the list of runs, which are part of the address, and the debounced query. */
export function useRunSearch() {
  const [text, setText] = useSearchParam('text')
  const [caller, setCaller] = useSearchParam('caller')
  const [within, setWithin] = useSearchParam('within')
  const [from, setFrom] = useSearchParam('from')
  const [to, setTo] = useSearchParam('to')
  const isBetween = within === 'between'
  const query: RunQuery = {
    text: useSettled(text),
    caller,
    withinMs: spanLength(within),
    from: isBetween ? startOfDay(from) : undefined,
    to: isBetween ? startOfDay(to, 1) : undefined,
  }
  return {
    ...{ text, setText, caller, setCaller, within, setWithin, from, setFrom, to, setTo, isBetween, query },
    isFiltered: [text, caller, within].some((value) => value !== ''),
    clear: () => navigate('/runs', { replace: true }),
  }
}

/** The filters and their setters. */
export type RunSearch = ReturnType<typeof useRunSearch>

const PAGE = 100

/** The runs that match: the newest are kept up to date, older ones are loaded page by page. */
export function useRuns({ text, caller, withinMs, from, to }: RunQuery) {
  return usePages(
    ['runs', text, caller, withinMs, from, to],
    async (before?: number) => {
      const since = withinMs > 0 ? Date.now() - withinMs : from
      const query = { text: text || undefined, caller: caller || undefined, from: since, to, limit: PAGE, before }
      const { runs, next } = await api.runs.list(query)
      return { items: runs.map((run) => ({ id: run.run, ...run })), next }
    },
    { what: 'runs', compare: newestFirst, refreshOn: ['run', 'call'] },
  )
}

function newestFirst(a: RunEntry, b: RunEntry): number {
  return b.startedAt - a.startedAt || (a.run < b.run ? 1 : -1)
}
