import type { Clock } from '../../../clock.ts'
import { CODE_BYTES, lastDrawn, stripCodes, unfinishedCode } from './plain-text.ts'

/** Which of the two a command wrote to. */
export type StreamName = 'stdout' | 'stderr'

/** Hears text of a command. */
export type OutputListener = (text: string, stream: StreamName) => void

const EVERY_MS = 50
const MOST_WAITING = 256 * 1024
const MOST_UNHEARD = 64 * 1024
const MOST_TURNS = 32

/** What one stream still holds back. */
interface LiveStream {
  /** The beginning of a terminal code. */
  held: string
  /** The last character was a carriage return: what follows shows whether a line ends or is drawn over. */
  isReturned: boolean
  /** The listeners have heard the beginning of the present line. */
  isMidLine: boolean
}

/**
 * Tells listeners what comes, at most 20 times a second unless more than 256 KB wait. Joined and drawn line by line,
 * what they hear is the plain text of all output: a line that is drawn over begins with a carriage return.
 */
export class LiveOutput {
  readonly #clock: Clock
  readonly #listeners = new Set<OutputListener>()
  readonly #streams: Record<StreamName, LiveStream> = { stdout: newStream(), stderr: newStream() }
  #waiting: { text: string; stream: StreamName }[] = []
  #waitingLength = 0
  #toldAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Somebody listens or has listened, or so much came before that nobody will. */
  #isDecided = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The first listener also hears what came before it, unless that was much. Gives back how to end it. */
  listen(listener: OutputListener): () => void {
    this.#listeners.add(listener)
    this.#isDecided = true
    if (this.#waiting.length > 0) this.#schedule()
    return () => this.#listeners.delete(listener)
  }

  /** Takes bytes that begin and end with whole characters. */
  push(bytes: Buffer, stream: StreamName): void {
    if (this.#listeners.size === 0 && this.#isDecided) return
    this.#take(bytes, stream)
    if (this.#listeners.size > 0) this.#schedule()
    else if (this.#waitingLength > MOST_UNHEARD) this.#ignore()
  }

  /** Tells all that waits; nothing comes after it. */
  end(): void {
    for (const name of ['stdout', 'stderr'] as const) {
      this.#append(stripCodes(this.#streams[name].held), name)
      this.#streams[name].held = ''
    }
    this.#tell()
  }

  #take(bytes: Buffer, stream: StreamName): void {
    const state = this.#streams[stream]
    const text = bytes.toString('utf8')
    // Most output has none: looking for a byte takes a tenth of the time that looking for a code does.
    const hasCodes = state.held !== '' || CODE_BYTES.some((byte) => bytes.includes(byte))
    this.#append(hasCodes ? withoutCodes(text, state) : text, stream)
  }

  #append(text: string, stream: StreamName): void {
    if (text === '') return
    this.#waitingLength += text.length
    const last = this.#waiting.at(-1)
    // Two streams that take turns all the time are told stream by stream, not turn by turn.
    const place = last?.stream === stream ? last : this.#crowded(stream)
    if (place) place.text += text
    else this.#waiting.push({ text, stream })
  }

  #crowded(stream: StreamName) {
    return this.#waiting.length < MOST_TURNS ? undefined : this.#waiting.findLast((turn) => turn.stream === stream)
  }

  #schedule(): void {
    const left = this.#toldAt + EVERY_MS - this.#clock.now()
    if (left <= 0 || this.#waitingLength > MOST_WAITING) this.#tell()
    else this.#cancelTimer ??= this.#clock.after(left, () => this.#tell(), { background: true })
  }

  #tell(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const turns = this.#waiting
    this.#forgetWaiting()
    if (this.#listeners.size === 0) return
    this.#toldAt = this.#clock.now()
    for (const { text, stream } of turns) this.#tellOne(this.#drawn(text, stream), stream)
  }

  #tellOne(text: string, stream: StreamName): void {
    if (text === '') return
    for (const listener of this.#listeners) {
      try {
        listener(text, stream)
      } catch {
        // Whoever listens must not end the command, nor keep others from hearing: it hears no more.
        this.#listeners.delete(listener)
      }
    }
  }

  /** Draws lines over where that can still be done, and says with a carriage return where it cannot. */
  #drawn(told: string, stream: StreamName): string {
    const state = this.#streams[stream]
    const text = state.isReturned ? `\r${told}` : told
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

/** Its last state does not go on after what stood there before. */
function isDrawnOver(line: string): boolean {
  return /\r[^\r]/.test(line)
}

function newStream(): LiveStream {
  return { held: '', isReturned: false, isMidLine: false }
}
