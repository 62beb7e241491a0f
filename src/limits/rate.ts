import { type Awaitable, type Clock, type Rate, type RateBucket, type RateStore, ToolError } from '../core/index.ts'
import { after } from '../lib/index.ts'

interface Limits {
  readonly all?: Rate
  readonly tools?: Readonly<Record<string, Rate>>
}

interface NamedBucket extends RateBucket {
  /** Whom it limits, and where the owner says so. */
  readonly who: string
  readonly key: string
}

/** Arguments of so many bytes count as one more call. */
const BYTES_A_TOKEN = 100_000

/** Token buckets for all calls together, single tools and a principal; a bucket holds one second's worth unless `burst` says. */
export class RateLimiter {
  readonly #limits: Limits
  readonly #principals: readonly NamedBucket[]
  readonly #all: readonly NamedBucket[]
  readonly #tools: ReadonlyMap<string, readonly NamedBucket[]>
  readonly #store: RateStore
  readonly #clock: Clock

  constructor(limits: Limits, store: RateStore, clock: Clock, principals: readonly NamedBucket[] = []) {
    this.#limits = limits
    this.#store = store
    this.#clock = clock
    const all = limits.all ? [newBucket('all', limits.all, 'All tools together', 'limits.rate')] : []
    this.#principals = principals
    this.#all = [...all, ...principals]
    this.#tools = new Map(
      Object.entries(limits.tools ?? {}).map(([tool, rate]) => {
        const bucket = newBucket(`tool:${tool}`, rate, tool, `limits.tools[${JSON.stringify(tool)}].rate`)
        return [tool, [...this.#all, bucket]]
      }),
    )
  }

  /** The same limits, and those of one more principal. */
  forPrincipal(name: string, rate: Rate): RateLimiter {
    const bucket = newBucket(`principal:${name}`, rate, name, 'rate')
    return new RateLimiter(this.#limits, this.#store, this.#clock, [...this.#principals, bucket])
  }

  /** Takes a token of every bucket that the call belongs to, more for large arguments; a refused call takes none. */
  take(tool: string, bytes = 0): Awaitable<void> {
    const buckets = this.#tools.get(tool) ?? this.#all
    if (buckets.length === 0) return
    return after(this.#store.take(buckets, this.#clock.now(), 1 + Math.floor(bytes / BYTES_A_TOKEN)), (outcome) => {
      if (!outcome.ok) throw limited(buckets.find(({ bucket }) => bucket === outcome.bucket)!, outcome.waitMs)
    })
  }
}

function newBucket(bucket: string, { perSecond, burst }: Rate, who: string, key: string): NamedBucket {
  return { bucket, perSecond, burst: Math.max(1, burst ?? Math.ceil(perSecond)), who, key }
}

function limited({ who, key, perSecond, burst }: NamedBucket, retryAfterMs: number): ToolError {
  const wait = Number.isFinite(retryAfterMs) ? `wait ${retryAfterMs} ms` : 'waiting will not help'
  return new ToolError('RATE_LIMITED', `${who}: at most ${perSecond} calls a second, ${burst} at once; ${wait}.`, {
    fix: { key, hint: `Wait as long as the message says, then call again, or have the owner raise ${key}.` },
    details: { retryAfterMs, perSecond, burst },
    retryable: Number.isFinite(retryAfterMs),
  })
}
