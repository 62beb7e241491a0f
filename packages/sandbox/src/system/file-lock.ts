import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { type Fix, ToolError } from '@tool-hub/core'
import { errnoOf, shortPath } from '@tool-hub/core/lib'
import { currentProcess, isAlive, type ProcessIdentity } from './processes.ts'
import { openOurs, readRegular } from './trusted-files.ts'

/** A lock that is held until it is released or its process ends. */
export interface Lock {
  release(): void
}

/** What is locked, and what happens if another process holds it. */
interface LockOptions {
  /** What the lock is about, for the message: `Run demo`. */
  readonly what: string
  /** The fix in the error if it stays in use. */
  readonly fix: Fix
  /** How long to wait for a living holder; the thread is blocked meanwhile. Default: 0, which does not wait. */
  readonly waitMs?: number
}

interface Holder extends ProcessIdentity {
  readonly token: string
}

/** A crash in the few microseconds of a takeover leaves its own lock behind; after three, a person must look. */
const MAX_TAKEOVERS = 3
const STEP_MS = 5
const MAX_BYTES = 4_096
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * Takes a lock file, also one of a process that has ended. Throws CONFLICT if its holder is alive, and CONFIG_INVALID
 * if the file is not ours.
 */
export function takeLock(path: string, { what, fix, waitMs = 0 }: LockOptions): Lock {
  const holder: Holder = { ...currentProcess(), token: randomBytes(8).toString('hex') }
  const draft = `${path}.${holder.token}`
  // Written aside and then linked: the lock appears with its content, never empty.
  fs.writeFileSync(draft, JSON.stringify(holder), { flag: 'wx', mode: 0o600 })
  try {
    for (let waitedMs = 0; !claim(draft, path); waitedMs += STEP_MS) {
      if (waitedMs >= waitMs) throw inUse(path, { what, fix, waitMs })
      Atomics.wait(sleeper, 0, 0, STEP_MS)
    }
  } finally {
    fs.rmSync(draft, { force: true })
  }
  return {
    release() {
      if (readHolder(path)?.token === holder.token) fs.rmSync(path, { force: true })
    },
  }
}

/** Whether a living process holds the lock; false for a link, a pipe or a folder. */
export async function isLocked(path: string): Promise<boolean> {
  try {
    const holder = parseHolder(await readRegular(path, MAX_BYTES))
    return holder !== undefined && isAlive(holder)
  } catch (error) {
    if (ToolError.is(error) || errnoOf(error) === 'ENOENT') return false
    throw error
  }
}

function claim(draft: string, path: string, takeovers = 0): boolean {
  if (link(draft, path)) return true
  const state = stateOf(path)
  if (state === 'free') return link(draft, path)
  if (state === 'held' || takeovers === MAX_TAKEOVERS) return false
  // The holder has ended. Of all processes that see this, one at a time may replace its lock, and only after checking
  // again: otherwise a slow second one would remove the new lock of the first.
  const turn = `${path}.turn`
  if (!claim(draft, turn, takeovers + 1)) return false
  try {
    // Only what is still left behind may be replaced: a free lock may be linked by anybody at any moment.
    if (stateOf(path) !== 'left') return false
    fs.linkSync(draft, `${draft}.next`)
    fs.renameSync(`${draft}.next`, path)
    return true
  } finally {
    fs.rmSync(turn, { force: true })
  }
}

function link(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Whether a lock can be linked, has a living holder, or was left behind by one that is gone. */
function stateOf(path: string): 'free' | 'held' | 'left' {
  const content = readLock(path)
  if (content === undefined) return 'free'
  const holder = parseHolder(content)
  return holder && isAlive(holder) ? 'held' : 'left'
}

function readHolder(path: string): Holder | undefined {
  const content = readLock(path)
  return content === undefined ? undefined : parseHolder(content)
}

function readLock(path: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(path, fs.constants.O_RDONLY, { name: shortPath(path) })
  } catch (error) {
    // Released meanwhile. A lock that cannot be read for another reason may be held.
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const bytes = Buffer.alloc(MAX_BYTES)
    return bytes.toString('utf8', 0, fs.readSync(descriptor, bytes, 0, MAX_BYTES, 0))
  } finally {
    fs.closeSync(descriptor)
  }
}

function parseHolder(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null
    return typeof holder?.pid === 'number' && typeof holder.space === 'string' && typeof holder.token === 'string'
      ? (holder as Holder)
      : undefined
  } catch {
    // Emptied by a loss of power: a lock is linked with its content, so no process is about to fill it.
    return undefined
  }
}

function inUse(path: string, { what, fix, waitMs }: Required<LockOptions>): ToolError {
  const holder = readHolder(path)
  const who = holder ? `process ${holder.pid} on ${holder.space.split(' ', 1)[0]}` : 'another process'
  // A lock that is worth waiting for is held only briefly, so trying again helps.
  return new ToolError('CONFLICT', `${what} is in use by ${who}.`, { fix, retryable: waitMs > 0, details: { path } })
}
