import { z } from 'zod'
import { key, size } from './schema-parts.ts'

/** How much agents may show. */
export const canvasSchema = z.strictObject({
  content: key(size, 'The most of one content.', '2MB'),
  perRun: key(z.int().min(1).max(10_000), 'The most canvases of one run.', 50),
  versions: key(
    z.int().min(1).max(10_000),
    'The versions of a canvas that are listed; older ones stay artifacts.',
    200,
  ),
})
