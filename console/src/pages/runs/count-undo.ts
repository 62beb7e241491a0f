import type { FileChange } from '../../api/types.ts'

const TAKEN = new Set(['restored', 'removed', 'moved back'])

/** How many changes an undo takes back, and how many it refuses to. */
export function countUndo(changes: readonly FileChange[]): { taken: number; refused: number } {
  return {
    taken: changes.filter(({ action }) => TAKEN.has(action)).length,
    refused: changes.filter(({ action }) => action === 'refused').length,
  }
}
