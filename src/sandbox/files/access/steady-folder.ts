import { type BigIntStats, lstatSync } from 'node:fs'
import { ToolError } from '../../../core/index.ts'
import { quotePath } from '../file-error.ts'

/** A folder as it was when it was opened; the bytes of its path are one character each. */
export interface SteadyFolder {
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  readonly above?: SteadyFolder
}

/** Times of changes come in steps: of 10 ms at most, of one or two seconds where the file system keeps whole seconds. */
const STEP_MS = 25
const WHOLE_SECONDS_MS = 2_100

/** Each round is passed by chance at most every second time, whatever an attacker does meanwhile. */
const ROUNDS = 24
/** So long nothing may be exchanged before a change, where the folders above were changed just now. */
const QUIET_MS = 1

/**
 * Throws CONFLICT unless the path of a folder led to it all the time since `sinceMs`. An exchange of a name on the way
 * changes the time of the folder that holds the name, and that time cannot be set. When all of these times are old,
 * nothing was exchanged; otherwise the way is looked at again and again in random order, together with `again`, which
 * looks once more at what was found.
 */
export function checkSteady(folder: SteadyFolder, sinceMs: number, again: () => boolean): void {
  if (isUnchanged(folder, sinceMs)) return
  for (let round = 0; round < ROUNDS; round += 1) checkRound(folder, again)
}

/** Throws CONFLICT unless the path of a folder leads to it, and has for a while: a change comes right after. */
export function checkQuiet(folder: SteadyFolder): void {
  if (isUnchanged(folder, Date.now())) return
  const ends = performance.now() + QUIET_MS
  for (let round = 0; round < ROUNDS || performance.now() < ends; round += 1) checkRound(folder, () => true)
}

/** Whether two looks have seen the same entry. */
export function isSameEntry(a: Pick<BigIntStats, 'dev' | 'ino'>, b: Pick<BigIntStats, 'dev' | 'ino'>): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** The error for a folder whose path no longer leads to it. */
export function exchanged(path: string): ToolError {
  const shown = quotePath(Buffer.from(path, 'latin1').toString())
  return new ToolError('CONFLICT', `${shown}, or a folder above it, was exchanged or moved while it was used.`, {
    hint: 'Try again when nothing else renames folders there.',
    retryable: true,
  })
}

/** The bytes of a path, for the system. */
export function toSystem(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

/** From the folder up: an exchange that comes between two looks shows in the time that is read last. */
function isUnchanged(folder: SteadyFolder, sinceMs: number): boolean {
  let isOld = true
  for (let at: SteadyFolder | undefined = folder; at; at = at.above) {
    const stats = lookAt(at)
    if (at !== folder && !isOlder(stats, sinceMs)) isOld = false
  }
  return isOld
}

function isOlder({ ctimeNs }: BigIntStats, sinceMs: number): boolean {
  const step = ctimeNs % 1_000_000_000n === 0n ? WHOLE_SECONDS_MS : STEP_MS
  return Number(ctimeNs / 1_000_000n) < sinceMs - step
}

function checkRound(folder: SteadyFolder, again: () => boolean): void {
  const looks: (() => void)[] = [
    () => {
      if (!again()) throw exchanged(folder.path)
    },
  ]
  for (let at: SteadyFolder | undefined = folder; at; at = at.above) {
    const next = at
    looks.push(() => lookAt(next))
  }
  while (looks.length > 0) looks.splice(Math.floor(Math.random() * looks.length), 1)[0]!()
}

function lookAt(folder: SteadyFolder): BigIntStats {
  const stats = lstatIfThere(folder.path)
  if (stats?.isDirectory() && isSameEntry(stats, folder)) return stats
  throw exchanged(folder.path)
}

function lstatIfThere(path: string): BigIntStats | undefined {
  try {
    return lstatSync(toSystem(path), { bigint: true, throwIfNoEntry: false })
  } catch {
    // A part of the path is a file by now, or a loop of links: not what was opened.
    return undefined
  }
}
