import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Store } from '../core/store.ts'
import { errnoOf } from '../lib/errno.ts'
import { takeLock } from '../lib/file-lock.ts'
import type { HubChanged } from '../records/log/events.ts'
import { readHead } from '../records/log/head.ts'

/** What it takes to remove a run on record. */
export interface RemoveRunOptions {
  readonly runsFolder: string
  readonly store: Pick<Store, 'heads' | 'calls'>
  readonly by: string
  readonly now: number
  /** Puts the removal on record in another run. */
  readonly record: (change: Omit<HubChanged, 'type'>) => Promise<void>
}

/** Folders that are being removed are called this and the id of their run, which is not the id of a run. */
export const REMOVING = '.removing-'

/**
 * Removes the folder of a run. Its heads stay in the store, and the record of the removal names the last one: anyone who has
 * a copy of the run can prove that it is the one that was removed. CONFLICT if a process has the run open.
 */
export async function removeRun(run: string, options: RemoveRunOptions): Promise<void> {
  const { runsFolder, store, by, now, record } = options
  const folder = join(runsFolder, run)
  const hint = 'Close the hub that writes it, or wait until it ends.'
  const lock = takeLock(join(folder, 'lock'), { what: `Run ${run}`, fix: { key: 'run', hint } })
  const gone = join(runsFolder, `${REMOVING}${run}`)
  try {
    const head = await lastHead(folder, run, store)
    await record({ by, change: 'run-removed', subject: run, ...(head && { head }) })
    await store.heads.remove(run, { by, at: now })
    await rm(gone, { recursive: true, force: true })
    await rename(folder, gone)
  } catch (error) {
    lock.release()
    throw error
  }
  await store.calls.remove(run)
  await rm(gone, { recursive: true, force: true })
}

async function lastHead(
  folder: string,
  run: string,
  store: RemoveRunOptions['store'],
): Promise<{ readonly seq: number; readonly hash: string } | undefined> {
  const found = await readHead(folder).catch((error) => {
    if (errnoOf(error) !== undefined) return undefined
    throw error
  })
  if (found && found !== 'broken') return { seq: found.seq, hash: found.hash }
  const kept = (await store.heads.list({ run })).filter(({ removedBy }) => removedBy === undefined)
  const last = kept.toSorted((a, b) => b.seq - a.seq)[0]
  return last && { seq: last.seq, hash: last.hash }
}
