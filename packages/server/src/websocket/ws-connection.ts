import type { Duplex } from 'node:stream'
import { type Clock, ToolError } from '@tool-hub/core'
import type { RawData, WebSocket } from 'ws'
import type { Identity } from '../auth/authenticator.ts'
import type { Caller } from '../auth/caller.ts'
import type { OtherProcesses } from '../call-router.ts'
import { CLOSE_CODES, idOf, type ReadMessage, readMessage, type WsLimits, type WsSessionMessage } from './messages.ts'
import { toWireError } from './session-port.ts'

/** What a connection uses of its session. */
interface MessageHandler {
  handle(message: WsSessionMessage): void
}

/** What a connection uses of its endpoint. */
export interface ConnectionContext<Session extends MessageHandler> {
  readonly clock: Clock
  readonly limits: WsLimits
  /** Opens or resumes the session of a connection after its hello, and sends the welcome. */
  greet(connection: WsConnection<Session>, hello: Extract<ReadMessage, { type: 'hello' }>): Session
  closed(connection: WsConnection<Session>, code: number): void
  /** The processes that may have the session of a client; absent if only this one does. */
  readonly others?: Pick<OtherProcesses<Identity>, 'relay'>
}

/** A WebSocket: reads messages, batches writes, counts invalid messages. */
export class WsConnection<Session extends MessageHandler> {
  readonly caller: Caller
  readonly identity: Identity
  /** Whether its credentials are still valid. */
  readonly holds: Identity['holds']
  /** Counts one message against the rate of its principal. */
  readonly take: Identity['take']
  checkedAt: number
  session: Session | undefined
  /** When the last message arrived. */
  activeAt: number
  pingedAt = 0
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #context: ConnectionContext<Session>
  #bad = 0
  #isCorked = false
  #isClosing = false
  /** Whether another process has its session. */
  isRelayed = false
  /** Messages that arrive before it is known which process has the session. */
  #early: string[] | undefined

  constructor(ws: WebSocket, socket: Duplex, identity: Identity, context: ConnectionContext<Session>) {
    const { caller, holds, take } = identity
    this.caller = caller
    this.identity = identity
    this.holds = holds
    this.take = take
    this.activeAt = context.clock.now()
    this.checkedAt = this.activeAt
    this.#ws = ws
    this.#socket = socket
    this.#context = context
    ws.on('message', this.#read)
    ws.on('pong', this.#noteActivity)
    ws.on('close', this.#closed)
    // `close` follows every error.
    ws.on('error', ignore)
  }

  /** Whether the client reads fast enough. */
  get hasRoom(): boolean {
    return this.#ws.bufferedAmount <= this.#context.limits.bufferedBytes
  }

  /** Messages of one turn of the event loop are written together. */
  write(text: string): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#socket.cork()
      setImmediate(this.#uncork)
    }
    this.#ws.send(text)
  }

  /** Sends an error if there is room in the buffer. */
  complain(error: unknown, id?: string): void {
    if (this.hasRoom) this.write(JSON.stringify({ type: 'error', id, error: toWireError(error) }))
  }

  onceDrained(callback: () => void): void {
    this.#socket.once('drain', callback)
  }

  ping(now: number): void {
    this.pingedAt = now
    this.#ws.ping()
  }

  close(code: number, reason: string): void {
    this.#isClosing = true
    this.#uncork()
    this.#ws.close(code, reason)
  }

  terminate(): void {
    this.#ws.terminate()
  }

  readonly #read = (data: RawData, isBinary: boolean) => {
    // The connection that continues gets these messages.
    if (this.#isClosing) return
    this.#noteActivity()
    if (this.isRelayed) return
    const text = isBinary ? '' : data.toString()
    if (this.#early) this.#early.push(text)
    else this.#readText(text)
  }

  readonly #readText = (text: string) => {
    let message: ReadMessage
    try {
      message = readMessage(text, this.#context.limits.messageEntries)
    } catch (error) {
      return this.#refuse(error, idOf(text))
    }
    const { session } = this
    if (message.type === 'ping') return this.write(PONG)
    if (message.type === 'hello' && !session) {
      if (message.session !== undefined && this.#context.others) return void this.#resume(message, text)
      this.session = this.#context.greet(this, message)
      return
    }
    if (!session || message.type === 'hello') return this.#refuse(outOfOrder(message.type), undefined)
    session.handle(message)
  }

  /** Resumes a session, which another process may have. */
  async #resume(hello: Extract<ReadMessage, { type: 'hello' }>, text: string): Promise<void> {
    const { others, limits } = this.#context
    const early: string[] = []
    this.#early = early
    this.#ws.pause()
    try {
      const socket = { client: this.#ws, identity: this.identity, hello: text, early, maxBytes: limits.messageBytes }
      this.isRelayed = await others!.relay(hello.session!, socket)
      if (!this.isRelayed) {
        this.session = this.#context.greet(this, hello)
        this.#early = undefined
        for (const each of early) this.#readText(each)
      }
    } catch {
      // The client connects again, and then the process answers, or its sessions are gone with it.
      this.close(TRY_AGAIN, 'the process that has this session cannot be reached')
    }
    this.#ws.resume()
  }

  readonly #noteActivity = (): void => {
    this.activeAt = this.#context.clock.now()
  }

  readonly #uncork = (): void => {
    if (!this.#isCorked) return
    this.#isCorked = false
    this.#socket.uncork()
  }

  readonly #closed = (code: number): void => {
    this.#context.closed(this, code)
  }

  #refuse(error: unknown, id: string | undefined): void {
    this.#bad++
    this.complain(error, id)
    if (this.#bad >= this.#context.limits.badMessages) {
      this.close(CLOSE_CODES.badMessages, `${this.#bad} messages were not understood`)
    }
  }
}

/** The registered code for a server that cannot take the connection now. */
const TRY_AGAIN = 1013
const PONG = '{"type":"pong"}'

function outOfOrder(type: string): ToolError {
  const message = type === 'hello' ? 'This connection has said hello already.' : `hello comes first, not ${type}.`
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Say { "type": "hello" } once, at the beginning.' })
}

function ignore(): void {}
