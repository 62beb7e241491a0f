import { type Clock, ToolError } from '../../core/index.ts'
import type { AuthenticatedCaller } from '../auth/caller.ts'
import type { ApprovalService } from '../service.ts'
import { CLOSE_CODES, type WsLimits } from './limits.ts'
import { Outbox } from './outbox.ts'
import type { ReadMessage } from './read-message.ts'
import { SessionCalls } from './session-calls.ts'
import { type Numbered, requireScope, type SessionPort } from './session-port.ts'
import { SessionTools } from './session-tools.ts'
import { SessionWatch, type WatchParts } from './session-watch.ts'
import type { WsConnection } from './ws-connection.ts'

/** What every session of a door uses. */
export interface SessionParts extends WatchParts {
  readonly approvals: Pick<ApprovalService, 'attend' | 'answer' | 'reply'>
  readonly clock: Clock
  readonly limits: WsLimits
}

type SessionMessage = Exclude<ReadMessage, { type: 'hello' | 'ping' }>

/** What one client has asked for and is owed; outlives its connections. */
export class WsSession implements SessionPort {
  readonly id: string
  caller: AuthenticatedCaller
  /** Since when it has no connection. */
  waitingSince: number | undefined
  readonly calls: SessionCalls
  readonly #parts: SessionParts
  readonly #outbox: Outbox
  readonly #tools: SessionTools
  readonly #watch: SessionWatch
  #connection: WsConnection | undefined
  #stopStallTimer: (() => void) | undefined
  #resetSeq = 0
  #isPumpWaiting = false
  #takesCalls = true

  constructor(id: string, caller: AuthenticatedCaller, parts: SessionParts) {
    const { limits } = parts
    this.id = id
    this.caller = caller
    this.#parts = parts
    this.#outbox = new Outbox({ messages: limits.keptMessages, bytes: limits.keptBytes })
    this.calls = new SessionCalls(this, limits.callsInFlight)
    this.#tools = new SessionTools(this)
    this.#watch = new SessionWatch(this, parts)
  }

  get isFull(): boolean {
    return this.#outbox.isFull
  }

  get keptBytes(): number {
    return this.#outbox.bytes
  }

  /** Whether anything would be lost with it. */
  get isWorthKeeping(): boolean {
    return this.calls.size > 0 || this.#outbox.hasFirm || !this.#tools.isEmpty || !this.#watch.isEmpty
  }

  /** Goes on over this connection, which gets all after `received`. */
  attach(connection: WsConnection, received: number): void {
    this.#connection?.close(CLOSE_CODES.takenOver, 'another connection goes on with this session')
    this.#connection = connection
    this.caller = connection.caller
    this.waitingSince = undefined
    this.#isPumpWaiting = false
    const hasGap = this.#outbox.rewind(received)
    if (hasGap) this.#tellReset()
    this.#tools.resend(received)
    this.calls.startHeld()
    this.#watch.connected(true)
    this.#pump()
  }

  /** False when it goes on over another connection. */
  detach(connection: WsConnection): boolean {
    if (this.#connection !== connection) return false
    this.#connection = undefined
    this.waitingSince = this.#parts.clock.now()
    this.#watch.connected(false)
    this.#checkStall()
    return true
  }

  handle(message: SessionMessage): void {
    const waitMs = FREE.has(message.type) ? 0 : (this.#connection?.take() ?? 0)
    if (waitMs > 0) this.complain(tooFast(this.caller, waitMs), 'id' in message ? message.id : undefined)
    else this.#dispatch(message)
  }

  send(message: Numbered, { mayDrop = false }: { readonly mayDrop?: boolean } = {}): number {
    const seq = this.#outbox.nextSeq()
    this.#add(seq, JSON.stringify({ seq, ...message }), mayDrop)
    return seq
  }

  sendEvent(json: string): void {
    const seq = this.#outbox.nextSeq()
    this.#add(seq, `{"type":"event","seq":${seq},"event":${json}}`, true)
  }

  sendAgain(seq: number): boolean {
    const text = this.#outbox.find(seq)
    if (text === undefined) return false
    const isOnItsWay = this.#outbox.isUnsent(seq)
    if (!isOnItsWay && this.#connection?.hasRoom) this.#connection.write(text)
    return true
  }

  withdraw(seq: number): boolean {
    return this.#outbox.withdraw(seq)
  }

  complain(error: unknown, id?: string): void {
    this.#connection?.complain(error, id)
  }

  stopTaking(): void {
    this.#takesCalls = false
  }

  /** It is over: nobody gets what it would still have given. */
  end(): void {
    this.#connection = undefined
    this.#checkStall()
    this.calls.abort()
    this.#watch.stop()
    void this.#tools.close()
  }

  #dispatch(message: SessionMessage): unknown {
    switch (message.type) {
      case 'call':
        // While the server stops none is begun: the client says it again to the next one.
        return this.#takesCalls && this.calls.start(message)
      case 'received':
        return this.#received(message.seq)
      case 'cancel':
        return this.calls.cancel(message.id)
      case 'tools':
        return this.#register(message)
      case 'answer':
        return this.#tools.answer(message)
      case 'approve':
        return this.calls.perform(message.id, () => this.#approve(message))
      case 'reply':
        return this.calls.perform(message.id, () => this.#reply(message))
      case 'watch':
        return this.#setWatch(message.events)
    }
  }

  #received(seq: number): void {
    this.#outbox.acknowledge(seq)
    this.calls.startHeld()
    this.#checkStall()
  }

  #add(seq: number, text: string, mayDrop: boolean): void {
    const hasLost = this.#outbox.add(seq, text, mayDrop)
    if (hasLost) this.#tellReset()
    this.#pump()
  }

  /** Once is enough while it waits to be sent. */
  #tellReset(): void {
    if (this.#resetSeq > 0 && this.#outbox.isUnsent(this.#resetSeq)) return
    const seq = this.#outbox.nextSeq()
    this.#resetSeq = seq
    this.#outbox.add(seq, `{"type":"event","seq":${seq},"event":{"type":"reset"}}`, false)
  }

  #pump(): void {
    const connection = this.#connection
    if (!connection) return
    while (connection.hasRoom) {
      const text = this.#outbox.take()
      if (text === undefined) break
      connection.write(text)
    }
    this.#checkStall()
    if (connection.hasRoom || this.#isPumpWaiting) return
    this.#isPumpWaiting = true
    connection.onceDrained(() => {
      this.#isPumpWaiting = false
      this.#pump()
    })
  }

  /** Who neither reads nor acknowledges for long has to come again. */
  #checkStall(): void {
    const connection = this.#connection
    const isStalled = connection !== undefined && (this.isFull || !connection.hasRoom)
    if (!isStalled) {
      this.#stopStallTimer?.()
      this.#stopStallTimer = undefined
      return
    }
    this.#stopStallTimer ??= this.#parts.clock.after(
      this.#parts.limits.stalledMs,
      () => {
        this.#stopStallTimer = undefined
        this.#connection?.close(CLOSE_CODES.tooSlow, 'messages are not read or not acknowledged')
      },
      { background: true },
    )
  }

  async #register(message: Extract<ReadMessage, { type: 'tools' }>): Promise<void> {
    const { id = message.name } = message
    if (this.isFull) return this.complain(new ToolError('RATE_LIMITED', 'Acknowledge what came before.'), id)
    try {
      this.send({ type: 'done', id, outcome: await this.#tools.register(message) })
    } catch (error) {
      this.complain(error, id)
    }
  }

  #approve({ approval, reply }: Extract<ReadMessage, { type: 'approve' }>): Promise<unknown> {
    requireScope(this.caller, 'approve')
    return this.#parts.approvals.answer(this.caller, approval, reply, 'websocket')
  }

  #reply({ question, reply }: Extract<ReadMessage, { type: 'reply' }>): Promise<unknown> {
    requireScope(this.caller, 'approve')
    return this.#parts.approvals.reply(this.caller, question, reply, 'websocket')
  }

  #setWatch(events: Extract<ReadMessage, { type: 'watch' }>['events']): void {
    try {
      this.#watch.set(events)
    } catch (error) {
      this.complain(error)
    }
  }
}

/** They end something that was begun. */
const FREE = new Set<ReadMessage['type']>(['received', 'answer', 'cancel'])

function tooFast({ name }: AuthenticatedCaller, waitMs: number): ToolError {
  return new ToolError('RATE_LIMITED', `${name} sends more messages than it may; wait ${waitMs} ms.`)
}
