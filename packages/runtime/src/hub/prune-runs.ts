import { lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, type Store, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { isLocked, takeLock } from '@tool-hub/sandbox/system'
import { FolderCheck, type HubChanged, readHead } from '../records/log/index.ts'
import { runsBelow } from './run-index/read-records.ts'
import type { RunRemoval, RunRetention } from './run-ownership.ts'

/** How long runs are kept and how much space they may use. Default: no limit. */
export interface Retention {
  /** Runs whose last record is older are removed. */
  readonly keepMs?: number
  /** The oldest runs are removed until all runs together use no more than this. */
  readonly maxBytes?: number
}

/** Options of pruning. */
export interface PruneOptions extends RemoveRunOptions, Retention {
  /** Runs that are never removed, such as the run in which the removals are recorded. */
  readonly except?: readonly string[]
  /** Closes a run that is open in this process; called for runs that are too old. */
  readonly end?: (run: string) => Promise<void>
  /** Only reports what would be removed. */
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

/** The runs that were removed, and those that could not be. */
export interface PruneReport {
  readonly removed: readonly { readonly run: string; readonly bytes: number }[]
  readonly kept: readonly { readonly run: string; readonly why: string }[]
  /** Size of the remaining runs; present if `maxBytes` is set. */
  readonly bytes?: number
}

interface Candidate {
  readonly run: string
  readonly bytes: number
  readonly isOld: boolean
}

/**
 * Removes runs by age and size, the oldest first. Keeps runs that are open in a process, and runs whose record does not
 * verify, because they are evidence.
 */
export async function pruneRuns(options: PruneOptions): Promise<PruneReport> {
  const { runsFolder, maxBytes = Number.POSITIVE_INFINITY } = options
  if (!options.dryRun) await removeLeftovers(runsFolder)
  const candidates = await measure(options)
  let bytes = candidates.reduce((sum, candidate) => sum + candidate.bytes, 0)
  const removed: { run: string; bytes: number }[] = []
  const kept: { run: string; why: string }[] = []
  let check: FolderCheck | undefined
  for (const { run, bytes: size, isOld } of candidates) {
    options.signal?.throwIfAborted()
    if (!isOld && bytes <= maxBytes) continue
    if (options.except?.includes(run)) continue
    check ??= await openCheck(options)
    const why = await remove(run, { options, check, isOld })
    if (why !== undefined) kept.push({ run, why })
    else {
      removed.push({ run, bytes: size })
      bytes -= size
    }
  }
  return { removed, kept, ...(options.maxBytes !== undefined && { bytes }) }
}

/** Removes one run, whatever its age. Returns why the run is kept, or `undefined` if it was removed. */
export async function pruneRun(run: string, options: PruneOptions): Promise<string | undefined> {
  await removeLeftovers(options.runsFolder)
  const check = await openCheck(options)
  return remove(run, { options, check, isOld: true })
}

/** Shared runs may be longer on other machines. */
async function openCheck({ runsFolder, store, retention }: PruneOptions): Promise<FolderCheck> {
  const elsewhere = await retention.recorded()
  return FolderCheck.open(runsFolder, store.heads, new Map(), (run) => elsewhere.has(run))
}

/** Returns the size of a folder on disk. */
export async function sizeOfFolder(folder: string, signal?: AbortSignal): Promise<number> {
  signal?.throwIfAborted()
  let bytes = 0
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await sizeOfFolder(path, signal)
    else bytes += await sizeOfFile(path)
  }
  return bytes
}

/** Removes one run. Returns why it is kept, or `undefined` if it was removed. */
async function remove(
  run: string,
  { options, check, isOld }: { readonly options: PruneOptions; readonly check: FolderCheck; readonly isOld: boolean },
): Promise<string | undefined> {
  const lock = join(options.runsFolder, run, 'lock')
  if (isOld && !options.dryRun && (await isLocked(lock))) await options.end?.(run)
  if (await isLocked(lock)) return 'It is open in a process.'
  try {
    const { state, problems } = await check.verify(run)
    if (state === 'broken') return `Its record does not verify: ${problems[0]?.problem ?? 'it is broken'}.`
    if (!options.dryRun) await removeRun(run, options)
    return undefined
  } catch (error) {
    if (ToolError.is(error) || errnoOf(error) !== undefined) return messageOf(error)
    throw error
  }
}

/** Returns the candidates, oldest first. Without a size limit, only runs that are too old are measured. */
async function measure({ runsFolder, now, keepMs, maxBytes, signal }: PruneOptions): Promise<Candidate[]> {
  const candidates: Candidate[] = []
  for (const { run, changedAt } of (await runsBelow(runsFolder)).reverse()) {
    const isOld = keepMs !== undefined && now - changedAt > keepMs
    if (!isOld && maxBytes === undefined) continue
    candidates.push({ run, isOld, bytes: await sizeOfFolder(join(runsFolder, run), signal) })
  }
  return candidates
}

/** Removes what a process left behind that was killed while it removed a run. */
async function removeLeftovers(runsFolder: string): Promise<void> {
  for (const { name } of await entriesOf(runsFolder))
    if (name.startsWith(REMOVING)) await rm(join(runsFolder, name), { recursive: true, force: true })
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    // Removed in the meantime, or not accessible: then removing it would free no space.
    if (errnoOf(error) !== undefined) return []
    throw error
  }
}

async function sizeOfFile(path: string): Promise<number> {
  try {
    return (await lstat(path)).size
  } catch (error) {
    if (errnoOf(error) !== undefined) return 0
    throw error
  }
}

/** Options for removing a run and recording the removal. */
interface RemoveRunOptions {
  readonly runsFolder: string
  readonly store: Pick<Store, 'heads' | 'calls'>
  /** `retention` of the hub: what others have of the run is removed, too. */
  readonly retention: RunRetention
  readonly by: string
  readonly now: number
  /** Records the removal in another run. */
  readonly record: (change: Omit<HubChanged, 'type'>) => Promise<void>
}

/** Prefix of folders that are being removed, followed by the run id. Such a name is not a valid run id. */
const REMOVING = '.removing-'

/**
 * Removes the folder of a run. Its heads stay in the store, and the record of the removal contains the last one, so a copy of
 * the run can be proven to be the one that was removed. Throws CONFLICT if the run is open in a process.
 */
export async function removeRun(run: string, options: RemoveRunOptions): Promise<void> {
  const { runsFolder, store, retention, by, now, record } = options
  const folder = join(runsFolder, run)
  const hint = 'Close the hub that writes it, or wait until it ends.'
  const lock = takeLock(join(folder, 'lock'), { what: `Run ${run}`, fix: { key: 'run', hint } })
  const gone = join(runsFolder, `${REMOVING}${run}`)
  let removal: RunRemoval | undefined
  try {
    removal = await retention.take(run)
    const head = await lastHead(folder, run, store)
    await record({ by, change: 'run-removed', subject: run, ...(head && { head }) })
    await store.heads.remove(run, { by, at: now })
    await rm(gone, { recursive: true, force: true })
    await rename(folder, gone)
  } catch (error) {
    lock.release()
    await removal?.cancel()
    throw error
  }
  try {
    await store.calls.remove(run)
  } finally {
    await removal?.finish()
  }
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
