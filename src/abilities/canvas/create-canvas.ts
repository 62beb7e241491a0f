import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { CanvasDesk, CanvasHandle, CanvasOptions } from '../../contracts/canvas.ts'

/** The whole ability, to come. */
export function createCanvas(_options: CanvasOptions, _host: AbilityHost): Ability<CanvasHandle, CanvasDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
