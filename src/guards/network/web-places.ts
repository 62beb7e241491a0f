import { type Clock, systemClock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { WebFetchOptions } from '../../source.ts'
import { HostResolver, type Place, type Resolve } from './host-resolver.ts'
import { parseRanges, type Ranges } from './judge-address.ts'
import { judgeUrl } from './judge-url.ts'
import type { NetworkGuardOptions } from './network-guard.ts'
import { spelledOut } from './spelled-out.ts'

/** Between two calls of a service its name is not asked for again; what is dialled was judged all the same. */
const REMEMBERED_MS = 30_000

/** Where a service may be reached: at the origins that the owner named, and at public hosts when that was said. */
export class WebPlaces {
  readonly #origins: ReadonlyMap<string, OwnersHost>
  readonly #others: HostResolver | undefined

  constructor(
    { origins, publicHosts = false }: WebFetchOptions,
    guard: Pick<NetworkGuardOptions, 'privateRanges' | 'blockedRanges' | 'resolve' | 'clock'>,
  ) {
    const { privateRanges, blockedRanges, resolve, clock = systemClock } = guard
    this.#origins = new Map(
      origins.map((text) => {
        const { origin, hostname } = judgeUrl(text)
        const ranges = parseRanges([...privateRanges, ...spelledOut(hostname)], blockedRanges)
        return [origin, new OwnersHost(resolve, ranges, clock)]
      }),
    )
    if (publicHosts) this.#others = new HostResolver(resolve, parseRanges([], blockedRanges))
  }

  /** Who judges where the host of a URL is; throws when the URL may not be reached at all. */
  of({ origin, protocol }: URL): HostResolver {
    const found = this.#origins.get(origin) ?? (protocol === 'https:' ? this.#others : undefined)
    if (found) return found
    const named = [...this.#origins.keys()].join(', ') || 'nothing'
    const others = this.#others ? ' and public hosts over https' : ''
    throw new ToolError('HTTP_DISALLOWED_HOST', `${origin} is not a place that this service may lead to.`, {
      hint: `Only ${named}${others} may be reached; have the owner correct the URL of the service.`,
    })
  }

  /** Asks for every name again. */
  forget(): void {
    for (const host of this.#origins.values()) host.forget()
  }
}

/** The one host of an origin, remembered for a moment: a call must not wait for the resolver each time. */
class OwnersHost extends HostResolver {
  readonly #clock: Clock
  #remembered: { readonly place: Place; readonly until: number } | undefined

  constructor(resolve: Resolve | undefined, ranges: Ranges, clock: Clock) {
    super(resolve, ranges)
    this.#clock = clock
  }

  override async ask(host: string): Promise<Place> {
    if (this.#remembered && this.#clock.now() < this.#remembered.until) return this.#remembered.place
    const place = await super.ask(host)
    this.#remembered = { place, until: this.#clock.now() + REMEMBERED_MS }
    return place
  }

  forget(): void {
    this.#remembered = undefined
  }
}
