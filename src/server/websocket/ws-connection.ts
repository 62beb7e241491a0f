import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { type Clock, ToolError } from '../../core/index.ts'
import type { Identity } from '../auth/authenticator.ts'
import type { AuthenticatedCaller } from '../auth/caller.ts'
import { CLOSE_CODES, type WsLimits } from './limits.ts'
import { idOf, type ReadMessage, readMessage } from './read-message.ts'
import { toWireError } from './session-port.ts'
import type { WsSession } from './ws-session.ts'

/** What a connection needs of the door it came through. */
export interface ConnectionParts {
  readonly clock: Clock
  readonly limits: WsLimits
  /** Gives a connection that said hello its session, and says welcome. */
  greet(connection: WsConnection, hello: Extract<ReadMessage, { type: 'hello' }>): WsSession
  closed(connection: WsConnection, code: number): void
}

/** One WebSocket: reads messages, coalesces writes, counts what it should not get. */
export class WsConnection {
  readonly caller: AuthenticatedCaller
  /** Whether it would be let in now. */
  readonly holds: Identity['holds']
  /** Takes one message from the rate of its principal. */
  readonly take: Identity['take']
  checkedAt: number
  session: WsSession | undefined
  /** When something came last. */
  heardAt: number
  pingedAt = 0
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #parts: ConnectionParts
  #bad = 0
  #isCorked = false
  #isClosing = false

  constructor(ws: WebSocket, socket: Duplex, { caller, holds, take }: Identity, parts: ConnectionParts) {
    this.caller = caller
    this.holds = holds
    this.take = take
    this.heardAt = parts.clock.now()
    this.checkedAt = this.heardAt
    this.#ws = ws
    this.#socket = socket
    this.#parts = parts
    ws.on('message', this.#read)
    ws.on('pong', this.#hear)
    ws.on('close', this.#closed)
    // What goes wrong here ends in a close, which is all that matters.
    ws.on('error', ignore)
  }

  /** Whether the other side reads fast enough to be sent more. */
  get hasRoom(): boolean {
    return this.#ws.bufferedAmount <= this.#parts.limits.bufferedBytes
  }

  /** What is written in one turn goes to the machine at once. */
  write(text: string): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#socket.cork()
      setImmediate(this.#uncork)
    }
    this.#ws.send(text)
  }

  /** Tells what is wrong, if there is room for it. */
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
    // What is still on its way goes to the connection that goes on.
    if (this.#isClosing) return
    this.#hear()
    const text = isBinary ? '' : data.toString()
    let message: ReadMessage
    try {
      message = readMessage(text, this.#parts.limits.messageEntries)
    } catch (error) {
      return this.#refuse(error, idOf(text))
    }
    const { session } = this
    if (message.type === 'ping') return this.write(PONG)
    if (message.type === 'hello' && !session) {
      this.session = this.#parts.greet(this, message)
      return
    }
    if (!session || message.type === 'hello') return this.#refuse(outOfOrder(message.type), undefined)
    session.handle(message)
  }

  readonly #hear = (): void => {
    this.heardAt = this.#parts.clock.now()
  }

  readonly #uncork = (): void => {
    if (!this.#isCorked) return
    this.#isCorked = false
    this.#socket.uncork()
  }

  readonly #closed = (code: number): void => {
    this.#parts.closed(this, code)
  }

  #refuse(error: unknown, id: string | undefined): void {
    this.#bad++
    this.complain(error, id)
    if (this.#bad >= this.#parts.limits.badMessages) {
      this.close(CLOSE_CODES.badMessages, `${this.#bad} messages were not understood`)
    }
  }
}

const PONG = '{"type":"pong"}'

function outOfOrder(type: string): ToolError {
  const message = type === 'hello' ? 'This connection has said hello already.' : `hello comes first, not ${type}.`
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Say { "type": "hello" } once, at the beginning.' })
}

function ignore(): void {}
