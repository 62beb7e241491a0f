import type { Clock } from '@tool-hub/core'
import type { ServiceEvent } from '@tool-hub/core/protocol'
import type { ApprovalService } from '../approvals/approval-service.ts'
import { eventFor } from '../approvals/approval-views.ts'
import type { Caller } from '../auth/caller.ts'
import type { EventHub } from '../services/event-hub.ts'
import type { ReadMessage } from './messages.ts'
import { requireAnyScope, type SessionPort } from './session-port.ts'

type Watched = Extract<ReadMessage, { type: 'watch' }>['events'][number]

/** What the watches of all sessions share. */
export interface WatchContext {
  readonly events: EventHub
  readonly approvals: Pick<ApprovalService, 'attend'>
  readonly presence: Presence
}

/** The events that a session watches, and its presence. */
export class SessionWatch {
  readonly #session: SessionPort
  readonly #context: WatchContext
  #stops: (() => void)[] = []
  #isConnected = true
  /** The name under which it is present. */
  #presentAs: string | undefined

  constructor(session: SessionPort, context: WatchContext) {
    this.#session = session
    this.#context = context
  }

  get isEmpty(): boolean {
    return this.#stops.length === 0
  }

  /** Replaces the watched types. */
  set(types: readonly Watched[]): void {
    const { caller } = this.#session
    for (const type of types)
      requireAnyScope(caller, ...(ANSWERER_TYPES.has(type) ? (['approve', 'read'] as const) : (['read'] as const)))
    const { events, approvals } = this.#context
    this.#unsubscribe()
    if (types.length > 0) this.#stops.push(events.subscribe((event) => this.#send(event), { types }))
    const mayAnswer = caller.scopes.has('approve') && (types.includes('approval') || types.includes('question'))
    if (mayAnswer) this.#stops.push(approvals.attend(caller))
    const wasSent = this.#appear()
    if (!types.includes('presence') || wasSent) return
    this.#send({ type: 'presence', people: [...(events.people ?? this.#context.presence.people)] })
  }

  /** A session is present while it is connected; it gets missed events after a reconnect. */
  connected(isConnected: boolean): void {
    this.#isConnected = isConnected
    this.#appear()
  }

  stop(): void {
    this.#unsubscribe()
    this.#appear()
  }

  #unsubscribe(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  #appear(): boolean {
    const { presence } = this.#context
    const isHere = this.#isConnected && !this.isEmpty
    if (isHere === (this.#presentAs !== undefined)) return false
    const { name } = this.#session.caller
    this.#presentAs = isHere ? name : undefined
    if (isHere) return presence.come(name)
    presence.leave(name)
    return true
  }

  #send(event: ServiceEvent): void {
    this.#session.sendEvent(toJson(event, this.#session.caller))
  }
}

const ANSWERER_TYPES = new Set<Watched>(['approval', 'question', 'presence'])

/** An event is serialized once for all sessions. */
const written = new WeakMap<ServiceEvent, string>()

function toJson(event: ServiceEvent, caller: Caller): string {
  const shown = eventFor(caller, event)
  if (shown !== event) return JSON.stringify(shown)
  const json = written.get(event) ?? JSON.stringify(event)
  written.set(event, json)
  return json
}

/** The principals that are watching, over any number of connections. */
export class Presence {
  readonly #events: Pick<EventHub, 'publish'>
  readonly #clock: Clock
  readonly #people = new Map<string, { since: number; count: number }>()

  constructor(events: Pick<EventHub, 'publish'>, clock: Clock) {
    this.#events = events
    this.#clock = clock
  }

  get people(): { name: string; since: number }[] {
    return Array.from(this.#people, ([name, { since }]) => ({ name, since }))
  }

  /** Adds a connection of a principal; returns whether the others were notified. */
  come(name: string): boolean {
    const known = this.#people.get(name)
    if (known) known.count++
    else this.#people.set(name, { since: this.#clock.now(), count: 1 })
    if (!known) this.#send()
    return !known
  }

  leave(name: string): void {
    const known = this.#people.get(name)
    if (!known || --known.count > 0) return
    this.#people.delete(name)
    this.#send()
  }

  #send(): void {
    this.#events.publish({ type: 'presence', people: this.people })
  }
}
