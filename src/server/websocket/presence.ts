import type { Clock } from '../../core/index.ts'
import type { EventHub } from '../service.ts'

/** Who watches, through whichever connections. */
export class Presence {
  readonly #feed: Pick<EventHub, 'publish'>
  readonly #clock: Clock
  readonly #people = new Map<string, { since: number; count: number }>()

  constructor(feed: Pick<EventHub, 'publish'>, clock: Clock) {
    this.#feed = feed
    this.#clock = clock
  }

  get people(): { name: string; since: number }[] {
    return Array.from(this.#people, ([name, { since }]) => ({ name, since }))
  }

  /** Somebody came; says whether the others were told. */
  come(name: string): boolean {
    const known = this.#people.get(name)
    if (known) known.count++
    else this.#people.set(name, { since: this.#clock.now(), count: 1 })
    if (!known) this.#tell()
    return !known
  }

  leave(name: string): void {
    const known = this.#people.get(name)
    if (!known || --known.count > 0) return
    this.#people.delete(name)
    this.#tell()
  }

  #tell(): void {
    this.#feed.publish({ type: 'presence', people: this.people })
  }
}
