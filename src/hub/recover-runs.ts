import { join } from 'node:path'
import { readHead } from '../records/log/index.ts'
import { isLocked } from '../system/index.ts'
import { runsBelow } from './run-index/runs-below.ts'
import type { Runs } from './runs.ts'

/**
 * Ends what processes that were killed have left open: opening such a run tells which of its calls were interrupted, and
 * closing it leaves its head. Gives back how many there were. A run that another process writes is left alone.
 */
export async function recoverRuns(runs: Runs, folder: string): Promise<number> {
  let recovered = 0
  for (const { run, bytes } of await runsBelow(folder)) {
    const path = join(folder, run)
    const head = await readHead(path)
    // Shorter than its head says, it was changed by somebody: it stays as it is, for whoever verifies it.
    const isLeftOpen = head === undefined || (head !== 'broken' && head.bytes < bytes)
    if (!isLeftOpen || runs.isOpen(run) || (await isLocked(join(path, 'lock')))) continue
    try {
      await runs.open(run)
      await runs.closeIdle(run)
      recovered++
    } catch {
      // Somebody else took it meanwhile, or it cannot be opened: whoever uses it, or verifies it, is told why.
    }
  }
  return recovered
}
