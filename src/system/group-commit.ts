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
