import { largeChars, type WorkerAnswer, type WorkerCall } from './messages.ts'
import type { ScriptAnswer, ScriptCallControl, ScriptRun } from './types.ts'

/**
 * Large answers wait here until the worker has read others: a worker whose heap is exhausted by one message ends the
 * whole process, not only itself.
 */
const MAX_UNREAD_CHARS = 8 * 1024 * 1024

/** The calls of one script: passes them to the host, and the answers back in the order in which they come. */
export class ScriptCalls {
  readonly #script: ScriptRun
  readonly #tools: ReadonlySet<string>
  readonly #inFlight = new Map<CallInFlight, Promise<void>>()
  readonly #clock = new WallClock()
  #answers: WorkerAnswer[] = []
  #send: (answers: readonly WorkerAnswer[]) => void = () => undefined
  #unreadChars = 0
  #hasFailed = false
  /** How many calls were made. */
  count = 0

  constructor(script: ScriptRun) {
    this.#script = script
    this.#tools = new Set(script.tools)
  }

  /** The script starts: it has a worker. */
  startClock(): void {
    this.#clock.resume()
  }

  /** The wall time of the script since its start, without its pauses. */
  get elapsedMs(): number {
    return this.#clock.elapsedMs
  }

  answerTo(send: (answers: readonly WorkerAnswer[]) => void): void {
    this.#send = send
  }

  /** The worker has read so much of the large answers. */
  read(chars: number): void {
    this.#unreadChars -= chars
    this.#sendAnswers()
  }

  make(call: WorkerCall): void {
    this.count++
    // Nobody has to decide about the call of a script that has failed.
    const control = new CallInFlight(this.#clock, () => this.#hasFailed)
    this.#inFlight.set(control, this.#make(call, control))
  }

  /** Aborts what is in flight. */
  abort(): void {
    for (const control of this.#inFlight.keys()) control.abort()
  }

  /** The script has failed: what waits for people is aborted, everything else finishes. */
  endWaiting(): void {
    this.#hasFailed = true
    for (const control of this.#inFlight.keys()) if (control.isPaused) control.abort()
  }

  /** Waits until no call is in flight. Returns false if the signal aborts first. */
  async settled(signal: AbortSignal): Promise<boolean> {
    if (this.#inFlight.size === 0) return true
    if (signal.aborted) return false
    return new Promise((resolve) => {
      const stop = (): void => resolve(false)
      signal.addEventListener('abort', stop, { once: true })
      void Promise.all(this.#inFlight.values()).then(() => {
        signal.removeEventListener('abort', stop)
        resolve(true)
      })
    })
  }

  async #make(call: WorkerCall, control: CallInFlight): Promise<void> {
    let answer: WorkerAnswer
    try {
      answer = this.#encode(call.seq, await this.#ask(call, control))
    } catch {
      // A host is expected to answer with JSON; what it threw may have paths of this machine.
      const error = { code: 'INTERNAL', message: 'The call failed for a reason that is not known.' }
      answer = { seq: call.seq, isOk: false, json: JSON.stringify(error) }
    }
    control.end()
    this.#inFlight.delete(control)
    this.#answer(answer)
  }

  async #ask({ kind, seq, tool, input, line, column }: WorkerCall, control: ScriptCallControl): Promise<ScriptAnswer> {
    if (kind === 'call' && !this.#tools.has(tool)) throw new Error('The guest made a call that its tools do not have.')
    const name = kind === 'call' ? tool : `$${kind}`
    return this.#script.host.call({ seq, tool: name, input: JSON.parse(input), line, column }, control)
  }

  #encode(seq: number, answer: ScriptAnswer): WorkerAnswer {
    const { limits } = this.#script
    const json = (answer.ok ? JSON.stringify(answer.value) : JSON.stringify(answer.error)) ?? 'null'
    // Text of the answer and its value exist in the guest at the same time.
    if (json.length <= Math.min(limits.memoryBytes / 4, MAX_UNREAD_CHARS)) return { seq, isOk: answer.ok, json }
    const message = `The result has ${json.length} characters, more than the memory of the script has room for.`
    const error = { code: 'OUTPUT_TOO_LARGE', message, hint: 'Ask for less at a time.' }
    return { seq, isOk: false, json: JSON.stringify(error) }
  }

  /** Answers that come in the same turn travel in one message. */
  #answer(answer: WorkerAnswer): void {
    if (this.#answers.push(answer) === 1) queueMicrotask(() => this.#sendAnswers())
  }

  /** Sends what the worker has room for, in order. */
  #sendAnswers(): void {
    let count = 0
    for (const answer of this.#answers) {
      const chars = largeChars(answer)
      if (this.#unreadChars > 0 && this.#unreadChars + chars > MAX_UNREAD_CHARS) break
      this.#unreadChars += chars
      count++
    }
    if (count > 0) this.#send(this.#answers.splice(0, count))
  }
}

/** What the host gets with one call. */
class CallInFlight implements ScriptCallControl {
  readonly #clock: WallClock
  readonly #isPauseUseless: () => boolean
  readonly #pauses = new Set<() => void>()
  /** Made when it is needed: most hosts of short calls never look at it. */
  #controller: AbortController | undefined

  constructor(clock: WallClock, isPauseUseless: () => boolean) {
    this.#clock = clock
    this.#isPauseUseless = isPauseUseless
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0
  }

  pauseClock(): () => void {
    if (this.#isPauseUseless()) this.abort()
    this.#clock.pause()
    const end = (): void => {
      if (this.#pauses.delete(end)) this.#clock.resume()
    }
    this.#pauses.add(end)
    return end
  }

  abort(reason?: unknown): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  end(): void {
    for (const resume of this.#pauses) resume()
  }
}

/** Counts time while nothing pauses it. It is paused until the script has a worker. */
class WallClock {
  readonly #startMs = performance.now()
  #pauses = 1
  #pausedAt = this.#startMs
  #pausedMs = 0

  get elapsedMs(): number {
    const now = this.#pauses > 0 ? this.#pausedAt : performance.now()
    return now - this.#startMs - this.#pausedMs
  }

  pause(): void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now()
  }

  resume(): void {
    if (--this.#pauses === 0) this.#pausedMs += performance.now() - this.#pausedAt
  }
}
