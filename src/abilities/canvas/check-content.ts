import type { CanvasKind } from '../../contracts/canvas.ts'
import { ToolError } from '../../errors.ts'
import { isPlainObject } from '../../value/is-plain-object.ts'

/** Refuses a content that is too large, or that cannot be of its kind. */
export function checkContent(kind: CanvasKind, content: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(content)
  if (bytes > maxBytes)
    throw new ToolError('FILE_TOO_LARGE', `The content has ${bytes} bytes, a canvas holds at most ${maxBytes}.`, {
      fix: { key: 'canvas.content', hint: 'Show less, split it over several canvases, or raise canvas.content.' },
    })
  if (kind !== 'vega-lite' && kind !== 'form') return
  if (isPlainObject(readJson(kind, content))) return
  throw new ToolError('INPUT_SCHEMA_INVALID', `The content of a ${kind} canvas is a JSON object.`, {
    hint: kind === 'form' ? 'Give a JSON Schema with type object and properties.' : 'Give a Vega-Lite specification.',
  })
}

function readJson(kind: CanvasKind, content: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `The content of a ${kind} canvas is no JSON: ${(error as Error).message}`,
    )
  }
}
