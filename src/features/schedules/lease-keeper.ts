import type { FeatureHost } from '../../core/index.ts'

const LEASE_MS = 30_000
const RENEW_MS = 10_000

/** Lets other processes see that this one is there, as long as it has something to do. */
export class LeaseKeeper {
  readonly #host: Pick<FeatureHost, 'store' | 'clock'>
  readonly #owner: string
  readonly #isNeeded: () => boolean
  #cancel: (() => void) | undefined
  #isClosed = false

  constructor(host: Pick<FeatureHost, 'store' | 'clock'>, owner: string, isNeeded: () => boolean) {
    this.#host = host
    this.#owner = owner
    this.#isNeeded = isNeeded
  }

  /** Until when what is taken now is this process' own. */
  get until(): number {
    return this.#host.clock.now() + LEASE_MS
  }

  keep(): void {
    if (!this.#isClosed)
      this.#cancel ??= this.#host.clock.after(RENEW_MS, () => void this.#renew(), { background: true })
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  async #renew(): Promise<void> {
    this.#cancel = undefined
    if (!this.#isNeeded()) return
    try {
      await this.#host.store.schedules.renew(this.#owner, this.until)
    } catch {
      // The lease is three times as long: the next renewal finds the store again.
    }
    this.keep()
  }
}
