import { closeSync, fsyncSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { errnoOf } from '../lib/index.ts'

/**
 * What systems say that cannot sync a folder, or that let us write to it but not read it: they keep names by other
 * means, and the change itself is done.
 */
const CANNOT_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EACCES', 'EPERM'])

/** Makes the names in a folder survive a loss of power; a new file's own fsync does not. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error))) throw error
  }
}

/** The same for work that must not be interrupted. */
export function syncFolderSync(path: string): void {
  try {
    const descriptor = openSync(path, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error))) throw error
  }
}

/** Lets all who wait while one commit runs share the next one. */
export class GroupCommit {
  readonly #commit: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(commit: () => Promise<void>) {
    this.#commit = commit
  }

  /** Resolves after a commit that began after this call. */
  wait(): Promise<void> {
    this.#next ??= this.#afterRunning()
    return this.#next
  }

  async #afterRunning(): Promise<void> {
    await (this.#running ?? nextTick())
    this.#next = undefined
    const commit = this.#commit()
    // A failure is reported to those who waited for this commit; the next one is tried all the same.
    this.#running = commit.then(this.#ended, this.#ended)
    return commit
  }

  readonly #ended = (): void => {
    this.#running = undefined
  }
}

/** Waiting for the tick to end lets all calls that ask within it share the first commit, too. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
