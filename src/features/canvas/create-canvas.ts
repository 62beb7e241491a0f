import { type Feature, type FeatureHost, ToolError } from '../../core/index.ts'
import { canvasLimits, RunCanvases, readVersion } from './run-canvases.ts'
import type { CanvasDetail, CanvasHandle, CanvasOptions, CanvasService } from './types.ts'
import { readScript, scriptOf, writePage } from './write-frame.ts'

/** Creates the feature. Canvases are rows in the store; their contents are artifacts of their runs. */
export function createCanvas(options: CanvasOptions, host: FeatureHost): Feature<CanvasHandle, CanvasService> {
  const limits = canvasLimits(options)
  return {
    handle: (call) => new RunCanvases(host, limits, call),
    service: canvasService(host),
    async close() {},
  }
}

/** The service for the owner, with the canvases of all runs. */
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
