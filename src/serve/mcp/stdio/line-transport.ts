import type { Readable } from 'node:stream'
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server'
import { LineSplitter } from '../../../value/line-splitter.ts'

/** What a transport of lines is made of. */
export interface LineTransportOptions {
  readonly input: Readable
  /** Writes one line; calls back when it is out, or cannot be. */
  readonly write: (line: string, done: (error?: Error | null) => void) => void
  readonly maxBytes: number
}

/**
 * MCP in lines of JSON, each way. Messages are checked by the SDK, but for those that somebody takes first: a call of a
 * tool is checked by the one who makes it, and to check it twice would be a noticeable part of its time.
 */
export class LineTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** Says whether it takes a message, which nobody has checked. */
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

  /** Lets go of its input; what is under way is stopped by those who hear of it. */
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
      for (const line of this.#lines.push(chunk)) this.#hear(line)
    } catch (error) {
      // A line without an end: what follows cannot be told apart any more.
      this.#fail(error as Error)
      void this.close()
    }
  }

  readonly #fail = (error: Error): void => this.onerror?.(error)

  readonly #end = (): void => void this.close()

  #hear(line: string): void {
    if (line === '' || this.#isClosed) return
    try {
      if (!this.take(JSON.parse(line))) this.onmessage?.(deserializeMessage(line))
    } catch (error) {
      this.#fail(error as Error)
    }
  }
}
