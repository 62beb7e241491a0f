import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { ToolError } from '../errors.ts'

const STEP_MS = 5
const LONGEST_WAIT_MS = 1_000
/** What is done under a lock takes milliseconds: one this old was left by a process that died. */
const ABANDONED_AFTER_MS = 5_000

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** Does short work while no other process does: whoever creates the lock file has it. */
export function withLock<T>(path: string, work: () => T): T {
  acquire(path)
  try {
    return work()
  } finally {
    rmSync(path, { force: true })
  }
}

function acquire(path: string): void {
  for (let waitedMs = 0; !create(path); waitedMs += STEP_MS) {
    if (waitedMs >= LONGEST_WAIT_MS) throw locked(path)
    if (isAbandoned(path)) rmSync(path, { force: true })
    else Atomics.wait(sleeper, 0, 0, STEP_MS)
  }
}

function create(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function isAbandoned(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS
}

function locked(path: string): ToolError {
  return new ToolError('CONFLICT', `Another process has held ${path} for ${LONGEST_WAIT_MS} ms.`, {
    hint: 'Try again in a few seconds.',
    retryable: true,
  })
}
