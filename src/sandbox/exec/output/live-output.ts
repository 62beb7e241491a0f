import type { Clock } from '../../../core/index.ts'
import { CODE_BYTES, lastDrawn, stripCodes, unfinishedCode } from './output-text.ts'

/** One of the two output streams of a command. */
export type StreamName = 'stdout' | 'stderr'

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
