import { randomBytes } from 'node:crypto'
import { type Clock, type IndexedCall, type Store, systemClock } from '../../core/index.ts'
import type { Hub, RunIndexer } from '../../hub/index.ts'
import { parseJson } from '../../lib/index.ts'
import { featureChange, type ServiceEvent } from '../../protocol/index.ts'
import type { EventHub } from '../service.ts'
import { toCallEntry } from './call-entries.ts'

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
}

/** A call is kept as indexed, and converted only if there is a subscriber. */
type Kept = { readonly type: 'indexed'; readonly call: IndexedCall } | ServiceEvent

/** Creates the event stream; it keeps the last 5,000 events for clients that reconnect. */
export function createEventHub({
  hub,
  indexer,
  store,
  clock = systemClock,
}: EventHubOptions): EventHub & { close(): void } {
  const boot = randomBytes(6).toString('hex')
  const ring: Kept[] = new Array(KEPT)
  const subscribers = new Set<Subscriber>()
  /** Number of the last event; the first is 1. */
  let last = 0
  let cancelTools: (() => void) | undefined

  const add = (kept: Kept) => {
    last++
    ring[last % KEPT] = kept
    if (subscribers.size === 0) return
    const event = eventOf(kept)
    const id = `${boot}-${last}`
    for (const subscriber of [...subscribers]) notify(subscriber, event, id)
  }
  const notify = (subscriber: Subscriber, event: ServiceEvent, id: string): boolean => {
    if (subscriber.types && !subscriber.types.has(event.type) && event.type !== 'reset') return true
    try {
      subscriber.listener(event, id)
      return true
    } catch {
      // A subscriber that throws is removed; the others still get the event.
      subscribers.delete(subscriber)
      return false
    }
  }
  const stops = [
    store.events.watch(({ topic, body }) => {
      const change = topic === 'feature' ? featureChange.safeParse(parseJson(body)) : undefined
      if (change?.success) add({ type: 'feature-changed', ...change.data })
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
    publish: add,
    subscribe(listener, { after, types } = {}) {
      const subscriber = { listener, types: types && new Set(types) }
      subscribers.add(subscriber)
      const stop = () => void subscribers.delete(subscriber)
      if (after === undefined) return stop
      const oldest = Math.max(1, last - KEPT + 1)
      const seen = numberOf(after)
      if (seen === undefined || seen < oldest - 1 || seen > last) {
        notify(subscriber, { type: 'reset' }, `${boot}-${last}`)
        return stop
      }
      // `add` sends the events that a listener publishes in the meantime.
      const until = last
      for (let number = seen + 1; number <= until; number++)
        if (!notify(subscriber, eventOf(ring[number % KEPT]!), `${boot}-${number}`)) break
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
  return kept.type === 'indexed' ? { type: 'call', call: toCallEntry(kept.call) } : kept
}
