import type { ServiceRequests } from '../../protocol/index.ts'
import type { CanvasDetail, CanvasList } from './schema.ts'

/** The requests of a client for canvases. */
export function canvasClient(http: ServiceRequests) {
  return {
    /** What agents show to people. */
    canvases: {
      /** Newest first. */
      list: (filter: { run?: string; hidden?: boolean; before?: number; limit?: number } = {}) =>
        http.json<CanvasList>('GET', '/v1/canvases', { query: filter }),
      /** One canvas with its versions; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<CanvasDetail>('GET', http.path('/v1/canvases', id)),
      /** Takes it out of people's sight; it stays on record. */
      hide: (id: string) => http.json<void>('POST', `${http.path('/v1/canvases', id)}/hide`),
    },
  }
}
