import { type CallOptions, type Clock, ToolError, type ToolResult } from '@tool-hub/core'
import type { ApprovalService } from '../approvals/approval-service.ts'
import type { Identity } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import type { CallRouter } from '../call-router.ts'
import { CLOSE_CODES, type ReadMessage, type WsLimits, type WsSessionMessage } from './messages.ts'
import { Outbox } from './outbox.ts'
import { SessionCalls } from './session-calls.ts'
import { type Numbered, requireAnyScope, type SessionPort } from './session-port.ts'
import { SessionTools } from './session-tools.ts'
import { SessionWatch, type WatchContext } from './session-watch.ts'
import type { WsConnection } from './ws-connection.ts'

/** What all sessions share. */
export interface SessionContext extends WatchContext {
  readonly approvals: Pick<ApprovalService, 'attend' | 'answer' | 'reply'>
  readonly clock: Clock
  readonly limits: WsLimits
  /** Where calls are made. */
  readonly router: CallRouter<Identity>
}

/** The requests and messages of one client; outlives its connections. */
export class WsSession implements SessionPort {
  readonly id: string
  caller: Caller
  /** When it was disconnected. */
  waitingSince: number | undefined
  readonly calls: SessionCalls
  readonly #context: SessionContext
  readonly #outbox: Outbox
  readonly #tools: SessionTools
  readonly #watch: SessionWatch
  #connection: WsConnection<WsSession> | undefined
  #stopStallTimer: (() => void) | undefined
  #resetSeq = 0
  #isPumpWaiting = false
  #takesCalls = true

  constructor(id: string, caller: Caller, context: SessionContext) {
    const { limits } = context
    this.id = id
    this.caller = caller
    this.#context = context
    this.#outbox = new Outbox({ messages: limits.keptMessages, bytes: limits.keptBytes })
    this.calls = new SessionCalls(this, limits.callsInFlight)
    this.#tools = new SessionTools(this)
    this.#watch = new SessionWatch(this, context)
  }

  get isFull(): boolean {
    return this.#outbox.isFull
  }

  get keptBytes(): number {
    return this.#outbox.bytes
  }

  /** Whether ending it would lose anything. */
  get isWorthKeeping(): boolean {
    return this.calls.size > 0 || this.#outbox.hasFirm || !this.#tools.isEmpty || !this.#watch.isEmpty
  }

  /** Continues over this connection, which gets all messages after `received`. */
  attach(connection: WsConnection<WsSession>, received: number): void {
    this.#connection?.close(CLOSE_CODES.takenOver, 'another connection continues this session')
    this.#connection = connection
    this.caller = connection.caller
    this.waitingSince = undefined
    this.#isPumpWaiting = false
    const hasGap = this.#outbox.rewind(received)
    if (hasGap) this.#sendReset()
    this.#tools.resend(received)
    this.calls.startHeld()
    this.#watch.connected(true)
    this.#pump()
  }

  /** Returns `false` if the session continues over another connection. */
  detach(connection: WsConnection<WsSession>): boolean {
    if (this.#connection !== connection) return false
    this.#connection = undefined
    this.waitingSince = this.#context.clock.now()
    this.#watch.connected(false)
    this.#checkStall()
    return true
  }

  handle(message: WsSessionMessage): void {
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

  call(tool: string, input: unknown, options: CallOptions): Promise<ToolResult> {
    const { caller } = this
    return this.#context.router.call({ caller, identity: this.#connection?.identity, tool, input, options })
  }

  complain(error: unknown, id?: string): void {
    this.#connection?.complain(error, id)
  }

  stopTaking(): void {
    this.#takesCalls = false
  }

  /** Ends the session and aborts its calls. */
  end(): void {
    this.#connection = undefined
    this.#checkStall()
    this.calls.abort()
    this.#watch.stop()
    void this.#tools.close()
  }

  #dispatch(message: WsSessionMessage): unknown {
    switch (message.type) {
      case 'call':
        // While the server closes, no call starts: the client sends it again to the next server.
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
    if (hasLost) this.#sendReset()
    this.#pump()
  }

  /** Sent once while it is still in the outbox. */
  #sendReset(): void {
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

  /** Closes a connection that neither reads nor acknowledges for too long. */
  #checkStall(): void {
    const connection = this.#connection
    const isStalled = connection !== undefined && (this.isFull || !connection.hasRoom)
    if (!isStalled) {
      this.#stopStallTimer?.()
      this.#stopStallTimer = undefined
      return
    }
    this.#stopStallTimer ??= this.#context.clock.after(
      this.#context.limits.stalledMs,
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
    requireAnyScope(this.caller, 'approve')
    return this.#context.approvals.answer(this.caller, approval, reply, 'websocket')
  }

  #reply({ question, reply }: Extract<ReadMessage, { type: 'reply' }>): Promise<unknown> {
    requireAnyScope(this.caller, 'approve')
    return this.#context.approvals.reply(this.caller, question, reply, 'websocket')
  }

  #setWatch(events: Extract<ReadMessage, { type: 'watch' }>['events']): void {
    try {
      this.#watch.set(events)
    } catch (error) {
      this.complain(error)
    }
  }
}

/** Messages that end something are not counted. */
const FREE = new Set<ReadMessage['type']>(['received', 'answer', 'cancel'])

function tooFast({ name }: Caller, waitMs: number): ToolError {
  return new ToolError('RATE_LIMITED', `${name} sends more messages than it may; wait ${waitMs} ms.`)
}
