import { open } from 'node:fs/promises'
import { errnoOf } from '@tool-hub/core/lib'

/**
 * Errors of systems that cannot sync a folder, or that let us write to it but not read it: they keep names by other
 * means, and the change itself is done.
 */
const CANNOT_SYNC = new Set(['EINVAL', 'ENOTSUP', 'EISDIR', 'EACCES', 'EPERM'])

/** Makes the names in a folder survive a loss of power, which the fsync of a new file itself does not. */
export async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    if (!CANNOT_SYNC.has(errnoOf(error))) throw error
  }
}

/** Lets all callers that arrive while a commit is running share the next one. */
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
    // A failure is reported to those who waited for this commit; the next one is tried anyway.
    this.#running = commit.then(this.#ended, this.#ended)
    return commit
  }

  readonly #ended = (): void => {
    this.#running = undefined
  }
}

/** Waits for the end of the tick, so that all calls within it share the first commit, too. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
