import { join } from 'node:path'
import { type CallIndex, type KeyStore, messageOf } from '../core/index.ts'
import { shortPath } from '../lib/index.ts'
import { KEY_TTL_MS, recordedKeyName } from '../limits/index.ts'
import { eventLines, parseEvent, readHead } from '../records/log/index.ts'
import { assertOwnDataFolder, isLocked, statsIfThere } from '../system/index.ts'
import { runsBelow } from './run-index/read-records.ts'
import type { Runs } from './runs.ts'

/** What keys are restored from, and to. */
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
/** So many are synced together. */
const MAX_AT_ONCE = 500

/**
 * Puts idempotency keys into the store that only the records know: the store was lost, rolled back to a backup, or its
 * log is gone. How far the store knows a run is in its index, which was written after the keys of the calls in it.
 * Returns the number of keys found.
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

/** The keys of calls that may have had an effect: their start is on record before it. */
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
