import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { type Fix, ToolError } from '../core/index.ts'
import { errnoOf, shortPath } from '../lib/index.ts'
import { currentProcess, isAlive, type ProcessIdentity } from './processes.ts'
import { openOurs, readRegular } from './trusted-files.ts'

/** A lock that is held until it is released or its process is gone. */
export interface Lock {
  release(): void
}

/** What is locked, and what happens when somebody else has it. */
interface LockOptions {
  /** What the lock is about, for the message: `Run demo`. */
  readonly what: string
  /** What to do when it stays in use. */
  readonly fix: Fix
  /** How long to wait for a living holder, in which this thread does nothing else. Default: 0, which does not wait. */
  readonly waitMs?: number
}

interface Holder extends ProcessIdentity {
  readonly token: string
}

/** A crash within the few microseconds of a takeover leaves its own lock behind; three in a row are for a person. */
const MAX_TAKEOVERS = 3
const STEP_MS = 5
const MAX_BYTES = 4_096
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Takes the lock file, also from a process that is gone; CONFLICT when its holder lives. What is no lock of ours is refused. */
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

/** Whether a living process holds the lock; a link, a pipe or a folder is no lock, so nobody does. */
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
  // The holder is gone. Of all who see that, one may replace its lock at a time, and only after looking again:
  // a slow second would otherwise throw out the new lock of the first.
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
    // Gone meanwhile. What cannot be read for another reason may be held.
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
    // Emptied by a power loss: a lock is linked with its content, so nobody is just about to fill it.
    return undefined
  }
}

function inUse(path: string, { what, fix, waitMs }: Required<LockOptions>): ToolError {
  const holder = readHolder(path)
  const who = holder ? `process ${holder.pid} on ${holder.space.split(' ', 1)[0]}` : 'another process'
  // A lock that is worth waiting for is held for a moment only, so trying again helps.
  return new ToolError('CONFLICT', `${what} is in use by ${who}.`, { fix, retryable: waitMs > 0, details: { path } })
}
