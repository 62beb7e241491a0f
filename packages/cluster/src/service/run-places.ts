import type { Awaitable, Clock } from '@tool-hub/core'
import { after, sha256 } from '@tool-hub/core/lib'
import { LRUCache } from 'lru-cache'
import type { ClusterMember } from '../membership/cluster-member.ts'

/** Where a request has to be answered. */
export interface Place {
  readonly process: string
  readonly address?: string
  /** Epoch of the lease; absent if the request concerns no run. */
  readonly epoch?: number
}

/** The part of `ClusterMember` that the service uses. */
export type Membership = Pick<ClusterMember, 'id' | 'describe' | 'beat' | 'placeOf' | 'leaseOf' | 'processes'>

const MAX_PLACES = 10_000
/** A place that has become wrong is noticed by the process that is there. */
const PLACE_MS = 5_000
const TAGGED = /^([0-9a-f]{16})\./
const REFRESH_MS = 1_000

/** Which processes have runs, and the objects that marked ids name. */
export class RunPlaces {
  readonly #member: Membership
  readonly #clock: Clock
  readonly #tag: string
  /** Where runs were a moment ago. */
  readonly #runs = new LRUCache<string, { readonly place: Place; readonly at: number }>({ max: MAX_PLACES })
  #refreshedAt = 0
  #refreshing: Promise<void> | undefined

  constructor(member: Membership, clock: Clock) {
    this.#member = member
    this.#clock = clock
    this.#tag = tagOf(member.id)
  }

  /** Marks an id as one of this process. */
  ownId(id: string): string {
    return `${this.#tag}.${id}`
  }

  /** Where a run is, if another live process has leased it. */
  ofRun(run: string): Awaitable<Place | undefined> {
    if (this.#member.leaseOf(run)) return undefined
    const known = this.#runs.get(run)
    if (known && Math.abs(this.#clock.now() - known.at) < PLACE_MS) return known.place
    return after(this.#member.placeOf(run), async (place) => {
      // A process that has just started may have published its address after the last heartbeat of this one.
      const isNew = place !== undefined && place.address === undefined
      // Another request may have refreshed the list since the place was looked up.
      if (isNew) await this.#refresh()
      const found = isNew ? await this.#member.placeOf(run) : place
      if (found?.address !== undefined) this.#runs.set(run, { place: found, at: this.#clock.now() })
      else this.#runs.delete(run)
      return found
    })
  }

  /** Forgets where a run was: the next look asks the store. */
  forget(run: string): void {
    this.#runs.delete(run)
  }

  /** Where the process of a marked id is, if it is another one that is alive. */
  async ofId(id: string): Promise<Place | undefined> {
    const tag = TAGGED.exec(id)?.[1]
    if (tag === undefined || tag === this.#tag) return undefined
    const known = this.#find(tag)
    // It may have started after the last heartbeat.
    if (known?.address === undefined && (await this.#refresh())) return this.#find(tag)
    return known
  }

  #find(tag: string): Place | undefined {
    const found = this.#member.processes().find(({ id, isAlive }) => isAlive && tagOf(id) === tag)
    return found && { process: found.id, ...(found.address !== undefined && { address: found.address }) }
  }

  /** Reads the list of processes, at most once a second; returns whether it did. */
  async #refresh(): Promise<boolean> {
    if (!this.#refreshing) {
      if (Math.abs(this.#clock.now() - this.#refreshedAt) < REFRESH_MS) return false
      this.#refreshedAt = this.#clock.now()
      this.#refreshing = this.#member.beat().finally(() => {
        this.#refreshing = undefined
      })
    }
    await this.#refreshing
    return true
  }
}

function tagOf(process: string): string {
  return sha256(process).slice(0, 16)
}
