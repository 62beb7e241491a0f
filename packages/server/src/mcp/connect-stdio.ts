import process from 'node:process'
import type { Readable } from 'node:stream'
import {
  deserializeMessage,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { isPlainObject, LineSplitter } from '@tool-hub/core/lib'
import { callLegacy, parseCall } from './call/call-tool.ts'
import type { OngoingCall } from './call/ongoing-call.ts'
import { ClientSession } from './client-session.ts'
import { type ClientView, type Connection, viewClient } from './connection.ts'
import { connectServer } from './make-server.ts'
import { McpService } from './mcp-service.ts'
import type { McpStdioOptions, McpStdioServer, ServedHub } from './options.ts'

const CONSOLE_METHODS = ['log', 'info', 'debug'] as const

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** Connects a hub to a client on standard input and output: one session, with its run, until the client disconnects. */
export function connectStdio(hub: ServedHub, options: McpStdioOptions): McpStdioServer {
  const service = new McpService(hub, options)
  const session = new ClientSession(service)
  const own = options.stdout ? undefined : ownStdout()
  const { stdin = process.stdin, stdout } = options
  const transport = new LineTransport({
    input: stdin,
    write: own?.write ?? ((line, done) => void stdout?.write(line, done)),
    maxBytes: MAX_MESSAGE_BYTES,
  })
  let calls: StdioCalls | undefined
  const handle = serveStdio(
    ({ era }) => {
      const connection = connectServer(session, era)
      const { server } = connection
      // Extras may replace the handler of calls.
      if (era === 'legacy' && !options.extras) {
        const own = new StdioCalls(connection, (message) => void transport.send(message as never).catch(service.report))
        transport.take = (message) => own.take(message)
        calls = own
      }
      server.onclose = service.connected(server, session)
      return server
    },
    { transport, onerror: service.report },
  )
  const closed = new Promise<void>((resolve, reject) => {
    const closeServers = transport.onclose
    transport.onclose = () => {
      closeServers?.()
      calls?.close()
      service.close()
      session
        .end()
        .finally(() => own?.release())
        .then(resolve, reject)
    }
  })
  // An error is reported only to those who await it.
  closed.catch(() => {})
  return {
    closed,
    async close() {
      await handle.close()
      await closed
    },
  }
}

/** Exclusive use of standard output. */
interface OwnStdout {
  /** Calls back when the text is written, or with an error. */
  readonly write: (text: string, done: (error?: Error | null) => void) => void
  /** Ends the exclusive use. */
  release(): void
}

/**
 * Takes the standard output of the process: anything else that is written there, with `console` or directly, goes to
 * stderr, where it cannot be taken for a message.
 */
function ownStdout(): OwnStdout {
  const { stdout } = process
  const write = stdout.write
  const methods = CONSOLE_METHODS.map((name) => [name, console[name]] as const)
  // The writer gets the error; without a listener it would end the process.
  const fail = () => {}
  stdout.on('error', fail)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  for (const name of CONSOLE_METHODS) console[name] = (...values) => console.error(...values)
  return {
    write: (text, done) => void write.call(stdout, text, 'utf8', done),
    release() {
      stdout.off('error', fail)
      stdout.write = write
      for (const [name, method] of methods) console[name] = method
    },
  }
}

/** Options of `LineTransport`. */
interface LineTransportOptions {
  readonly input: Readable
  /** Writes one line; calls back when it is written, or with an error. */
  readonly write: (line: string, done: (error?: Error | null) => void) => void
  readonly maxBytes: number
}

/** MCP as lines of JSON. The SDK validates messages, except those that `take` accepts. */
class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Returns whether it handles a message, which is not validated yet. */
  take: (message: unknown) => boolean = () => false
  readonly #options: LineTransportOptions
  readonly #lines: LineSplitter
  #isClosed = false

  constructor(options: LineTransportOptions) {
    this.#options = options
    this.#lines = new LineSplitter(options.maxBytes)
  }

  async start(): Promise<void> {
    const { input } = this.#options
    input.on('data', this.#read)
    input.on('error', this.#fail)
    input.once('end', this.#end).once('close', this.#end)
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#options.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** Stops reading; the listeners of `onclose` abort what is in progress. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const { input } = this.#options
    input.off('data', this.#read).off('error', this.#fail).off('end', this.#end).off('close', this.#end)
    input.pause()
    this.onclose?.()
  }

  readonly #read = (chunk: Buffer): void => {
    try {
      for (const line of this.#lines.push(chunk)) this.#readLine(line)
    } catch (error) {
      // A line exceeds the limit, so the following messages cannot be separated.
      this.#fail(error as Error)
      void this.close()
    }
  }

  readonly #fail = (error: Error): void => this.onerror?.(error)

  readonly #end = (): void => void this.close()

  #readLine(line: string): void {
    if (line === '' || this.#isClosed) return
    try {
      if (!this.take(JSON.parse(line))) this.onmessage?.(deserializeMessage(line))
    } catch (error) {
      this.#fail(error as Error)
    }
  }
}

interface StdioCall {
  readonly id: RequestId
  readonly params: unknown
  /** The call, once it has started. */
  ongoing?: OngoingCall
  isCancelled: boolean
}

/**
 * Answers every `tools/call` of a client of the legacy era on stdio, past the SDK, whose validation and bookkeeping take
 * longer than the pipeline of the hub: without it the bench row mcp-stdio loses 34 % (268 us a call instead of 200 us, in
 * the same run). The parameters are parsed here, once. Messages that are not valid JSON-RPC, and calls before the client
 * has initialized the connection, are left to the SDK.
 */
class StdioCalls {
  readonly #connection: Connection
  readonly #send: (message: object) => void
  readonly #context: ServerContext
  /** Not by signals: one for each call, and a context with it, took 6 of 93 us of processor time. */
  readonly #inProgress = new Map<RequestId, StdioCall>()
  #client: ClientView | undefined

  constructor(connection: Connection, send: (message: object) => void) {
    this.#connection = connection
    this.#send = send
    this.#context = contextOf(connection)
  }

  /** Takes a message that is a call, or that cancels one; returns whether it was one. */
  take(message: unknown): boolean {
    if (!isPlainObject(message) || message.jsonrpc !== '2.0') return false
    if (message.method === 'notifications/cancelled') return this.#cancel(message.params)
    const call = this.#readCall(message)
    if (!call) return false
    void this.#answer(call)
    return true
  }

  /** Aborts the calls in progress, because the client has disconnected. */
  close(): void {
    for (const call of this.#inProgress.values()) cancel(call, 'The client is gone.')
  }

  #readCall({ method, id, params }: Readonly<Record<string, unknown>>): StdioCall | undefined {
    if (method !== 'tools/call' || !isRequestId(id)) return undefined
    if (params !== undefined && !isPlainObject(params)) return undefined
    return this.#connection.server.getClientVersion() === undefined ? undefined : { id, params, isCancelled: false }
  }

  #cancel(params: unknown): boolean {
    const call = isPlainObject(params) ? this.#inProgress.get(params.requestId as RequestId) : undefined
    const { reason } = isPlainObject(params) ? params : {}
    if (call) cancel(call, `The client cancelled the call: ${String(reason ?? 'no reason given')}`)
    return call !== undefined
  }

  async #answer(call: StdioCall): Promise<void> {
    const { id } = call
    this.#inProgress.set(id, call)
    let answer: object
    try {
      const connection = this.#connection
      // Known from the handshake, which precedes every call.
      this.#client ??= viewClient(connection, this.#context)
      const request = { connection, client: this.#client, params: parseCall(call.params), context: this.#context }
      const follow = (ongoing: OngoingCall) => {
        call.ongoing = ongoing
        return undefined
      }
      answer = { jsonrpc: '2.0', id, result: await callLegacy(request, follow) }
    } catch (error) {
      answer = { jsonrpc: '2.0', id, error: toRpcError(error) }
    }
    if (this.#inProgress.get(id) === call) this.#inProgress.delete(id)
    // A call that was cancelled gets no response.
    if (!call.isCancelled) this.#send(answer)
  }
}

function cancel(call: StdioCall, why: string): void {
  call.isCancelled = true
  call.ongoing?.cancel(new Error(why))
}

/** The SDK reports any other id. */
function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isSafeInteger(id)
}

/** The part of the context that a call of the legacy era uses: the way to the client. */
function contextOf({ server }: Connection): ServerContext {
  const send: (...args: Parameters<ServerContext['mcpReq']['send']>) => unknown = ({ params }, options) =>
    server.elicitInput(params as never, options as never)
  const notify: ServerContext['mcpReq']['notify'] = (notification) => server.notification(notification)
  return { mcpReq: { send, notify } as ServerContext['mcpReq'] } as ServerContext
}

function toRpcError(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error
    return { code, message, data }
  }
  return { code: ProtocolErrorCode.InternalError, message: 'Internal error' }
}
