import type { Clock } from '../../../clock.ts'
import type { Jail } from '../jail/jail.ts'
import type { OpenJail } from './open-jail.ts'

const MOST_KINDS = 4
const IDLE_MS = 30_000

interface Waiting {
  readonly jail: OpenJail
  readonly forget: () => void
}

/** Jails that were made ahead, each for one command; they end when nobody needs them for a while. */
export class JailPool {
  readonly #open: (jail: Jail) => OpenJail
  readonly #clock: Clock
  readonly #mostOfAKind: number
  /** By key; the one used last is last. */
  readonly #kinds = new Map<string, Waiting[]>()

  constructor(open: (jail: Jail) => OpenJail, { clock, mostOfAKind }: { clock: Clock; mostOfAKind: number }) {
    this.#open = open
    this.#clock = clock
    this.#mostOfAKind = mostOfAKind
  }

  /** One of this kind, which then belongs to the caller; it may still be on its way. */
  take(jail: Jail): OpenJail | undefined {
    const waiting = this.#kinds.get(jail.key)?.[0]
    waiting?.forget()
    return waiting?.jail
  }

  /** Makes one more of this kind, unless there are enough. */
  fill(jail: Jail): void {
    // What runs beside a command belongs to that command's call.
    if (jail.companion !== undefined) return
    const kind = this.#kinds.get(jail.key) ?? []
    this.#kinds.delete(jail.key)
    this.#kinds.set(jail.key, kind)
    if (kind.length < this.#mostOfAKind) kind.push(this.#waiting(jail, kind))
    for (const key of [...this.#kinds.keys()].slice(0, -MOST_KINDS)) this.#drop(key)
  }

  #waiting(jail: Jail, kind: Waiting[]): Waiting {
    const opened = this.#open(jail)
    const forget = () => {
      cancel()
      const at = kind.findIndex((it) => it.jail === opened)
      if (at !== -1) kind.splice(at, 1)
    }
    const cancel = this.#clock.after(
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
