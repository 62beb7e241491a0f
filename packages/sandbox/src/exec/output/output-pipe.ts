import type { Readable } from 'node:stream'
import type { Clock } from '@tool-hub/core'
import type { StreamRedactor } from '../command-call.ts'
import type { KeptOutput, StreamName } from './kept-output.ts'
import { CODE_BYTES, lastDrawn, stripCodes, unfinishedBytes, unfinishedCode } from './output-text.ts'

/** Where bytes come from and go to. */
export interface OutputPipeOptions {
  readonly stdout: Readable
  readonly stderr: Readable
  readonly redact: () => StreamRedactor
  readonly kept: KeptOutput
  readonly live: LiveOutput
  readonly clock: Clock
  /** How much a command may write. */
  readonly maxBytes: number
  /** Called once, when the command has written more than that. */
  readonly onTooMuch: () => void
  /** Called with the original output, including secrets. */
  readonly onBytes: (bytes: Buffer) => void
  /** Called when there is more output for readers. */
  readonly onMore: () => void
}

/** One of the two streams, and its incomplete last character. */
interface Source {
  readonly name: StreamName
  readonly stream: Readable
  readonly redactor: StreamRedactor
  held: Buffer
  isDone: boolean
}

const QUIET_MS = 100
const MAX_QUIET_CHECKS = 5
const NOTHING = Buffer.alloc(0)

/** Passes a command's output, without secrets and in complete characters, to the kept output and to listeners. */
export class OutputPipe {
  readonly #options: OutputPipeOptions
  readonly #sources: readonly Source[]
  #bytes = 0
  /** `full`: the command has written more than it may, and the rest is dropped. */
  #state: 'open' | 'full' | 'closed' = 'open'
  /** How many writes to the file are still pending. */
  #pauses = 0
  #onDone: (() => void) | undefined
  #receivedAt = 0
  #cancelFlush: (() => void) | undefined

  constructor(options: OutputPipeOptions) {
    this.#options = options
    const source = (name: StreamName): Source => ({
      name,
      stream: options[name],
      redactor: options.redact(),
      held: NOTHING,
      isDone: false,
    })
    this.#sources = [source('stdout'), source('stderr')]
    for (const from of this.#sources) this.#listen(from)
  }

  /** How many bytes the command has written. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Reads what is still in the pipes of a command that has ended: to their end, or until they are silent for a moment,
   * as a process that it left behind may hold them forever. Nothing follows except the reason of its end, if any.
   */
  async drain(reason?: string): Promise<void> {
    let seen = this.#bytes
    for (let checks = 0; checks < MAX_QUIET_CHECKS && !this.#isDone(); ) {
      await this.#doneWithin(QUIET_MS)
      if (this.#pauses > 0) continue
      if (this.#bytes === seen) break
      seen = this.#bytes
      checks += 1
    }
    this.#close(reason)
    while (this.#pauses > 0) await this.#doneWithin(QUIET_MS)
  }

  #listen(from: Source): void {
    const { stream } = from
    const done = () => {
      from.isDone = true
      if (this.#isDone()) this.#onDone?.()
    }
    stream.on('data', (chunk: Buffer) => this.#receive(chunk, from))
    // A terminal whose other side is gone ends with an error, and so does a pipe that we closed.
    stream.on('error', done)
    stream.on('end', done)
    stream.on('close', done)
  }

  #receive(chunk: Buffer, from: Source): void {
    if (this.#state !== 'open') return
    const { maxBytes, onBytes, onTooMuch } = this.#options
    const room = maxBytes - this.#bytes
    const isTooMuch = chunk.length > room
    if (isTooMuch) this.#state = 'full'
    const bytes = isTooMuch ? chunk.subarray(0, room) : chunk
    this.#bytes += bytes.length
    onBytes(bytes)
    this.#characters(toBuffer(from.redactor.push(bytes)), from)
    if (isTooMuch) onTooMuch()
    this.#receivedAt = this.#options.clock.now()
    if (from.redactor.flush) this.#flushLater(QUIET_MS)
  }

  /** Held-back bytes are released when no output follows: a prompt waits for an answer, not for more of itself. */
  #flushLater(ms: number): void {
    this.#cancelFlush ??= this.#options.clock.after(ms, () => this.#flush(), { background: true })
  }

  #flush(): void {
    this.#cancelFlush = undefined
    if (this.#state === 'closed') return
    const left = this.#receivedAt + QUIET_MS - this.#options.clock.now()
    if (left > 0) {
      this.#flushLater(left)
      return
    }
    for (const from of this.#sources) {
      const waiting = from.redactor.flush?.()
      if (waiting) this.#characters(toBuffer(waiting), from)
    }
  }

  /** A character that arrives in parts must not have the other stream's bytes in its middle. */
  #characters(bytes: Buffer, from: Source): void {
    if (bytes.length === 0) return
    const all = from.held.length === 0 ? bytes : this.#completed(bytes, from)
    const unfinished = unfinishedBytes(all)
    from.held = unfinished === 0 ? NOTHING : Buffer.from(all.subarray(all.length - unfinished))
    if (all.length > unfinished) this.#forward(unfinished === 0 ? all : all.subarray(0, -unfinished), from.name)
  }

  /** Passes the held beginning on with the few bytes that complete it, so that a large chunk is not copied. */
  #completed(bytes: Buffer, from: Source): Buffer {
    const beginning = Buffer.concat([from.held, bytes.subarray(0, 3)])
    if (bytes.length <= 3) return beginning
    const unfinished = unfinishedBytes(beginning)
    const whole = beginning.length - unfinished
    this.#forward(beginning.subarray(0, whole), from.name)
    return bytes.subarray(whole - from.held.length)
  }

  #forward(bytes: Buffer, name: StreamName): void {
    const { kept, live, onMore } = this.#options
    live.push(bytes, name)
    const waiting = kept.take(bytes, name)
    if (waiting) this.#pauseFor(waiting)
    onMore()
  }

  #pauseFor(waiting: Promise<void>): void {
    this.#pauses += 1
    for (const { stream } of this.#sources) stream.pause()
    void waiting.then(() => {
      this.#pauses -= 1
      if (this.#pauses > 0) return
      if (this.#state === 'closed') this.#onDone?.()
      for (const { stream } of this.#sources) stream.resume()
    })
  }

  /** Adds why the command was ended to its standard error. */
  #appendReason(why: string): void {
    this.#forward(Buffer.from(`\n[tool-hub: this command was ended: ${why}]\n`), 'stderr')
  }

  #isDone(): boolean {
    return this.#sources.every(({ isDone }) => isDone)
  }

  #doneWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        cancel()
        this.#onDone = undefined
        resolve()
      }
      // After a long pause of this process the timer is due before the data is read; this restores the order.
      const cancel = this.#options.clock.after(ms, () => setImmediate(settle))
      this.#onDone = settle
    })
  }

  #close(reason?: string): void {
    if (this.#state === 'closed') return
    this.#cancelFlush?.()
    for (const from of this.#sources) {
      this.#characters(toBuffer(from.redactor.end()), from)
      if (from.held.length > 0) this.#forward(from.held, from.name)
      from.held = NOTHING
    }
    if (this.#state === 'full') this.#appendReason(`it wrote more than ${this.#options.maxBytes} bytes, the limit`)
    if (reason) this.#appendReason(reason)
    this.#state = 'closed'
    for (const { stream } of this.#sources) stream.destroy()
    this.#options.live.end()
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Receives output of a command. */
export type OutputListener = (text: string, stream: StreamName) => void

const EVERY_MS = 50
const MAX_WAITING = 256 * 1024
const MAX_UNDELIVERED = 64 * 1024
const MAX_TURNS = 32

/** The state of one stream. */
interface LiveStream {
  /** The beginning of a terminal code that is held back. */
  held: string
  /** The last character was a carriage return: the next one decides whether a line ends or is overwritten. */
  isReturned: boolean
  /** The listeners have received the beginning of the current line. */
  isMidLine: boolean
}

/**
 * Passes output to listeners, at most 20 times a second unless more than 256 KB wait. Joined and drawn line by line, what
 * they receive is the plain text of all output: a line that overwrites another begins with a carriage return.
 */
export class LiveOutput {
  readonly #clock: Clock
  readonly #listeners = new Set<OutputListener>()
  readonly #streams: Record<StreamName, LiveStream> = { stdout: newStream(), stderr: newStream() }
  #waiting: { text: string; stream: StreamName }[] = []
  #waitingLength = 0
  #deliveredAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Somebody listens or has listened, or there was too much output before anybody did. */
  #isDecided = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The first listener also receives earlier output, unless there was too much. Returns a function that ends the listening. */
  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener)
    this.#isDecided = true
    if (this.#waiting.length > 0) this.#schedule()
    return () => this.#listeners.delete(listener)
  }

  /** Adds bytes that begin and end with complete characters. */
  push(bytes: Buffer, stream: StreamName): void {
    if (this.#listeners.size === 0 && this.#isDecided) return
    this.#take(bytes, stream)
    if (this.#listeners.size > 0) this.#schedule()
    else if (this.#waitingLength > MAX_UNDELIVERED) this.#ignore()
  }

  /** Delivers everything that waits; no output may follow. */
  end(): void {
    for (const name of ['stdout', 'stderr'] as const) {
      this.#append(stripCodes(this.#streams[name].held), name)
      this.#streams[name].held = ''
    }
    this.#deliver()
  }

  #take(bytes: Buffer, stream: StreamName): void {
    const state = this.#streams[stream]
    const text = bytes.toString('utf8')
    // Most output has none: searching for a byte takes a tenth of the time of searching for a code.
    const hasCodes = state.held !== '' || CODE_BYTES.some((byte) => bytes.includes(byte))
    this.#append(hasCodes ? withoutCodes(text, state) : text, stream)
  }

  #append(text: string, stream: StreamName): void {
    if (text === '') return
    this.#waitingLength += text.length
    const last = this.#waiting.at(-1)
    // Two streams that alternate all the time are delivered stream by stream, not turn by turn.
    const entry = last?.stream === stream ? last : this.#earlierTurn(stream)
    if (entry) entry.text += text
    else this.#waiting.push({ text, stream })
  }

  #earlierTurn(stream: StreamName) {
    return this.#waiting.length < MAX_TURNS ? undefined : this.#waiting.findLast((turn) => turn.stream === stream)
  }

  #schedule(): void {
    const left = this.#deliveredAt + EVERY_MS - this.#clock.now()
    if (left <= 0 || this.#waitingLength > MAX_WAITING) this.#deliver()
    else this.#cancelTimer ??= this.#clock.after(left, () => this.#deliver(), { background: true })
  }

  #deliver(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const turns = this.#waiting
    this.#forgetWaiting()
    if (this.#listeners.size === 0) return
    this.#deliveredAt = this.#clock.now()
    for (const { text, stream } of turns) this.#deliverOne(this.#drawn(text, stream), stream)
  }

  #deliverOne(text: string, stream: StreamName): void {
    if (text === '') return
    for (const listener of this.#listeners) {
      try {
        listener(text, stream)
      } catch {
        // A failing listener must not end the command or affect other listeners: it is removed.
        this.#listeners.delete(listener)
      }
    }
  }

  /** Applies overwritten lines where that is still possible, and passes a carriage return where it is not. */
  #drawn(delivered: string, stream: StreamName): string {
    const state = this.#streams[stream]
    const text = state.isReturned ? `\r${delivered}` : delivered
    state.isReturned = text.endsWith('\r')
    if (!text.includes('\r')) {
      state.isMidLine = !text.endsWith('\n')
      return text
    }
    const lines = text.split('\n')
    const drawn = lines.map(lastDrawn)
    if (state.isMidLine && drawn[0] !== '' && isDrawnOver(lines[0]!)) drawn[0] = `\r${drawn[0]}`
    state.isMidLine = drawn.at(-1) !== '' || (lines.length === 1 && state.isMidLine)
    return drawn.join('\n')
  }

  #ignore(): void {
    this.#isDecided = true
    this.#forgetWaiting()
  }

  #forgetWaiting(): void {
    this.#waiting = []
    this.#waitingLength = 0
  }
}

function withoutCodes(text: string, state: LiveStream): string {
  const all = state.held + text
  const length = unfinishedCode(all)
  state.held = length === 0 ? '' : all.slice(-length)
  return stripCodes(length === 0 ? all : all.slice(0, -length))
}

/** Whether its last state does not continue the text before it. */
function isDrawnOver(line: string): boolean {
  return /\r[^\r]/.test(line)
}

function newStream(): LiveStream {
  return { held: '', isReturned: false, isMidLine: false }
}
