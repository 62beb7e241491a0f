import { ToolError } from '../../core/index.ts'
import type { CanvasDetail, CanvasVersion } from './types.ts'

/** The version of a canvas that is wanted, the latest unless said. */
export function readVersion({ name, latest, versions }: CanvasDetail, wanted: number | undefined): CanvasVersion {
  if (wanted === undefined) return latest
  const found = versions.find(({ n }) => n === wanted)
  if (found) return found
  const first = versions[0]?.n ?? latest.n
  throw new ToolError('NOT_FOUND', `The canvas ${JSON.stringify(name)} has no version ${wanted}.`, {
    hint:
      wanted >= 1 && wanted < first
        ? `Versions before ${first} are listed no more; they stay artifacts of their calls.`
        : `It has ${first} to ${latest.n}.`,
  })
}
