import { type BigIntStats, lstatSync } from 'node:fs'
import { ToolError } from '@tool-hub/core'
import { quotePath } from '../file-error.ts'

/** A path for a system call: text, or bytes for names that are not UTF-8. */
export type SystemPath = string | Buffer

/** A folder as it was when it was opened; each byte of its path is one character. */
export interface SteadyFolder {
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  readonly above?: SteadyFolder
}

/** The resolution of change times: 10 ms at most, or one to two seconds on file systems that store whole seconds. */
const STEP_MS = 25
const WHOLE_SECONDS_MS = 2_100

/** Each round is passed by chance at most every second time, whatever an attacker does meanwhile. */
const ROUNDS = 24
/** How long nothing may be exchanged before a change, if the folders above were changed recently. */
const QUIET_MS = 1

/**
 * Throws CONFLICT unless the path of a folder has led to it all the time since `sinceMs`. Exchanging a name along the path
 * updates the change time of the folder that contains the name, and that time cannot be set. If all of these times are
 * old, nothing was exchanged; otherwise the path is checked repeatedly in random order, together with `again`, which
 * checks the result once more.
 */
export function checkSteady(folder: SteadyFolder, sinceMs: number, again: () => boolean): void {
  if (isUnchanged(folder, sinceMs)) return
  for (let round = 0; round < ROUNDS; round += 1) checkRound(folder, again)
}

/** Throws CONFLICT unless the path of a folder has led to it for a while; called right before a change. */
export function checkQuiet(folder: SteadyFolder): void {
  if (isUnchanged(folder, Date.now())) return
  const ends = performance.now() + QUIET_MS
  for (let round = 0; round < ROUNDS || performance.now() < ends; round += 1) checkRound(folder, () => true)
}

/** Whether two stats describe the same entry. */
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

/** From the folder upwards: an exchange between two checks shows in the time that is read last. */
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
