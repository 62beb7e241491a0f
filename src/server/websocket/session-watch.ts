import type { Clock } from '../../core/index.ts'
import type { ServiceEvent } from '../../protocol/index.ts'
import type { ApprovalService, Caller, EventHub } from '../service.ts'
import type { ReadMessage } from './read-message.ts'
import { requireScope, type SessionPort } from './session-port.ts'

type Watched = Extract<ReadMessage, { type: 'watch' }>['events'][number]

/** What the watchers of a door share. */
export interface WatchParts {
  readonly events: EventHub
  readonly approvals: Pick<ApprovalService, 'attend'>
  readonly presence: Presence
}

/** The events that a session wants to hear, which also says that somebody is there. */
export class SessionWatch {
  readonly #session: SessionPort
  readonly #parts: WatchParts
  #stops: (() => void)[] = []
  #isConnected = true
  /** As whom it is present. */
  #presentAs: string | undefined

  constructor(session: SessionPort, parts: WatchParts) {
    this.#session = session
    this.#parts = parts
  }

  get isEmpty(): boolean {
    return this.#stops.length === 0
  }

  /** Replaces what was watched before. */
  set(types: readonly Watched[]): void {
    const { caller } = this.#session
    for (const type of types)
      requireScope(caller, ...(ASKS.has(type) ? (['approve', 'read'] as const) : (['read'] as const)))
    const { events, approvals } = this.#parts
    this.#unsubscribe()
    if (types.length > 0) this.#stops.push(events.subscribe((event) => this.#tell(event), { types }))
    const mayAnswer = caller.scopes.has('approve') && (types.includes('approval') || types.includes('question'))
    if (mayAnswer) this.#stops.push(approvals.attend(caller))
    const wasTold = this.#appear()
    if (types.includes('presence') && !wasTold) this.#tell({ type: 'presence', people: this.#parts.presence.people })
  }

  /** Somebody is seen while it is connected; it hears what it missed when it comes back. */
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
    const { presence } = this.#parts
    const isHere = this.#isConnected && !this.isEmpty
    if (isHere === (this.#presentAs !== undefined)) return false
    const { name } = this.#session.caller
    this.#presentAs = isHere ? name : undefined
    if (isHere) return presence.come(name)
    presence.leave(name)
    return true
  }

  #tell(event: ServiceEvent): void {
    this.#session.sendEvent(toJson(event, this.#session.caller))
  }
}

const ASKS = new Set<Watched>(['approval', 'question', 'presence'])

/** An event that many watch is written once. */
const written = new WeakMap<ServiceEvent, string>()

function toJson(event: ServiceEvent, { name, scopes }: Caller): string {
  if (event.type === 'question') {
    const { question } = event
    return JSON.stringify({
      ...event,
      question: { ...question, mayAnswer: question.mayAnswer && scopes.has('approve') },
    })
  }
  if (event.type === 'approval') {
    const { approval } = event
    // Nobody answers for its own calls.
    const mayAnswer = approval.mayAnswer && scopes.has('approve') && approval.caller !== name
    return JSON.stringify({ ...event, approval: { ...approval, mayAnswer } })
  }
  const json = written.get(event) ?? JSON.stringify(event)
  written.set(event, json)
  return json
}

/** Who watches, through whichever connections. */
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
    this.#events.publish({ type: 'presence', people: this.people })
  }
}
