import { api } from '../../api/api.ts'
import type { RunEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import type { RunWish } from './use-run-search.ts'

const PAGE = 100

/** The runs that fit, found by the service: the newest as they change, older ones page by page. */
export function useRuns({ text, caller, withinMs, from, to }: RunWish) {
  return usePages(
    `runs ${JSON.stringify([text, caller, withinMs, from, to])}`,
    async (before?: number) => {
      const since = withinMs > 0 ? Date.now() - withinMs : from
      const wish = { text: text || undefined, caller: caller || undefined, from: since, to, limit: PAGE, before }
      const { runs, next } = await api.runs.list(wish)
      return { items: runs.map((run) => ({ id: run.run, ...run })), next }
    },
    { what: 'runs', compare: newestFirst, refreshOn: ['run', 'call'] },
  )
}

function newestFirst(a: RunEntry, b: RunEntry): number {
  return b.startedAt - a.startedAt || (a.run < b.run ? 1 : -1)
}
