import { randomBytes } from 'node:crypto'
import { type Clock, type IndexedCall, type Store, systemClock, watchTopic } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { featureChange, type ServiceEvent } from '@tool-hub/core/protocol'
import type { Hub, RunIndexer } from '@tool-hub/runtime/hub'
import type { SharedEvents } from '../call-router.ts'
import { toCallEntry } from './call-entries.ts'

/** The event stream of the service. It keeps the latest events, so that a client that reconnects misses nothing. */
export interface EventHub {
  /**
   * Calls the listener with every event after the one with this id, then with every new event; first with `reset` if
   * that event has been dropped. A listener that throws is removed. Returns a function that unsubscribes.
   */
  subscribe(
    listener: (event: ServiceEvent, id: string) => void,
    options?: {
      after?: string
      types?: readonly ServiceEvent['type'][]
      /** Only what other processes learn from nobody else: calls and presence of this one. */
      isOwn?: boolean
    },
  ): () => void
  publish(event: ServiceEvent): void
  /** The people who are watching, over all processes; absent if only this one knows. */
  readonly people?: readonly { readonly name: string; readonly since: number }[]
}

/** Options of `createEventHub`. */
export interface EventHubOptions {
  readonly hub: Pick<Hub, 'onToolsChanged'>
  readonly indexer: Pick<RunIndexer, 'onCall'>
  readonly store: { readonly events: Pick<Store['events'], 'watch'> }
  readonly clock?: Clock
}

const KEPT = 5_000
/** Sources add their tools one after the other; one event is sent for all. */
const TOOLS_MS = 100

type Subscriber = {
  readonly listener: (event: ServiceEvent, id: string) => void
  readonly types: ReadonlySet<ServiceEvent['type']> | undefined
  readonly isOwn: boolean
}

/** A call is kept as indexed, and converted only if there is a subscriber. */
type Kept =
  | { readonly type: 'indexed'; readonly call: IndexedCall }
  | Exclude<ServiceEvent, PresenceEvent>
  | { readonly type: 'presence'; readonly own: People; readonly all: People }
  | Relayed

type PresenceEvent = Extract<ServiceEvent, { type: 'presence' }>
type People = PresenceEvent['people']

/** An event of another process. */
interface Relayed {
  readonly type: 'relayed'
  readonly event: ServiceEvent
}

/** What other processes learn from this one only; the store notifies them of the rest. */
const OWN_TYPES: ReadonlySet<Kept['type']> = new Set(['indexed', 'call', 'run', 'presence'])

/** The event stream, as the processes that share the store use it. */
export type SharedEventHub = EventHub & Omit<SharedEvents, 'subscribe'>

/** Creates the event stream; it keeps the last 5,000 events for clients that reconnect. */
export function createEventHub({
  hub,
  indexer,
  store,
  clock = systemClock,
}: EventHubOptions): SharedEventHub & { close(): void } {
  const boot = randomBytes(6).toString('hex')
  const ring: Kept[] = new Array(KEPT)
  const subscribers = new Set<Subscriber>()
  /** Number of the last event; the first is 1. */
  let last = 0
  /** Before this event, those of other processes may be missing. */
  let whole = 0
  let wanted = 0
  let onDemand: (isWanted: boolean) => void = () => {}
  let cancelTools: (() => void) | undefined
  let own: People = []
  const others = new Map<string, People>()

  const everybody = (): People => {
    if (others.size === 0) return own
    const since = new Map<string, number>()
    for (const { name, since: at } of [own, ...others.values()].flat())
      since.set(name, Math.min(at, since.get(name) ?? at))
    return Array.from(since, ([name, at]) => ({ name, since: at }))
  }
  const publish = (event: ServiceEvent) => {
    if (event.type !== 'presence') return add(event)
    own = event.people
    add({ type: 'presence', own, all: everybody() })
  }
  const relayPresence = () => add({ type: 'relayed', event: { type: 'presence', people: everybody() } })
  const add = (kept: Kept) => {
    last++
    ring[last % KEPT] = kept
    if (subscribers.size === 0) return
    const event = eventOf(kept)
    const id = `${boot}-${last}`
    for (const subscriber of [...subscribers]) {
      if (!subscriber.isOwn) notify(subscriber, event, id)
      else if (OWN_TYPES.has(kept.type)) notify(subscriber, ownEventOf(kept), id)
    }
  }
  const remove = (subscriber: Subscriber) => {
    if (!subscribers.delete(subscriber) || subscriber.isOwn) return
    wanted--
    if (wanted === 0) onDemand(false)
  }
  const notify = (subscriber: Subscriber, event: ServiceEvent, id: string): boolean => {
    if (subscriber.types && !subscriber.types.has(event.type) && event.type !== 'reset') return true
    try {
      subscriber.listener(event, id)
      return true
    } catch {
      // A subscriber that throws is removed; the others still get the event.
      remove(subscriber)
      return false
    }
  }
  const stops = [
    watchTopic(store.events, 'feature', (body) => {
      const change = featureChange.safeParse(parseJson(body))
      if (change.success) add({ type: 'feature-changed', ...change.data })
    }),
    indexer.onCall((call) => add({ type: 'indexed', call })),
    hub.onToolsChanged(() => {
      cancelTools ??= clock.after(
        TOOLS_MS,
        () => {
          cancelTools = undefined
          add({ type: 'tools-changed' })
        },
        { background: true },
      )
    }),
  ]

  return {
    publish,
    get people() {
      return everybody()
    },
    get ownPeople() {
      return own
    },
    get position() {
      return `${boot}-${last}`
    },
    relay(event, from) {
      if (event.type !== 'presence') return add({ type: 'relayed', event })
      const wasEmpty = others.get(from) === undefined && event.people.length === 0
      others.set(from, event.people)
      if (!wasEmpty) relayPresence()
    },
    forget(process) {
      if (others.delete(process)) relayPresence()
    },
    breakOff() {
      add({ type: 'reset' })
      whole = last
    },
    onDemand(listener) {
      onDemand = listener
    },
    subscribe(listener, { after, types, isOwn = false } = {}) {
      const subscriber = { listener, types: types && new Set(types), isOwn }
      subscribers.add(subscriber)
      if (!isOwn) {
        wanted++
        if (wanted === 1) onDemand(true)
      }
      const stop = () => remove(subscriber)
      if (after === undefined) return stop
      const oldest = Math.max(1, isOwn ? 1 : whole, last - KEPT + 1)
      const seen = numberOf(after)
      if (seen === undefined || seen < oldest - 1 || seen > last) {
        notify(subscriber, { type: 'reset' }, `${boot}-${last}`)
        return stop
      }
      // `add` sends the events that a listener publishes in the meantime.
      const until = last
      for (let number = seen + 1; number <= until; number++) {
        const kept = ring[number % KEPT]!
        if (isOwn && !OWN_TYPES.has(kept.type)) continue
        if (!notify(subscriber, isOwn ? ownEventOf(kept) : eventOf(kept), `${boot}-${number}`)) break
      }
      return stop
    },
    close() {
      cancelTools?.()
      for (const stop of stops) stop()
      subscribers.clear()
    },
  }

  function numberOf(id: string): number | undefined {
    const match = /^([0-9a-f]{12})-(\d{1,15})$/.exec(id)
    return match?.[1] === boot ? Number(match[2]) : undefined
  }
}

function eventOf(kept: Kept): ServiceEvent {
  if (kept.type === 'relayed') return kept.event
  if (kept.type === 'presence') return { type: 'presence', people: kept.all }
  return kept.type === 'indexed' ? { type: 'call', call: toCallEntry(kept.call) } : kept
}

/** The same as other processes of a cluster get it. */
function ownEventOf(kept: Kept): ServiceEvent {
  return kept.type === 'presence' ? { type: 'presence', people: kept.own } : eventOf(kept)
}
