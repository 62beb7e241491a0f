import { z } from 'zod'
import { CANVAS_KINDS } from './types.ts'

/** A version of a canvas; its content is an artifact of the run. */
export const canvasVersion = z.object({
  /** Version number, from 1. */
  n: z.number(),
  /** Its content, `artifact:<sha256>`. */
  artifact: z.string(),
  /** Size of the content. */
  bytes: z.number(),
  /** When it was added, in milliseconds since 1970. */
  at: z.number(),
  /** The call that added it. */
  callId: z.string(),
})

/** Content that an agent shows to people in the console. */
export const canvasEntry = z.object({
  /** Unique among the canvases of all runs. */
  id: z.string(),
  /** Unique within its run. */
  name: z.string(),
  /** Heading above the content. */
  title: z.string(),
  /** Kind of its content. */
  kind: z.enum(CANVAS_KINDS),
  /** The run that shows it. */
  run: z.string(),
  /** Name of the caller, as the caller gave it. */
  caller: z.string(),
  /** The authenticated principal of the caller; absent if there is none. */
  principal: z.string().optional(),
  /** Whether it is hidden from people. */
  hidden: z.boolean(),
  /** Whether its run had read untrusted content. */
  tainted: z.boolean(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** When it was last changed, hidden or shown, in milliseconds since 1970. */
  updatedAt: z.number(),
  /** The version that people see. */
  latest: canvasVersion,
})

/** `GET /v1/canvases`: newest first; `next` is the `before` of the next page. */
export const canvasList = z.object({ canvases: z.array(canvasEntry), next: z.number().optional() })
export type CanvasList = z.infer<typeof canvasList>

/** `GET /v1/canvases/{id}`: a canvas with its listed versions. */
export const canvasDetail = canvasEntry.extend({
  /** Oldest first. */
  versions: z.array(canvasVersion),
})

/** Query of `GET /v1/canvases`. */
export const canvasQuery = z.object({
  /** Only canvases of this run. */
  run: z.string().max(128).optional(),
  /** Only hidden ones, or only the others. Default: both. */
  hidden: z.enum(['true', 'false']).optional(),
  /** `next` of the page before. */
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
