import { ToolError } from '../../core/index.ts'
import type { CanvasOptions } from './types.ts'

/** How much a run may show. */
export type CanvasLimits = Required<CanvasOptions>

const DEFAULTS: CanvasLimits = { maxBytes: 2_000_000, maxCanvases: 50, maxVersions: 200 }

/** The owner's limits, with the defaults filled in. */
export function canvasLimits(options: CanvasOptions): CanvasLimits {
  const limits = { ...DEFAULTS, ...options }
  for (const [name, value] of Object.entries(limits))
    if (!Number.isInteger(value) || value < 1)
      throw new ToolError('CONFIG_INVALID', `canvas.${name} is ${value}; it must be a whole number from 1 up.`)
  return limits
}
