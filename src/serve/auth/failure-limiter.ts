import { isIPv6 } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../clock.ts'

interface Failures {
  readonly since: number
  count: number
}

const WINDOW_MS = 60_000
const MOST_ADDRESSES = 10_000

/** Counts what failed per address and minute; the table is bounded, whoever was quiet for longest is forgotten first. */
export class FailureLimiter {
  readonly #most: number
  readonly #clock: Clock
  readonly #failures = new LRUCache<string, Failures>({ max: MOST_ADDRESSES })

  constructor(most: number, clock: Clock) {
    this.#most = most
    this.#clock = clock
  }

  /** How long an address has to wait; 0 when it need not. */
  waitMs(address: string | undefined): number {
    const found = this.#failures.get(placeOf(address))
    if (!found || found.count < this.#most) return 0
    return Math.max(0, found.since + WINDOW_MS - this.#clock.now())
  }

  note(address: string | undefined): void {
    const place = placeOf(address)
    const now = this.#clock.now()
    const found = this.#failures.get(place)
    if (found && now - found.since < WINDOW_MS) found.count += 1
    else this.#failures.set(place, { since: now, count: 1 })
  }
}

/** One home has a whole /64 of IPv6 addresses to choose from, and counts as one. */
function placeOf(address = 'unknown'): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  const [plain = ''] = address.split('%')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::')
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - first!.length - last!.length).fill('0')
  return [...first!, ...zeros, ...last!].slice(0, 4).join(':')
}
