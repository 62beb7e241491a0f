import { z } from 'zod'
import { CANVAS_KINDS } from './types.ts'

const version = z.object({
  n: z.number(),
  artifact: z.string(),
  bytes: z.number(),
  at: z.number(),
  callId: z.string(),
})

/** Content that an agent shows to people in the console. */
export const canvasEntry = z.object({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  kind: z.enum(CANVAS_KINDS),
  run: z.string(),
  caller: z.string(),
  principal: z.string().optional(),
  hidden: z.boolean(),
  /** Whether its run had read untrusted content. */
  tainted: z.boolean(),
  createdAt: z.number(),
  updatedAt: z.number(),
  latest: version,
})
export type CanvasEntry = z.infer<typeof canvasEntry>

/** `GET /v1/canvases`: newest first; `next` is the `before` of the next page. */
export const canvasList = z.object({ canvases: z.array(canvasEntry), next: z.number().optional() })
export type CanvasList = z.infer<typeof canvasList>

/** `GET /v1/canvases/{id}`: with its listed versions, oldest first. */
export const canvasDetail = canvasEntry.extend({ versions: z.array(version) })
export type CanvasDetailEntry = z.infer<typeof canvasDetail>

/** Query of `GET /v1/canvases`. */
export const canvasQuery = z.object({
  run: z.string().max(128).optional(),
  hidden: z.enum(['true', 'false']).optional(),
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** Query of `GET /v1/canvases/{id}/view`. */
export const viewQuery = z.object({
  version: z.coerce.number().int().min(1).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})

/** Query of `GET /v1/canvases/{id}/content`. */
export const contentQuery = z.object({ version: z.coerce.number().int().min(1).optional() })
