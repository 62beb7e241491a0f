import type { CanvasDetail } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { UsageError } from '../exit.ts'

/** The canvas of an id; says what to do when there is none. */
export async function findCanvas(hub: Hub, id: string): Promise<CanvasDetail> {
  const canvas = await hub.canvas.find(id)
  if (canvas) return canvas
  throw new UsageError(`There is no canvas ${JSON.stringify(id)}.`, 'List them with tool-hub canvas --all.')
}
