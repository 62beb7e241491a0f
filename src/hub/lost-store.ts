import { join } from 'node:path'
import { shortPath } from '../lib/index.ts'
import { assertOwnDataFolder, statsIfThere } from '../system/index.ts'
import { runsBelow } from './run-index/runs-below.ts'

/** Whether there are runs and no store, or an empty one: then what outlived earlier processes is gone. */
export async function isStoreLost(data: string, runsFolder: string): Promise<boolean> {
  assertOwnDataFolder(data)
  const stats = statsIfThere(join(data, 'store.db'))
  return (stats === undefined || stats.size === 0) && (await runsBelow(runsFolder)).length > 0
}

/** What that means, and what to do. */
export function storeIsLost(data: string, runsFolder: string): string {
  return (
    `There are runs in ${shortPath(runsFolder)}, but ${shortPath(join(data, 'store.db'))} is missing or empty. If there was a store, ` +
    'its tokens, grants, approvals, idempotency keys and schedules are gone: put a backup in its place before anything is called, or accept a new store with tool-hub store adopt.'
  )
}
