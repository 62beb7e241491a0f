// Declares the service that draws.
import type {} from '@tool-hub/browser'
import { type FeatureHost, ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import type { Canvas, CanvasDrawing, DrawOptions } from './types.ts'
import { readScript, scriptOf, writeFrame } from './write-frame.ts'

/** What to draw, and how. */
export interface DrawRequest extends DrawOptions {
  readonly canvas: Canvas
  readonly version: number
  readonly content: string
  /** Runs in the canvas before the screenshot is taken. */
  readonly script?: string
  readonly signal: AbortSignal
}

const MAX_PROBLEM_LENGTH = 2_000
const outcome = z.object({
  problem: z.unknown().optional(),
  failure: z.string().optional(),
  value: z.unknown().optional(),
})

/** Draws a canvas in a browser without network. Throws `EXEC_FAILED` if the script fails. */
export async function drawCanvas(host: FeatureHost, request: DrawRequest): Promise<CanvasDrawing> {
  const { canvas, version, content, script, width, height, signal } = request
  const { kind, title } = canvas
  const name = scriptOf(kind)
  const source = name === undefined ? undefined : await readScript(name)
  const html = writeFrame({ kind, title, content, ...(source !== undefined && { script: { source } }) })
  const size = { ...(width !== undefined && { width }), ...(height !== undefined && { height }) }
  const { browser } = host.services
  const { png, json, isCut, errors } = await browser.render({ html, script: drawScript(script), ...size, signal })
  if (isCut)
    throw new ToolError('FILE_TOO_LARGE', 'The result of the script is too large.', { hint: 'Return less data.' })
  const { problem, failure, value } = readOutcome(json)
  if (failure !== undefined) throw new ToolError('EXEC_FAILED', `The script failed: ${failure}`)
  return {
    canvas,
    version,
    png,
    errors,
    ...(value !== undefined && { value }),
    ...(problem !== undefined && problem !== null && { problem: String(problem).slice(0, MAX_PROBLEM_LENGTH) }),
  }
}

/** Scripts of the page can replace JSON.stringify, so the result is validated. */
function readOutcome(json = '{}'): z.infer<typeof outcome> {
  const read = outcome.safeParse(parseJson(json))
  if (read.success) return read.data
  throw new ToolError('EXEC_FAILED', 'The result of the script is not valid JSON.', {
    hint: 'Do not replace JSON.stringify.',
  })
}

/** Wraps a script so that it runs after the canvas is drawn, and returns both outcomes. */
export function drawScript(script = ''): string {
  return `(async () => {
const problem = await window.canvasDrawn
try {
const value = await (async () => {
${script}
})()
return { problem, value }
} catch (error) {
return { problem, failure: String(error?.message ?? error).slice(0, 2000) }
}
})()`
}
