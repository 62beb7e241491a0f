import { defineConfig } from '@tool-hub/core'
import { key, parseSize, size, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import type { CanvasOptions } from './types.ts'

const section = z.strictObject({
  content: key(size, 'Maximum size of one content.', '2MB'),
  perRun: key(z.int().min(1).max(10_000), 'Maximum number of canvases of a run.', 50),
  versions: key(
    z.int().min(1).max(10_000),
    'Maximum number of listed versions of a canvas; older ones stay artifacts.',
    200,
  ),
})

/** The section `canvas` of the config file. */
export const canvasConfig = defineConfig({
  description: 'Limits of what agents show to people; docs/reference/canvas.md.',
  schema: section,
  toOptions: toCanvas,
})

function toCanvas({ content, perRun, versions }: z.output<typeof section>): CanvasOptions {
  return withoutUndefined<CanvasOptions>({
    maxBytes: content === undefined ? undefined : parseSize(content),
    maxCanvases: perRun,
    maxVersions: versions,
  })
}
