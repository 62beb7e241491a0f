import type { WorkerAnswer, WorkerCall } from './messages.ts'
import type { ScriptAnswer, ScriptRun } from './types.ts'

/** The calls of one script: passes them to the host, and the answers back in the order in which they come. */
export class ScriptCalls {
  readonly #script: ScriptRun
  readonly #tools: ReadonlySet<string>
  readonly #controller = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #startMs = performance.now()
  #answers: WorkerAnswer[] = []
  #send: (answers: readonly WorkerAnswer[]) => void = () => undefined
  #pauses = 0
  #pausedAt = 0
  #pausedMs = 0
  /** How many calls were made. */
  count = 0

  constructor(script: ScriptRun) {
    this.#script = script
    this.#tools = new Set(script.tools)
  }

  /** The wall time of the script, without its pauses. */
  get elapsedMs(): number {
    const now = this.#pauses > 0 ? this.#pausedAt : performance.now()
    return now - this.#startMs - this.#pausedMs
  }

  answerTo(send: (answers: readonly WorkerAnswer[]) => void): void {
    this.#send = send
  }

  make(call: WorkerCall): void {
    this.count++
    const work = this.#make(call)
    this.#inFlight.add(work)
    void work.finally(() => this.#inFlight.delete(work))
  }

  /** Aborts what is in flight. */
  abort(): void {
    this.#controller.abort()
  }

  /** Waits until no call is in flight. Returns false if the signal aborts first. */
  async settled(signal: AbortSignal): Promise<boolean> {
    if (this.#inFlight.size === 0) return true
    if (signal.aborted) return false
    return new Promise((resolve) => {
      const stop = (): void => resolve(false)
      signal.addEventListener('abort', stop, { once: true })
      void Promise.all(this.#inFlight).then(() => {
        signal.removeEventListener('abort', stop)
        resolve(true)
      })
    })
  }

  async #make(call: WorkerCall): Promise<void> {
    const resume = new Set<() => void>()
    const control = {
      signal: this.#controller.signal,
      pauseClock: () => {
        const end = this.#pause()
        resume.add(end)
        return end
      },
    }
    let answer: WorkerAnswer
    try {
      answer = this.#encode(call.seq, await this.#ask(call, control))
    } catch {
      // A host is expected to answer with JSON; what it threw may have paths of this machine.
      const error = { code: 'INTERNAL', message: 'The call failed for a reason that is not known.' }
      answer = { seq: call.seq, isOk: false, json: JSON.stringify(error) }
    }
    for (const end of resume) end()
    this.#answer(answer)
  }

  async #ask({ kind, seq, tool, input, line, column }: WorkerCall, control: Parameters<ScriptRun['host']['call']>[1]) {
    const { host } = this.#script
    const value = JSON.parse(input)
    if (kind === 'call' && !this.#tools.has(tool)) throw new Error('The guest made a call that its tools do not have.')
    if (kind === 'call') return host.call({ seq, tool, input: value, line, column }, control)
    const found = await (kind === 'search' ? host.search(value, { seq }) : host.describe(value, { seq }))
    return { ok: true, value: found } as const
  }

  #encode(seq: number, answer: ScriptAnswer): WorkerAnswer {
    const { limits } = this.#script
    const json = (answer.ok ? JSON.stringify(answer.value) : JSON.stringify(answer.error)) ?? 'null'
    // Text of the answer and its value exist in the guest at the same time.
    if (json.length <= limits.memoryBytes / 4) return { seq, isOk: answer.ok, json }
    const message = `The result has ${json.length} characters, more than the memory of the script has room for.`
    return {
      seq,
      isOk: false,
      json: JSON.stringify({ code: 'OUTPUT_TOO_LARGE', message, hint: 'Ask for less at a time.' }),
    }
  }

  /** Answers that come in the same turn travel in one message. */
  #answer(answer: WorkerAnswer): void {
    if (this.#answers.push(answer) > 1) return
    queueMicrotask(() => {
      const answers = this.#answers
      this.#answers = []
      this.#send(answers)
    })
  }

  #pause(): () => void {
    if (this.#pauses++ === 0) this.#pausedAt = performance.now()
    let isPaused = true
    return () => {
      if (!isPaused) return
      isPaused = false
      if (--this.#pauses === 0) this.#pausedMs += performance.now() - this.#pausedAt
    }
  }
}
