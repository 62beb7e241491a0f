import { join } from 'node:path'
import { type CallIndex, type KeyStore, messageOf } from '@tool-hub/core'
import { shortPath } from '@tool-hub/core/lib'
import { assertOwnDataFolder, isLocked, statsIfThere } from '@tool-hub/sandbox/system'
import { KEY_TTL_MS, recordedKeyName } from '../limits/index.ts'
import { eventLines, lookAtRuns, parseEvent, peekHead } from '../records/log/index.ts'
import { runsBelow } from './run-index/read-records.ts'
import type { Runs } from './runs.ts'
import type { HubRuntime } from './runtime.ts'

/** Options of `restoreKeys`. */
export interface RestoreKeysOptions {
  readonly keys: KeyStore
  readonly calls: Pick<CallIndex, 'position'>
  readonly runsFolder: string
  readonly now: number
  /** Called for a run that cannot be read. */
  readonly onProblem: (message: string) => void
}

interface RecordedKey {
  readonly name: string
  readonly argsHash: string
  readonly startedAt: number
}

const OWNER = 'records'
/** The number of keys that are synced together. */
const MAX_AT_ONCE = 500

/**
 * Restores idempotency keys from the run records, after the store or its log was lost or replaced by a backup. Reads each
 * record from its position in the index, which is written after the keys of the calls. Returns the number of restored keys.
 */
export async function restoreKeys({ keys, calls, runsFolder, now, onProblem }: RestoreKeysOptions): Promise<number> {
  let found = 0
  for (const { run, bytes, changedAt } of await runsBelow(runsFolder)) {
    if (changedAt < now - KEY_TTL_MS) continue
    const position = await calls.position(run)
    if (position >= bytes) continue
    try {
      const recorded = await keysIn(join(runsFolder, run), run, position)
      for (let first = 0; first < recorded.length; first += MAX_AT_ONCE)
        await Promise.all(recorded.slice(first, first + MAX_AT_ONCE).map((key) => put(keys, key, now)))
      found += recorded.length
    } catch (error) {
      onProblem(`The idempotency keys of run ${run} could not be restored from its record: ${messageOf(error)}`)
    }
  }
  return found
}

/** Returns the keys of calls that may have had side effects: the start of such a call is recorded before the side effect. */
async function keysIn(folder: string, run: string, position: number): Promise<RecordedKey[]> {
  const found: RecordedKey[] = []
  for await (const lines of eventLines(folder, position)) {
    for (const line of lines) {
      if (!line.bytes.includes('"keyHash"')) continue
      const event = parseEvent(line)
      if (event?.type !== 'call-started') continue
      const { tool, principal, keyHash, argsHash } = event
      if (keyHash === undefined || argsHash === undefined) continue
      const name = recordedKeyName({ principal, run, tool, keyHash })
      found.push({ name, argsHash, startedAt: Date.parse(event.time) })
    }
  }
  return found
}

async function put(keys: KeyStore, { name, argsHash, startedAt }: RecordedKey, now: number): Promise<void> {
  if (await keys.claim(name, { argsHash, owner: OWNER, now })) return
  await keys.finish(name, { owner: OWNER, expiresAt: startedAt + KEY_TTL_MS })
}

/**
 * Returns whether there are runs but no store, or an empty one: the stored state of earlier processes is then lost. A run that
 * is open now proves nothing, because its process may not have used the store yet.
 */
export async function isStoreLost(data: string, runsFolder: string): Promise<boolean> {
  assertOwnDataFolder(data)
  const stats = statsIfThere(join(data, 'store.db'))
  if (stats !== undefined && stats.size > 0) return false
  for (const { run } of await runsBelow(runsFolder)) if (!(await isLocked(join(runsFolder, run, 'lock')))) return true
  return false
}

/** Returns the message that explains a lost store and what to do. */
export function storeIsLost(data: string, runsFolder: string): string {
  return (
    `There are runs in ${shortPath(runsFolder)}, but ${shortPath(join(data, 'store.db'))} is missing or empty. If there was a store, ` +
    'its tokens, grants, approvals, idempotency keys and schedules are gone: restore a backup before any call, or accept a new store with tool-hub store adopt.'
  )
}

/** Ends the runs that killed processes left open, on this machine and on others. Returns the number of runs. */
export async function recoverRuns(
  { runs, runsFolder, machines }: HubRuntime,
  { only }: { readonly only?: 'leased' },
): Promise<number> {
  if (runsFolder === false) return 0
  let recovered = only === 'leased' ? 0 : await recoverOpen(runs, runsFolder)
  // So that their calls have an end although nobody uses the run again.
  const orphans = await machines.ownership.orphans()
  for (const run of orphans.slice(0, MAX_ORPHANS)) if (await recoverRun(runs, run)) recovered++
  return recovered
}

/**
 * Recovers runs that killed processes left open: opening such a run records which calls were interrupted, and closing it
 * stores its head. Returns the number of recovered runs. Skips runs that another process has open.
 */
async function recoverOpen(runs: Runs, folder: string): Promise<number> {
  let recovered = 0
  const recover = async (run: string): Promise<void> => {
    if (!(await isLocked(join(folder, run, 'lock'))) && (await recoverRun(runs, run))) recovered++
  }
  await lookAtRuns(await runsBelow(folder), ({ run, bytes }) => {
    const head = peekHead(join(folder, run))
    // A record that is shorter than its head says was tampered with: it is left unchanged for verification.
    const isLeftOpen = head === undefined || (head !== 'broken' && head.bytes < bytes)
    return isLeftOpen && !runs.isOpen(run) ? recover(run) : undefined
  })
  return recovered
}

/** The number of runs of others that are ended at a time. */
const MAX_ORPHANS = 100

async function recoverRun(runs: Runs, run: string): Promise<boolean> {
  try {
    await runs.open(run)
    await runs.closeIdle(run)
    return true
  } catch {
    // Another process opened the run, or it cannot be opened: using or verifying it reports why.
    return false
  }
}
