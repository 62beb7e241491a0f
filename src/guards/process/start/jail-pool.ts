import type { Clock } from '../../../clock.ts'
import type { Jail } from '../jail/jail.ts'
import type { OpenJail } from './open-jail.ts'

const IDLE_MS = 30_000

interface Waiting {
  readonly jail: OpenJail
  readonly forget: () => void
}

/** What a pool keeps. */
export interface PoolOptions {
  readonly clock: Clock
  /** Makes one. */
  readonly open: (jail: Jail) => OpenJail
  /** Those with the same key serve the same jails. */
  readonly keyOf: (jail: Jail) => string
  readonly mostKinds: number
  /** No others are made while there are so many of a kind. */
  readonly enough: number
  /** How many are made at once at most. */
  readonly atOnce: number
}

/** Jails, or seeds of them, that were made ahead, each for one command; they end when nobody needs them for a while. */
export class JailPool {
  readonly #options: PoolOptions
  /** By key; the one used last is last. */
  readonly #kinds = new Map<string, Waiting[]>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** One of this kind, which then belongs to the caller; it may still be on its way. */
  take(jail: Jail): OpenJail | undefined {
    const waiting = this.#kinds.get(this.#options.keyOf(jail))?.find((one) => !one.jail.hasFailed)
    waiting?.forget()
    return waiting?.jail
  }

  /** Makes more of this kind, unless there are enough. */
  fill(jail: Jail): void {
    const { keyOf, mostKinds, enough, atOnce } = this.#options
    const key = keyOf(jail)
    const kind = this.#kinds.get(key) ?? []
    this.#kinds.delete(key)
    this.#kinds.set(key, kind)
    const wanted = kind.length < enough ? atOnce : 0
    for (let made = 0; made < wanted; made++) kind.push(this.#waiting(jail, kind))
    for (const old of [...this.#kinds.keys()].slice(0, -mostKinds)) this.#drop(old)
  }

  #waiting(jail: Jail, kind: Waiting[]): Waiting {
    const opened = this.#options.open(jail)
    const forget = () => {
      cancel()
      const at = kind.findIndex((it) => it.jail === opened)
      if (at !== -1) kind.splice(at, 1)
    }
    const cancel = this.#options.clock.after(
      IDLE_MS,
      () => {
        forget()
        void opened.stop()
      },
      { background: true },
    )
    // One that died is of no use.
    void opened.ended.then(forget)
    return { jail: opened, forget }
  }

  #drop(key: string): void {
    for (const { jail, forget } of [...(this.#kinds.get(key) ?? [])]) {
      forget()
      void jail.stop()
    }
    this.#kinds.delete(key)
  }
}
