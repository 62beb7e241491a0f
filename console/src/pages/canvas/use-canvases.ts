import { api } from '../../api/api.ts'
import type { CanvasEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useQuery } from '../../api/use-query.ts'

const PAGE = 100
const LIVE = { refreshOn: ['ability-changed'], ability: 'canvas' } as const

/** What agents show and have shown, newest first. */
export function useCanvases() {
  return usePages(
    'canvases list',
    async (before?: number) => {
      const { canvases, ...page } = await api.canvases.list({ limit: PAGE, before })
      return { items: canvases, ...page }
    },
    { what: 'canvases', compare: newestFirst, ...LIVE },
  )
}

/** One of them with its versions. */
export function useCanvas(id: string) {
  return useQuery(`canvases ${id}`, () => api.canvases.get(id), LIVE)
}

function newestFirst(a: CanvasEntry, b: CanvasEntry): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
}
