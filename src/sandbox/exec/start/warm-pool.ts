import type { Clock } from '../../../core/clock.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { SandboxHandle } from './sandbox-handle.ts'

const IDLE_MS = 30_000
const SOON_MS = 10

interface Entry {
  readonly handle: SandboxHandle
  readonly remove: () => void
}

/** What a pool keeps. */
export interface PoolOptions {
  readonly clock: Clock
  /** Creates one. */
  readonly open: (sandbox: SandboxLaunch) => SandboxHandle
  /** Those with the same key serve the same sandboxes. */
  readonly keyOf: (sandbox: SandboxLaunch) => string
  readonly maxKinds: number
  /** No more are created while there are this many of a kind. */
  readonly enough: number
  /** How many are created together. */
  readonly batch: number
}

/** Warm sandboxes or prewarmed processes, each for one command; they end if nobody needs them for a while. */
export class WarmPool {
  readonly #options: PoolOptions
  /** By key; the most recently used kind is last. */
  readonly #kinds = new Map<string, Entry[]>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Removes one of this kind, which then belongs to the caller; it may not be complete yet. */
  take(sandbox: SandboxLaunch): SandboxHandle | undefined {
    const entry = this.#kinds.get(this.#options.keyOf(sandbox))?.find(({ handle }) => !handle.hasFailed)
    entry?.remove()
    return entry?.handle
  }

  /** Creates more of this kind, unless there are enough. */
  fill(sandbox: SandboxLaunch): void {
    const { keyOf, maxKinds, enough, batch } = this.#options
    const key = keyOf(sandbox)
    const kind = this.#kinds.get(key) ?? []
    this.#kinds.delete(key)
    this.#kinds.set(key, kind)
    const wanted = kind.length < enough ? batch : 0
    for (let created = 0; created < wanted; created++) kind.push(this.#create(sandbox, kind))
    for (const old of [...this.#kinds.keys()].slice(0, -maxKinds)) this.#drop(old)
  }

  #create(sandbox: SandboxLaunch, kind: Entry[]): Entry {
    const handle = this.#options.open(sandbox)
    const remove = () => {
      cancel()
      const at = kind.findIndex((entry) => entry.handle === handle)
      if (at !== -1) kind.splice(at, 1)
    }
    const expire = () => {
      remove()
      void handle.stop()
    }
    const cancel = this.#options.clock.after(IDLE_MS, expire, { background: true })
    // One that died is of no use.
    void handle.ended.then(remove)
    return { handle, remove }
  }

  #drop(key: string): void {
    for (const { handle, remove } of [...(this.#kinds.get(key) ?? [])]) {
      remove()
      void handle.stop()
    }
    this.#kinds.delete(key)
  }
}

/**
 * Chooses when warm sandboxes are created. Creating one keeps the spawner busy for as long as a short command takes,
 * which would have to wait for it, so it happens when no command runs, or a moment later.
 */
export class Refill {
  readonly #fill: (sandbox: SandboxLaunch) => void
  readonly #clock: Clock
  readonly #wanted = new Map<string, SandboxLaunch>()
  #running = 0
  #cancel: (() => void) | undefined

  constructor(fill: (sandbox: SandboxLaunch) => void, clock: Clock) {
    this.#fill = fill
    this.#clock = clock
  }

  /** Requests one of this kind. */
  want(sandbox: SandboxLaunch): void {
    this.#wanted.set(sandbox.key, sandbox)
    if (this.#running === 0) this.#fillNow()
    else this.#cancel ??= this.#clock.after(SOON_MS, () => this.#fillNow(), { background: true })
  }

  /** Counts a command as running until the promise is settled. */
  during(ended: Promise<unknown>): void {
    this.#running += 1
    void ended.finally(() => {
      this.#running -= 1
      if (this.#running === 0) this.#fillNow()
    })
  }

  #fillNow(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const sandboxes = [...this.#wanted.values()]
    this.#wanted.clear()
    try {
      for (const sandbox of sandboxes) this.#fill(sandbox)
    } catch {
      // A sandbox that cannot be created now is created when it is needed, and fails there.
    }
  }
}
