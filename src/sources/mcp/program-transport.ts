import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { type Clock, type ProgramEnd, type RunningProgram, ToolError } from '../../core/index.ts'
import { escapeLine, escapeText, LineSplitter } from '../../lib/index.ts'
import { MAX_MESSAGE_BYTES, waitUnlessAborted } from './transport.ts'

/** The last of what a program wrote, for messages about it. */
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
    // Many small pieces would cost more than their bytes.
    if (this.#chunks.length > MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)]
  }

  /** Its last lines, with nothing that could drive a terminal. */
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

/** How long a program has for each step of its end: its input closed, SIGTERM, SIGKILL; a second in all. */
const GRACE_MS = 500
/** Between the end of its output and its own. */
const MOMENT_MS = 500
const SHOWN_LINES = 10
const SHOWN_CHARS = 1_000
const SHOWN_NOISE_CHARS = 200

/** What it talks to. */
export interface ProgramTransportOptions {
  readonly server: string
  readonly program: RunningProgram
  readonly clock: Clock
  readonly parse: (line: string) => JSONRPCMessage
}

/** MCP over the standard input and output of a program: a message a line, each of bounded length. */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  /** Why it broke, if it did; what waits for an answer ends with it. */
  reason: ToolError | undefined
  /** Beside `stderr`, by this the SDK knows that silence means an old server and not a network that is down. */
  readonly pid: number
  readonly stderr = null
  readonly #server: string
  readonly #program: RunningProgram
  readonly #clock: Clock
  readonly #parse: (line: string) => JSONRPCMessage
  readonly #lines = new LineSplitter(MAX_MESSAGE_BYTES)
  readonly #tail = new OutputTail(MAX_STDERR_BYTES)
  readonly #allSaid: Promise<unknown>
  #allRead: Promise<unknown> = Promise.resolve()
  #noise = ''
  #isClosed = false
  /** It does not talk any more, and has ended or soon will. */
  #isOver = false
  readonly #heard: JSONRPCMessage[] = []
  #isTelling = false

  constructor({ server, program, clock, parse }: ProgramTransportOptions) {
    this.pid = program.pid
    this.#server = server
    this.#clock = clock
    this.#program = program
    this.#parse = parse
    // From the first moment on: a full pipe would stop it, and what it says before it ends tells why.
    program.stderr.on('data', (chunk: Buffer) => this.#tail.add(chunk))
    this.#allSaid = new Promise((resolve) => program.stderr.once('close', resolve).once('end', resolve))
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.#program
    // The program has ended or has closed its input; the write that fails reports it.
    stdin.on('error', () => {})
    stdout.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#allRead = new Promise<void>((resolve) => stdout.once('close', resolve).once('end', resolve))
    void this.#allRead.then(async () => {
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

  /** What it wrote that is no MCP, and what it said about itself, for messages. */
  describeOutput(): string {
    const tail = this.#tail.lastLines(SHOWN_LINES, SHOWN_CHARS)
    const said = tail === '' ? '' : ` It said: ${tail}`
    return this.#noise === '' ? said : ` It wrote what is no MCP: ${this.#noise}.${said}`
  }

  #read(chunk: Buffer): void {
    if (this.#isClosed) return
    try {
      for (const line of this.#lines.push(chunk)) this.#hear(line)
      void this.#tell()
    } catch (error) {
      const why =
        error instanceof RangeError ? `wrote more than a message may have: ${error.message}` : 'cannot be read'
      this.#finish(this.#failed(why))
    }
  }

  #hear(line: string): void {
    if (line.trim() === '' || this.#isClosed) return
    let message: JSONRPCMessage
    try {
      message = this.#parse(line)
    } catch (error) {
      // Many servers print what belongs on standard error; the last of it explains a server that does not answer.
      this.#noise = JSON.stringify(escapeLine(line.slice(0, SHOWN_NOISE_CHARS)))
      this.onerror?.(error as Error)
      return
    }
    this.#noise = ''
    this.#heard.push(message)
  }

  /** The SDK hears notifications a little later than answers: without a pause the last progress of a call would be lost. */
  async #tell(): Promise<void> {
    if (this.#isTelling) return
    this.#isTelling = true
    for (let message = this.#heard.shift(); message; message = this.#heard.shift()) {
      this.onmessage?.(message)
      if (this.#heard.length > 0 && !('id' in message)) await undefined
    }
    this.#isTelling = false
  }

  /** Most end with their output; what they ended with, and what they said at last, says more. */
  async #whyOver(): Promise<ToolError> {
    const moment = waitUnlessAborted(MOMENT_MS, this.#clock)
    const end = await Promise.race([this.#program.ended, moment])
    await Promise.race([Promise.all([this.#allSaid, this.#allRead]), moment])
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
