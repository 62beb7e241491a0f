import { z } from 'zod'
import type { Content } from '../../../core/index.ts'
import { CANVAS_KINDS, type Canvas } from '../types.ts'

/** The actions of core/canvas. */
export const CANVAS_ACTIONS = ['present', 'update', 'hide', 'list', 'eval', 'snapshot'] as const

const canvas = z.strictObject({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  kind: z.enum(CANVAS_KINDS),
  version: z.int().min(1).describe('The latest version.'),
  bytes: z.int().min(0).max(1e9),
  hidden: z.boolean(),
})

const image = z.strictObject({
  mediaType: z.literal('image/png'),
  data: z.string().describe('The screenshot in base64.'),
})

/** The data of a result. */
export const canvasResult = z.strictObject({
  action: z.enum(CANVAS_ACTIONS),
  canvas: canvas.optional(),
  canvases: z.array(canvas).optional(),
  values: z.record(z.string(), z.unknown()).optional().describe('The answers of the form.'),
  value: z.unknown().optional().describe('The return value of the script, as JSON.'),
  image: image.optional(),
  problem: z.string().optional().describe('Why the content could not be drawn.'),
  errors: z.array(z.string()).optional().describe('The last errors of the console of the canvas.'),
})

/** The type of a result. */
export type CanvasResult = z.infer<typeof canvasResult>

/** The fields of a canvas that a result contains. */
export function summarise({ id, name, title, kind, hidden, latest }: Canvas): NonNullable<CanvasResult['canvas']> {
  return { id, name, title, kind, version: latest.n, bytes: latest.bytes, hidden }
}

/** The short form for a model. */
export function showCanvas(result: CanvasResult): Content {
  const { action, canvases, canvas, values, value, image, problem, errors = [] } = result
  if (canvases) return canvases.length === 0 ? 'This run has no canvases.' : canvases.map(line).join('\n')
  const troubles = [
    ...(problem === undefined ? [] : [`It could not be drawn: ${problem}`]),
    ...errors.map((error) => `console: ${error}`),
  ]
  if (action === 'eval')
    return [value === undefined ? 'The script returned nothing.' : JSON.stringify(value), ...troubles].join('\n')
  if (image) {
    const words = [`${canvas!.name}, version ${canvas!.version}`, ...troubles].join('\n')
    return [
      { type: 'text', text: words },
      { type: 'image', data: image.data, mediaType: image.mediaType },
    ]
  }
  if (values) return JSON.stringify(values)
  if (action === 'hide') return `${canvas!.name} is hidden.`
  return `${line(canvas!)}\nPeople see it on the canvas page of the console. Change it with update, look at it with snapshot.`
}

function line({ name, id, kind, version, title, hidden }: NonNullable<CanvasResult['canvas']>): string {
  return `${name} (${id})  ${kind}  version ${version}${hidden ? '  hidden' : ''}  ${title}`
}
