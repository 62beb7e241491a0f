import type { Clock } from '../../../clock.ts'
import type { Jail } from '../jail/jail.ts'

const SOON_MS = 10

/**
 * Lets jails be made ahead at a good time: to make one keeps the spawner busy for as long as a short command takes, which
 * would wait for it. So it is when nothing runs any more, or a moment later.
 */
export class Refill {
  readonly #fill: (jail: Jail) => void
  readonly #clock: Clock
  readonly #wanted = new Map<string, Jail>()
  #running = 0
  #cancel: (() => void) | undefined

  constructor(fill: (jail: Jail) => void, clock: Clock) {
    this.#fill = fill
    this.#clock = clock
  }

  /** One of this kind is wanted. */
  want(jail: Jail): void {
    this.#wanted.set(jail.key, jail)
    if (this.#running === 0) this.#now()
    else this.#cancel ??= this.#clock.after(SOON_MS, () => this.#now(), { background: true })
  }

  /** A command is started; it has ended when the promise is settled. */
  during(ended: Promise<unknown>): void {
    this.#running += 1
    void ended.finally(() => {
      this.#running -= 1
      if (this.#running === 0) this.#now()
    })
  }

  #now(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const jails = [...this.#wanted.values()]
    this.#wanted.clear()
    try {
      for (const jail of jails) this.#fill(jail)
    } catch {
      // What cannot be made ahead is made when it is needed, and fails there.
    }
  }
}
