import { z } from 'zod'
import { type FeatureHost, ToolError } from '../../core/index.ts'
import { parseJson } from '../../lib/index.ts'
import { readScript, scriptOf } from './canvas-scripts.ts'
import type { Canvas, CanvasDrawing, DrawOptions } from './types.ts'
import { writeFrame } from './write-frame.ts'

/** What is drawn, and how. */
export interface DrawRequest extends DrawOptions {
  readonly canvas: Canvas
  readonly version: number
  readonly content: string
  /** What runs in it before the picture is made. */
  readonly script?: string
  readonly signal: AbortSignal
}

const MAX_PROBLEM_LENGTH = 2_000
const said = z.object({
  problem: z.unknown().optional(),
  failure: z.string().optional(),
  value: z.unknown().optional(),
})

/** Draws a canvas in a browser that reaches nothing. */
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
    throw new ToolError('FILE_TOO_LARGE', 'The script gave more than is kept.', { hint: 'Give back less of it.' })
  const { problem, failure, value } = readSaid(json)
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

/** The page has JSON.stringify in its hands, so anything may come. */
function readSaid(json = '{}'): z.infer<typeof said> {
  const read = said.safeParse(parseJson(json))
  if (read.success) return read.data
  throw new ToolError('EXEC_FAILED', 'What the script gave is no JSON.', { hint: 'Leave JSON.stringify as it is.' })
}

/** Waits until the canvas is drawn, then runs a script in it; gives what came of both, as JSON. */
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
