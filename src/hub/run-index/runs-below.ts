import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isRunId } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { diskError } from '../../records/log/index.ts'

/** A run as its record is on disk. */
export interface FoundRun {
  readonly run: string
  readonly bytes: number
  readonly changedAt: number
}

/** The runs below a folder, the one that was written to last first; told by the size of their records, which are not read. */
export async function runsBelow(folder: string): Promise<FoundRun[]> {
  const found: FoundRun[] = []
  for (const run of await namesIn(folder)) {
    const record = await look(folder, run)
    if (record) found.push(record)
  }
  return found.sort((a, b) => b.changedAt - a.changedAt || (a.run < b.run ? 1 : -1))
}

/** Size of a run's record; nothing when it has none. */
export async function look(folder: string, run: string): Promise<FoundRun | undefined> {
  try {
    const stats = await stat(join(folder, run, 'events.jsonl'))
    return stats.isFile() ? { run, bytes: stats.size, changedAt: stats.mtimeMs } : undefined
  } catch (error) {
    // Removed meanwhile, or no run at all. What cannot be looked at is not in any list; verifying it tells why.
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw diskError('The run records cannot be listed', folder, error)
  }
}
