import { api } from '../../api/session.ts'
import type { CanvasEntry } from '../../api/types.ts'
import { usePages } from '../../api/use-pages.ts'
import { useResource } from '../../api/use-resource.ts'

const PAGE = 100
const LIVE = { feature: 'canvas' } as const

/** The canvases, newest first. */
export function useCanvases() {
  return usePages(
    ['canvases', 'list'],
    async (before?: number) => {
      const { canvases, ...page } = await api.canvases.list({ limit: PAGE, before })
      return { items: canvases, ...page }
    },
    { what: 'canvases', compare: newestFirst, ...LIVE },
  )
}

/** A canvas with its versions. */
export function useCanvas(id: string) {
  return useResource(['canvases', 'one', id], () => api.canvases.get(id), LIVE)
}

function newestFirst(a: CanvasEntry, b: CanvasEntry): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1)
}

/** The address of a canvas, or of the list alone. */
export function canvasPath(id?: string): string {
  return id === undefined ? '/canvas' : `/canvas/${encodeURIComponent(id)}`
}

/** The address of a canvas in a sandbox without network, for an `<iframe>` or a tab. */
export function viewPath(id: string, version: number, theme: 'light' | 'dark'): string {
  return `/v1/canvases/${encodeURIComponent(id)}/view?version=${version}&theme=${theme}`
}
