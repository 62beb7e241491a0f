import type { CallEvent, ToolResult } from '@tool-hub/core'
import type { Approval, ApprovalAnswer, ClientMessage, QuestionEntry, ServiceEvent } from '@tool-hub/core/protocol'
import type { ConnectOptions, RemoteCallOptions, ToolMap, WebSocketClass } from '../client-options.ts'
import type { ApiError } from '../http-requests.ts'
import { type LinkMessage, SocketLink } from './socket-link.ts'
import { problemOf, SocketRequests } from './socket-requests.ts'
import { type OwnTool, type Registration, SocketTools } from './socket-tools.ts'

/** The address of a socket. */
export interface SocketAddress {
  /** The class to connect with. */
  readonly WebSocket: WebSocketClass
  /** `ws:` or `wss:` address of the service. */
  readonly url: string
  /** Subprotocols; the token is among them. */
  readonly protocols: string[]
}

/** A session with the service over a WebSocket, which outlives dropped connections; made by `client.connect()`. */
export class HubSocket<T extends ToolMap = ToolMap> {
  readonly #options: ConnectOptions
  readonly #link: SocketLink
  readonly #requests: SocketRequests
  readonly #tools: SocketTools
  readonly #watch: SocketWatch
  /** Prefix of the repeat keys of this client. */
  readonly #name = randomText()
  #whenOpen: { resolve: () => void; reject: (error: unknown) => void } | undefined

  private constructor(place: SocketAddress, options: ConnectOptions) {
    this.#options = options
    this.#link = new SocketLink({
      ...place,
      onWelcome: (resumed) => this.#welcome(resumed),
      onMessage: (message) => this.#take(message),
      onStateChange: (state) => options.onStateChange?.(state),
      onClosed: (why) => this.#closed(why),
    })
    this.#requests = new SocketRequests(this.#link)
    this.#tools = new SocketTools(this.#link, this.#requests)
    this.#watch = new SocketWatch(this.#link)
  }

  /** Resolves when the service accepts the connection; rejects if it cannot be reached or refuses this client. */
  static async open<T extends ToolMap>(place: SocketAddress, options: ConnectOptions = {}): Promise<HubSocket<T>> {
    options.signal?.throwIfAborted()
    const socket = new HubSocket<T>(place, options)
    options.signal?.addEventListener('abort', () => socket.close(), { once: true })
    await new Promise<void>((resolve, reject) => {
      socket.#whenOpen = { resolve, reject }
      socket.#link.open()
    })
    return socket
  }

  /** The principal of this client. */
  get principal(): string {
    return this.#link.principal!
  }

  /** Calls a tool. Does not reject if the tool fails: check `ok`. */
  call<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    options: RemoteCallOptions = {},
  ): Promise<ToolResult<T[K]['output']>> {
    return this.#call(tool, input, options) as Promise<ToolResult<T[K]['output']>>
  }

  /** The same as a stream of events; the last is `call-ended`. Ending the iteration cancels the call. */
  stream<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    options: RemoteCallOptions = {},
  ): AsyncIterableIterator<CallEvent<T[K]['output']>, void> {
    const stopped = new AbortController()
    const queue = new EventQueue<CallEvent<T[K]['output']>>(() => stopped.abort())
    const signal = options.signal ? AbortSignal.any([options.signal, stopped.signal]) : stopped.signal
    const onEvent = (event: CallEvent) => queue.push(event as CallEvent<T[K]['output']>)
    this.#call(tool, input, { ...options, signal }, onEvent).then(
      (result) => {
        onEvent({ type: 'call-ended', callId: result.callId, result })
        queue.end()
      },
      (error: unknown) => queue.fail(error),
    )
    return queue
  }

  /** Registers tools that this client executes, replacing those under this name; an empty list removes them. */
  registerTools({ name, tools }: { readonly name: string; readonly tools: readonly OwnTool[] }): Promise<Registration> {
    return this.#tools.register(name, tools)
  }

  /** Answers an approval request. */
  approve(approval: string, reply: ApprovalAnswer): Promise<{ won: boolean; approval: Approval }> {
    const message = { type: 'approve', id: this.#requests.nextId(), approval, reply } as const
    return this.#requests.ask(message) as Promise<{ won: boolean; approval: Approval }>
  }

  /** Answers a question of a tool. */
  reply(
    question: string,
    reply: { answer?: string; values?: Record<string, unknown> },
  ): Promise<{ won: boolean; question: QuestionEntry }> {
    const message = { type: 'reply', id: this.#requests.nextId(), question, reply } as const
    return this.#requests.ask(message) as Promise<{ won: boolean; question: QuestionEntry }>
  }

  /**
   * Calls the listener with events of these types, and with `reset` if some were missed. A client that watches
   * approvals or questions can be asked, and is present for the others. Returns a function that stops it.
   */
  watch(types: readonly Watched[], listener: (event: ServiceEvent) => void): () => void {
    return this.#watch.add(types, listener)
  }

  /** Calls the listener with the people who watch, now and on every change. Returns a function that stops it. */
  onPresence(listener: (people: readonly { readonly name: string; readonly since: number }[]) => void): () => void {
    return this.#watch.add(['presence'], (event) => {
      if (event.type === 'presence') listener(event.people)
    })
  }

  /** Closes the session: requests without an answer are rejected, and own tools are removed. */
  close(): void {
    this.#link.close()
  }

  #call(
    tool: string,
    input: unknown,
    { signal, ...options }: RemoteCallOptions,
    onEvent?: (event: CallEvent) => void,
  ): Promise<ToolResult> {
    const id = this.#requests.nextId()
    const hasKey = options.idempotencyKey ?? options.repeatKey ?? options.requestId
    const wantsKey = hasKey === undefined && this.#options.idempotencyKeys !== false
    const key = wantsKey ? { repeatKey: `${this.#name}-${id}` } : undefined
    const stream = onEvent ? { stream: true } : undefined
    const message = { type: 'call', id, tool, input, ...options, ...key, ...stream } as const
    return this.#requests.ask(message, { onEvent, signal }) as Promise<ToolResult>
  }

  #welcome(resumed: boolean): void {
    this.#whenOpen?.resolve()
    this.#whenOpen = undefined
    // First, so that calls find the tools.
    if (!resumed) this.#tools.startAnew()
    this.#requests.sendAgain(resumed)
    if (resumed) this.#watch.send()
    else this.#watch.startAnew()
  }

  #take(message: LinkMessage): void {
    if (this.#requests.take(message) || this.#tools.take(message) || this.#watch.take(message)) return
    if (message.type === 'error') this.#options.onProblem?.(problemOf(message))
  }

  #closed(why: ApiError): void {
    this.#whenOpen?.reject(why)
    this.#requests.close(why)
    this.#tools.stop(why.message)
  }
}

function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A queue between a producer and an async iterator. Ending the iteration calls `onStop`. */
class EventQueue<T> implements AsyncIterableIterator<T, void> {
  readonly #onStop: () => void
  #waiting: T[] = []
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(onStop: () => void) {
    this.#onStop = onStop
  }

  push(value: T): void {
    this.#waiting.push(value)
    this.#wake?.()
  }

  end(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<T, void>> {
    while (this.#waiting.length === 0 && !this.#end) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#waiting.length > 0) return { done: false, value: this.#waiting.shift()! }
    const { error } = this.#end!
    this.#end = {}
    if (error !== undefined) throw error
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<T, void>> {
    if (!this.#end) this.#onStop()
    this.#end = {}
    this.#waiting = []
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** The types of events that can be watched over a WebSocket. */
type Watched = Extract<ClientMessage, { type: 'watch' }>['events'][number]

interface Watcher {
  readonly types: ReadonlySet<string>
  readonly listener: (event: ServiceEvent) => void
}

/** The listeners for events of a link. */
class SocketWatch {
  readonly #link: SocketLink
  readonly #watchers = new Set<Watcher>()

  constructor(link: SocketLink) {
    this.#link = link
  }

  add(types: readonly Watched[], listener: (event: ServiceEvent) => void): () => void {
    const watcher = { types: new Set<string>(types), listener }
    this.#watchers.add(watcher)
    this.send()
    return () => {
      if (this.#watchers.delete(watcher)) this.send()
    }
  }

  take(message: LinkMessage): boolean {
    if (message.type !== 'event') return false
    this.#pass(message.event)
    return true
  }

  /** Sends the watched types. */
  send(): void {
    const events = [...new Set([...this.#watchers].flatMap(({ types }) => [...types]))] as Watched[]
    this.#link.send({ type: 'watch', events })
  }

  /** The server has forgotten the session: watches again, and reports missed events. */
  startAnew(): void {
    if (this.#watchers.size === 0) return
    this.send()
    this.#pass({ type: 'reset' })
  }

  #pass(event: ServiceEvent): void {
    for (const { types, listener } of [...this.#watchers]) {
      if (event.type === 'reset' || types.has(event.type)) listener(event)
    }
  }
}
