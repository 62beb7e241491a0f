import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { type Clock, type ProgramEnd, type RunningProgram, ToolError } from '@tool-hub/core'
import { escapeLine, escapeText, LineSplitter } from '@tool-hub/core/lib'
import { MAX_MESSAGE_BYTES, waitUnlessAborted } from './transport.ts'

/** The end of a program's output, for messages. */
export class OutputTail {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(-this.#maxBytes))
    this.#bytes += Math.min(chunk.length, this.#maxBytes)
    while (this.#bytes - this.#chunks[0]!.length >= this.#maxBytes) this.#bytes -= this.#chunks.shift()!.length
    // Many small chunks would cost more than their bytes.
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** The last lines, without control characters for a terminal. */
  lastLines(most: number, maxChars: number): string {
    const text = Buffer.concat(this.#chunks).subarray(-this.#maxBytes).toString('utf8')
    const lines = text.replaceAll(COLOURS, '').replaceAll('\r\n', '\n').trimEnd().split('\n').slice(-most)
    return escapeText(lines.join('\n').slice(-maxChars))
  }
}

/** How much of the program's standard error is kept. */
const MAX_STDERR_BYTES = 65_536
const MAX_CHUNKS = 256

const COLOURS = /\u{1b}\[[0-9;]*m/gu

/** How long a program has for each step of its end: input closed, SIGTERM, SIGKILL; at most a second in all. */
const GRACE_MS = 500
/** How long to wait for the exit of a program after its output ended. */
const MOMENT_MS = 500
const SHOWN_LINES = 10
const SHOWN_CHARS = 1_000
const SHOWN_NOISE_CHARS = 200

/** Options of a program transport. */
export interface ProgramTransportOptions {
  readonly server: string
  readonly program: RunningProgram
  readonly clock: Clock
  readonly parse: (line: string) => JSONRPCMessage
}

/** MCP over the standard input and output of a program: one message per line, each of bounded length. */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Why the transport broke, if it did; pending requests end with it. */
  reason: ToolError | undefined
  /** Together with `stderr`, tells the SDK that silence means an old server and not a broken network. */
  readonly pid: number
  readonly stderr = null
  readonly #server: string
  readonly #program: RunningProgram
  readonly #clock: Clock
  readonly #parse: (line: string) => JSONRPCMessage
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES)
  readonly #tail = new OutputTail(MAX_STDERR_BYTES)
  readonly #stderrEnd: Promise<unknown>
  #stdoutEnd: Promise<unknown> = Promise.resolve()
  #noise = ''
  #isClosed = false
  /** The program has stopped talking, and has ended or soon will. */
  #isOver = false
  readonly #received: JSONRPCMessage[] = []
  #isDelivering = false

  constructor({ server, program, clock, parse }: ProgramTransportOptions) {
    this.pid = program.pid
    this.#server = server
    this.#clock = clock
    this.#program = program
    this.#parse = parse
    // Read from the start: a full pipe would block the program, and its last output explains why it ended.
    program.stderr.on('data', (chunk: Buffer) => this.#tail.add(chunk))
    this.#stderrEnd = new Promise((resolve) => program.stderr.once('close', resolve).once('end', resolve))
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.#program
    // The program has ended or closed its input; the write that fails reports it.
    stdin.on('error', () => {})
    stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#stdoutEnd = new Promise<void>((resolve) => stdout.once('close', resolve).once('end', resolve))
    void this.#stdoutEnd.then(async () => {
      this.#isOver = true
      this.#finish(await this.#whyOver())
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return Promise.reject(this.reason ?? this.#failed('was closed'))
    return new Promise((resolve, reject) => {
      this.#program.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (!error) return resolve()
        this.#isOver = true
        reject(this.reason ?? this.#failed('does not take any more input'))
      })
    })
  }

  /** Ends the program, whatever it does. */
  async close(): Promise<void> {
    if (this.#isOver) this.reason ??= await this.#whyOver()
    await this.#program.stop({ graceMs: GRACE_MS })
    this.#finish(undefined)
  }

  /** Output of the program that is not MCP, and its standard error, for messages. */
  describeOutput(): string {
    const tail = this.#tail.lastLines(SHOWN_LINES, SHOWN_CHARS)
    const said = tail === '' ? '' : ` It said: ${tail}`
    return this.#noise === '' ? said : ` It wrote what is no MCP: ${this.#noise}.${said}`
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return
    try {
      for (const line of this.#lines.push(chunk)) this.#receive(line)
      void this.#deliver()
    } catch (error) {
      const why =
        error instanceof RangeError ? `wrote more than a message may have: ${error.message}` : 'cannot be read'
      this.#finish(this.#failed(why))
    }
  }

  #receive(line: string): void {
    if (line.trim() === '' || this.#isClosed) return
    let message: JSONRPCMessage
    try {
      message = this.#parse(line)
    } catch (error) {
      // Many servers print log lines on standard output; the last one explains a server that does not answer.
      this.#noise = JSON.stringify(escapeLine(line.slice(0, SHOWN_NOISE_CHARS)))
      this.onerror?.(error as Error)
      return
    }
    this.#noise = ''
    this.#received.push(message)
  }

  /**
   * The SDK delivers notifications slightly later than answers: without a pause the last progress of a call would be
   * lost.
   */
  async #deliver(): Promise<void> {
    if (this.#isDelivering) return
    this.#isDelivering = true
    for (let message = this.#received.shift(); message; message = this.#received.shift()) {
      this.onmessage?.(message)
      if (this.#received.length > 0 && !('id' in message)) await undefined
    }
    this.#isDelivering = false
  }

  /** Most programs end with their output; their exit code and last output explain more. */
  async #whyOver(): Promise<ToolError> {
    const moment = waitUnlessAborted(MOMENT_MS, this.#clock)
    const end = await Promise.race([this.#program.ended, moment])
    await Promise.race([Promise.all([this.#stderrEnd, this.#stdoutEnd]), moment])
    return end ? this.#endedWith(end) : this.#failed('closed its output')
  }

  #finish(reason: ToolError | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.reason ??= reason
    void this.#program.stop({ graceMs: GRACE_MS })
    this.onclose?.()
  }

  #endedWith({ code, signal }: ProgramEnd): ToolError {
    return this.#failed(signal ? `was ended by ${signal}` : `ended with exit code ${code}`)
  }

  #failed(what: string): ToolError {
    return new ToolError('UPSTREAM_ERROR', `${this.#server} ${what}.${this.describeOutput()}`, {
      hint: `It is started again by itself; look at it with: tool-hub mcp test ${this.#server}.`,
    })
  }
}
