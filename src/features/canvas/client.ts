import type { ServiceRequests } from '../../protocol/index.ts'
import type { CanvasList } from './schema.ts'
import type { CanvasDetail } from './types.ts'

/** The client methods for canvases. */
export function canvasClient(http: ServiceRequests) {
  return {
    /** Canvases that agents show to people. */
    canvases: {
      /** Newest first. */
      list: (filter: { run?: string; hidden?: boolean; before?: number; limit?: number } = {}) =>
        http.json<CanvasList>('GET', '/v1/canvases', { query: filter }),
      /** One canvas with its versions; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<CanvasDetail>('GET', http.path('/v1/canvases', id)),
      /** Hides a canvas; its versions stay stored. */
      hide: (id: string) => http.json<void>('POST', `${http.path('/v1/canvases', id)}/hide`),
    },
  }
}
