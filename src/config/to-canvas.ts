import type { z } from 'zod'
import type { CanvasOptions } from '../contracts/canvas.ts'
import type { canvasSchema } from './canvas-schema.ts'
import { parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** What a config says about canvases, in the words of `createToolHub`. */
export function toCanvas({ content, perRun, versions }: z.output<typeof canvasSchema>): CanvasOptions {
  return withoutUndefined<CanvasOptions>({
    maxBytes: content === undefined ? undefined : parseSize(content),
    maxCanvases: perRun,
    maxVersions: versions,
  })
}
