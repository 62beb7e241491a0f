import process from 'node:process'
import type { Readable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { LineSplitter } from '@tool-hub/core/lib'
import { connectServer } from './make-server.ts'
import { McpService } from './mcp-service.ts'
import type { McpStdioOptions, ServedHub } from './options.ts'
import type { McpStdioServer } from './serve.ts'
import { StdioCalls } from './stdio-calls.ts'

const CONSOLE_METHODS = ['log', 'info', 'debug'] as const

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** Connects a hub to a client on standard input and output: one session, with its run, until the client disconnects. */
export function connectStdio(hub: ServedHub, options: McpStdioOptions): McpStdioServer {
  const service = new McpService(hub, options)
  const session = service.openSession()
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
