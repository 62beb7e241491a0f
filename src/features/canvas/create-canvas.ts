import { type Feature, type FeatureHost, ToolError } from '../../core/index.ts'
import { readScript, scriptOf } from './canvas-scripts.ts'
import { canvasLimits, RunCanvases, readVersion } from './run-canvases.ts'
import type { CanvasDetail, CanvasHandle, CanvasOptions, CanvasService } from './types.ts'
import { type FrameContent, pagePolicy, escapeHtml, writeFrame, escapeHtmlText } from './write-frame.ts'

/** What agents show to people: rows in the store, contents as artifacts of their runs. */
export function createCanvas(options: CanvasOptions, host: FeatureHost): Feature<CanvasHandle, CanvasService> {
  const limits = canvasLimits(options)
  return {
    handle: (call) => new RunCanvases(host, limits, call),
    service: canvasService(host),
    async close() {},
  }
}

/** What the owner uses: everybody's canvases. */
function canvasService(host: FeatureHost): CanvasService {
  const { canvases } = host.store
  const find = async (id: string): Promise<CanvasDetail> => {
    const canvas = await canvases.find(id)
    if (canvas) return canvas
    throw new ToolError('NOT_FOUND', `There is no canvas ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'List them with tool-hub canvas.',
    })
  }
  const read = async (canvas: CanvasDetail, wanted: number | undefined) => {
    const version = readVersion(canvas, wanted)
    return { version, text: Buffer.from(await host.artifact(canvas.run, version.artifact)).toString('utf8') }
  }
  return {
    list: async (filter = {}) => canvases.list(filter),
    find: async (id) => canvases.find(id),
    content: async (id, version) => read(await find(id), version),
    async document(id, { version, theme, scripts } = {}) {
      const canvas = await find(id)
      const { text: content } = await read(canvas, version)
      const { kind, title } = canvas
      const script = await scriptFor(scriptOf(kind), scripts)
      return writePage({ kind, title, content, ...(theme && { theme }), ...(script && { script }) })
    },
    async hide(id, { by }) {
      const { hidden } = await find(id)
      if (hidden) return
      await canvases.hide(id, host.clock.now())
      await host.recordChange({ by, change: 'canvas-hidden', subject: id })
      host.emitChange('canvas', id)
    },
  }
}

async function scriptFor(name: string | undefined, place: string | undefined) {
  if (name === undefined) return undefined
  if (place !== undefined) return { place: `${place}/${name}` }
  const source = await readScript(name)
  return source === undefined ? undefined : { source }
}

/**
 * A whole page with the canvas in a frame of its own. A document that is shown by itself may go to any address; in a frame
 * it is held by the policy of the page around it, which has no script.
 */
export function writePage(shown: FrameContent): string {
  const place = shown.script && 'place' in shown.script ? shown.script.place : undefined
  const { title, theme = 'light' } = shown
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeHtmlText(title)}</title>`,
    `<style>:root{color-scheme:${theme}}html,body{height:100%;margin:0}iframe{display:block;width:100%;height:100%;border:0}</style>`,
    `<iframe sandbox="allow-scripts" title="${escapeHtmlText(title)}" srcdoc="${escapeHtml(writeFrame(shown))}"></iframe>`,
    '</html>',
  ].join('\n')
}
