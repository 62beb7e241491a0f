import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { CanvasDesk, CanvasHandle, CanvasOptions } from '../../contracts/canvas.ts'
import { canvasDesk } from './canvas-desk.ts'
import { canvasLimits } from './canvas-limits.ts'
import { RunCanvases } from './run-canvases.ts'

/** What agents show to people: rows in the store, contents as artifacts of their runs. */
export function createCanvas(options: CanvasOptions, host: AbilityHost): Ability<CanvasHandle, CanvasDesk> {
  const limits = canvasLimits(options)
  return {
    handle: (call) => new RunCanvases(host, limits, call),
    desk: canvasDesk(host),
    async close() {},
  }
}
