import type { ClientMessage, ServerMessage } from '@tool-hub/core/protocol'
import type { SocketState, WebSocketClass } from '../client-options.ts'
import { reconnectDelayMs } from '../follow-events.ts'
import { ApiError } from '../http-requests.ts'

/** A message that does something, after the link has taken note of its number. */
export type LinkMessage = Exclude<ServerMessage, { type: 'welcome' | 'pong' }>

/** Options of a link. */
export interface LinkOptions {
  readonly WebSocket: WebSocketClass
  readonly url: string
  readonly protocols: string[]
  /** Called when connected; `resumed` if the session continues. Requests without an answer have to be sent again. */
  onWelcome(resumed: boolean): void
  onMessage(message: LinkMessage): void
  onStateChange(state: SocketState): void
  /** Called when the link is closed for good. */
  onClosed(why: ApiError): void
}

type Listening = InstanceType<WebSocketClass> & {
  addEventListener(type: string, listener: (event: { data?: unknown; code?: number; reason?: string }) => void): void
}

const ACKNOWLEDGE_MS = 100
const ACKNOWLEDGE_MESSAGES = 64
const ACKNOWLEDGE_CHARS = 1_000_000
const SILENCE_MS = 30_000
/** Codes that close a session for good. */
const FINAL = new Map([
  [1000, 'The connection was closed.'],
  [4401, 'The service does not admit this client any more.'],
  [4409, 'Another connection continues this session.'],
])

/** A session over one WebSocket after another: each number once, acknowledged in batches. */
export class SocketLink {
  readonly #options: LinkOptions
  #socket: Listening | undefined
  #isWelcome = false
  #isClosed = false
  #session: string | undefined
  #received = 0
  #acknowledged = 0
  #charsSince = 0
  #attempt = 0
  #heardAt = 0
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #ackTimer: ReturnType<typeof setTimeout> | undefined
  #pulse: ReturnType<typeof setInterval> | undefined
  principal: string | undefined

  constructor(options: LinkOptions) {
    this.#options = options
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return this.#isWelcome
  }

  open(): void {
    const { WebSocket, url, protocols } = this.#options
    const socket = new WebSocket(url, protocols) as Listening
    this.#socket = socket
    const ifCurrent = (action: () => void) => {
      if (this.#socket === socket) action()
    }
    socket.addEventListener('open', () => ifCurrent(() => this.#hello()))
    socket.addEventListener('message', ({ data }) => ifCurrent(() => this.#read(String(data))))
    socket.addEventListener('close', ({ code, reason }) => ifCurrent(() => this.#dropped(code, reason)))
    // `close` follows every error.
    socket.addEventListener('error', () => {})
    this.#heardAt = Date.now()
    this.#pulse ??= setInterval(() => this.#feelPulse(), SILENCE_MS / 2)
  }

  /** A message that is sent without a connection is lost; requests are sent again after the next welcome. */
  send(message: ClientMessage): void {
    if (this.#isWelcome) this.#socket!.send(JSON.stringify(message))
  }

  /** Closes the session. */
  close(): void {
    if (this.#isClosed) return
    this.#acknowledge()
    const socket = this.#socket
    this.#giveUp(new ApiError('ABORTED', FINAL.get(1000)!))
    socket?.close(1000)
  }

  #hello(): void {
    const hello: ClientMessage = { type: 'hello', session: this.#session, received: this.#received }
    this.#socket!.send(JSON.stringify(hello))
  }

  #read(text: string): void {
    this.#heardAt = Date.now()
    const message = parse(text)
    if (message?.type === 'pong') return
    if (!message) {
      this.#restart(1007, 'a message is not JSON')
      return
    }
    if (message.type === 'welcome') {
      this.#welcome(message)
      return
    }
    const { seq } = message
    if (seq !== undefined) {
      // Already received before the connection dropped.
      if (seq <= this.#received) return
      this.#received = seq
      this.#charsSince += text.length
      this.#acknowledgeSoon()
    }
    this.#options.onMessage(message)
  }

  #welcome({ session, resumed, principal }: Extract<ServerMessage, { type: 'welcome' }>): void {
    if (!resumed) this.#received = 0
    this.#acknowledged = this.#received
    this.#session = session
    this.#attempt = 0
    this.#isWelcome = true
    this.principal = principal
    this.#options.onStateChange('open')
    this.#options.onWelcome(resumed)
  }

  #acknowledgeSoon(): void {
    const isMuch = this.#received - this.#acknowledged >= ACKNOWLEDGE_MESSAGES || this.#charsSince >= ACKNOWLEDGE_CHARS
    if (isMuch) this.#acknowledge()
    else this.#ackTimer ??= setTimeout(() => this.#acknowledge(), ACKNOWLEDGE_MS)
  }

  #acknowledge(): void {
    clearTimeout(this.#ackTimer)
    this.#ackTimer = undefined
    this.#charsSince = 0
    if (this.#received === this.#acknowledged) return
    this.#acknowledged = this.#received
    this.send({ type: 'received', seq: this.#received })
  }

  /** A connection may be dead without a close event. */
  #feelPulse(): void {
    const silentMs = Date.now() - this.#heardAt
    if (!this.#socket || silentMs < SILENCE_MS) return
    if (silentMs < 2 * SILENCE_MS) {
      this.send({ type: 'ping' })
      return
    }
    this.#restart(1006, 'silent')
  }

  #restart(code: number, why: string): void {
    const socket = this.#socket
    this.#dropped(code, why)
    socket?.close()
  }

  #dropped(code = 1006, reason = ''): void {
    const wasWelcome = this.#isWelcome || this.#session !== undefined
    this.#socket = undefined
    this.#isWelcome = false
    const final = wasWelcome
      ? FINAL.get(code)
      : `The service cannot be connected to (${code}${reason && `: ${reason}`}).`
    if (final !== undefined) {
      this.#giveUp(new ApiError(code === 4401 ? 'UNAUTHENTICATED' : 'CLIENT_GONE', final))
      return
    }
    this.#options.onStateChange('reconnecting')
    this.#retryTimer = setTimeout(() => this.open(), reconnectDelayMs(this.#attempt++))
  }

  #giveUp(why: ApiError): void {
    this.#isClosed = true
    this.#isWelcome = false
    this.#socket = undefined
    clearTimeout(this.#retryTimer)
    clearTimeout(this.#ackTimer)
    clearInterval(this.#pulse)
    this.#options.onStateChange('closed')
    this.#options.onClosed(why)
  }
}

function parse(text: string): ServerMessage | undefined {
  try {
    return JSON.parse(text)
  } catch {
    // Not a message of the service.
    return undefined
  }
}
