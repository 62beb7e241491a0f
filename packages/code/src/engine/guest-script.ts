import { EvalFlags, JSException, type JSValueHandle, QuickJS, type Snapshot } from 'quickjs-wasi'
import {
  type EngineModule,
  type SharedState,
  STOP,
  type WorkerAnswer,
  type WorkerCall,
  type WorkerJob,
  type WorkerOutcome,
} from './messages.ts'
import {
  asFunction,
  asProgram,
  loadTypeRemover,
  type PreparedSource,
  placeInStack,
  SCRIPT_FILE,
  SourceError,
  type SourcePosition,
} from './prepare-source.ts'
import { type GuestMemory, guestOptions, nearestTools, prepareGuest, toolTree } from './prepared-guest.ts'
import type { ScriptFailure, ScriptFailureKind, ScriptLog, ScriptUsage } from './types.ts'

/** What a script sends while it runs. */
export interface GuestOutput {
  work(calls: readonly WorkerCall[], logs: readonly ScriptLog[]): void
  done(outcome: WorkerOutcome): void
}

/** What a guest needs: the engine, what runs in it first, and the memory shared with the other thread. */
export interface GuestParts {
  readonly module: EngineModule
  readonly guest: string
  readonly shared: SharedState
}

/** Logs of a script that computes for long are sent this often. */
const FLUSH_MS = 100
/** Calls with more input than this are sent before the guest has finished its turn, so that the heap holds few of them. */
const MAX_OUTBOX_CHARS = 4 * 1024 * 1024
/** Counted for each line of a log in addition to its text. */
const LOG_LINE_BYTES = 32
let prepared: Snapshot | undefined

/** One script in a guest of its own. Nothing of it outlives the script. */
export class GuestScript {
  readonly #job: WorkerJob
  readonly #parts: GuestParts
  readonly #output: GuestOutput
  #vm!: QuickJS
  #memory!: GuestMemory
  #guest!: JSValueHandle
  readonly #functions = new Map<string, JSValueHandle>()
  #source: PreparedSource
  #calls: WorkerCall[] = []
  #logs: ScriptLog[] = []
  #outboxChars = 0
  #logBytes = 0
  #callCount = 0
  #lastFlushMs = 0
  readonly #inFlight = new Set<number>()
  /** What the script returned; it ends when all of its calls are answered. */
  #returned: { readonly json: string; readonly unawaited: readonly number[] } | undefined
  /** Why the script ends, as soon as this is known. */
  #failure: Omit<ScriptFailure, 'usage'> | undefined
  #isOver = false

  constructor(job: WorkerJob, parts: GuestParts, output: GuestOutput) {
    this.#job = job
    this.#parts = parts
    this.#output = output
    this.#source = asProgram(job.source)
  }

  /** Runs the script up to its first calls. */
  async start(): Promise<void> {
    try {
      await this.#createGuest()
      const evaluated = await this.#evaluate()
      if (evaluated)
        this.#enter(() => this.#guestFunction('watch', evaluated, this.#vm.hostToHandle(this.#source.isBoxed)))
      evaluated?.dispose()
    } catch (error) {
      this.#failure ??= this.#failureOf(error)
    }
    this.#proceed()
  }

  /** Answers a call, and does everything that follows from it. */
  answer({ seq, isOk, json }: WorkerAnswer): void {
    if (this.#isOver || !this.#inFlight.delete(seq)) return
    this.#enter(() => {
      const [number, text] = [this.#vm.newNumber(seq), this.#vm.newString(json)]
      this.#guestFunction('settle', number, this.#vm.hostToHandle(isOk), text)
      number.dispose()
      text.dispose()
    })
    this.#proceed()
  }

  /** Ends the script for the reason that the shared memory has. */
  stop(): void {
    if (this.#isOver) return
    this.#failure ??= stopFailure(this.#parts.shared.stop)
    this.#proceed()
  }

  async #createGuest(): Promise<void> {
    const { limits, now, input, seed, tools } = this.#job
    const { module, guest } = this.#parts
    prepared ??= await prepareGuest(module, guest)
    const options = guestOptions(module, now)
    this.#vm = await QuickJS.restore(prepared, {
      ...options,
      wasi: (memory: GuestMemory) => {
        this.#memory = memory
        return options.wasi(memory)
      },
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      interruptHandler: () => this.#interrupt(),
    })
    const vm = this.#vm
    this.#register('call', (args) => this.#onCall(args))
    this.#register('log', (args) => this.#onLog(args))
    this.#register('finish', (args) => this.#onFinish(args))
    this.#register('nearest', ([name]) => vm.newString(nearestTools(name!.toString(), tools)))
    this.#guest = vm.global.getProp('$guest')
    const { maxCalls, maxInFlight, callBytes, resultBytes } = limits
    const rest = JSON.stringify({ seed, tools: toolTree(tools), maxCalls, maxInFlight, callBytes, resultBytes })
    const config = vm.newString(`{"input":${input},${rest.slice(1)}`)
    this.#enter(() => this.#guestFunction('start', config))
    config.dispose()
  }

  /** Starts the script. What cannot be parsed has not run, so it is tried in another form. */
  async #evaluate(): Promise<JSValueHandle | undefined> {
    const first = this.#evaluateForms(asProgram(this.#job.source))
    if (!('syntax' in first)) return first.result
    const removeTypes = await loadTypeRemover()
    let typed: PreparedSource
    this.#parts.shared.enter()
    try {
      typed = removeTypes(this.#job.source)
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      this.#failure = syntaxFailure(this.#job.source, error.message, error.place ?? first.syntax.place)
      return undefined
    } finally {
      this.#parts.shared.leave(this.#memory.buffer.byteLength)
    }
    const second = typed.code === this.#job.source ? first : this.#evaluateForms(typed)
    if (!('syntax' in second)) return second.result
    this.#failure = syntaxFailure(this.#job.source, second.syntax.message, second.syntax.place)
    return undefined
  }

  #evaluateForms(program: PreparedSource): Evaluation {
    const asWhole = this.#evaluateOnce(program)
    const returns = 'syntax' in asWhole && asWhole.syntax.message === 'return not in a function'
    return returns ? this.#evaluateOnce(asFunction(program)) : asWhole
  }

  #evaluateOnce(source: PreparedSource): Evaluation {
    this.#source = source
    const flags = EvalFlags.STRICT | (source.isBoxed ? EvalFlags.ASYNC : EvalFlags.TYPE_GLOBAL)
    let evaluation: Evaluation = { result: undefined }
    this.#enter(() => {
      try {
        evaluation = { result: this.#vm.evalCode(source.code, SCRIPT_FILE, flags) }
      } catch (error) {
        // An async program throws later, as a rejected promise; so only its syntax can be wrong.
        if (!(error instanceof JSException) || error.name !== 'SyntaxError') throw error
        const place = placeInStack(error.stack ?? '')
        evaluation = { syntax: { message: error.message, place: place && source.placeOf(place) } }
        error.dispose()
      }
    })
    return evaluation
  }

  /** Lets the guest compute, with everything that follows from it. Whatever it throws ends the script. */
  #enter(compute: () => void): void {
    if (this.#failure) return
    const { shared } = this.#parts
    shared.enter()
    try {
      compute()
      this.#vm.executePendingJobs()
    } catch (error) {
      this.#failure ??= this.#failureOf(error)
    } finally {
      shared.leave(this.#memory?.buffer.byteLength ?? 0)
    }
  }

  /** Sends what the guest wants, or its outcome if nothing is left to do. */
  #proceed(): void {
    if (this.#isOver) return
    this.#flush()
    if (this.#failure) {
      this.#end({ ...this.#failure, usage: this.#usage() })
    } else if (this.#inFlight.size > 0) {
      return
    } else if (this.#returned) {
      this.#end({ status: 'completed', ...this.#returned, usage: this.#usage() })
    } else {
      const message = 'The script waits for a promise that nothing resolves: no call is in flight.'
      this.#end({ status: 'failed', kind: 'SCRIPT_ERROR', message, usage: this.#usage() })
    }
  }

  #end(outcome: WorkerOutcome): void {
    this.#isOver = true
    this.#vm?.dispose()
    this.#output.done(outcome)
  }

  #flush(): void {
    this.#lastFlushMs = performance.now()
    if (this.#calls.length === 0 && this.#logs.length === 0) return
    this.#output.work(this.#calls, this.#logs)
    this.#calls = []
    this.#logs = []
    this.#outboxChars = 0
  }

  #usage(): ScriptUsage {
    const { cpuMs, memoryBytes } = this.#parts.shared
    return { cpuMs, memoryBytes, calls: this.#callCount }
  }

  #guestFunction(name: string, ...args: JSValueHandle[]): void {
    const found = this.#functions.get(name) ?? this.#guest.getProp(name)
    this.#functions.set(name, found)
    this.#vm.callFunction(found, this.#vm.undefined, ...args).dispose()
  }

  /** A function of the host never throws into the guest: its stack would have paths of this machine. */
  #register(name: string, work: (args: JSValueHandle[]) => JSValueHandle): void {
    this.#vm.registerHostCallback(name, (...args) => {
      try {
        return work(args)
      } catch (error) {
        this.#failure ??= this.#failureOf(error)
        return this.#vm.undefined
      }
    })
  }

  /** The engine calls this every few thousand steps. What it throws leaves the guest, which cannot catch it. */
  #interrupt(): boolean {
    const { shared } = this.#parts
    const { cpuMs } = this.#job.limits
    if (shared.stop !== STOP.none) this.#failure ??= stopFailure(shared.stop)
    if (shared.cpuMs > cpuMs) this.#failure ??= cpuFailure(cpuMs)
    if (this.#failure) throw new Stopped()
    if (this.#logs.length > 0 && performance.now() - this.#lastFlushMs > FLUSH_MS) this.#flush()
    return false
  }

  #onCall([kind, seq, tool, input, site]: JSValueHandle[]): JSValueHandle {
    const { maxCalls } = this.#job.limits
    const number = seq!.toNumber()
    if (number > maxCalls) {
      const message = `The script made more than ${maxCalls} calls.`
      this.#failure ??= { status: 'failed', kind: 'CALL_BUDGET', message, ...this.#placeOf(site!.toString()) }
      return this.#vm.undefined
    }
    this.#callCount++
    this.#inFlight.add(number)
    this.#calls.push({
      kind: kind!.toString() as WorkerCall['kind'],
      seq: number,
      tool: tool!.toString(),
      input: input!.toString(),
      ...this.#placeOf(site!.toString()),
    })
    this.#outboxChars += this.#calls.at(-1)!.input.length
    if (this.#outboxChars > MAX_OUTBOX_CHARS) this.#flush()
    return this.#vm.undefined
  }

  /** Returns whether the logs are full. */
  #onLog([level, text]: JSValueHandle[]): JSValueHandle {
    const { logBytes } = this.#job.limits
    const entry = { level: level!.toString() as ScriptLog['level'], text: text!.toString() }
    this.#logBytes += Buffer.byteLength(entry.text) + LOG_LINE_BYTES
    const isFull = this.#logBytes > logBytes
    this.#logs.push(isFull ? { level: 'warn', text: `The logs end here: they reached ${logBytes} bytes.` } : entry)
    return this.#vm.hostToHandle(isFull)
  }

  #onFinish([isOk, json]: JSValueHandle[]): JSValueHandle {
    const text = json!.toString()
    const { resultBytes } = this.#job.limits
    const bytes = Buffer.byteLength(text)
    if (!isOk!.toBoolean()) this.#failure ??= this.#thrownFailure(text)
    else if (bytes > resultBytes) {
      const message = `The result has ${bytes} bytes, more than the limit of ${resultBytes}. Return less.`
      this.#failure ??= { status: 'failed', kind: 'SCRIPT_ERROR', message }
    } else this.#returned = { json: text, unawaited: [...this.#inFlight] }
    return this.#vm.undefined
  }

  /** The failure of what the script threw, as guest.mjs describes it. */
  #thrownFailure(json: string): Omit<ScriptFailure, 'usage'> {
    const { name = 'Error', message, stack = '', ...details } = JSON.parse(json) as Record<string, string>
    const kind: ScriptFailureKind = isOutOfMemory(name, message) ? 'MEMORY_LIMIT' : 'SCRIPT_ERROR'
    if (kind === 'MEMORY_LIMIT') return { ...this.#memoryFailure(), ...this.#placeOf(stack) }
    const text = name === 'Error' ? `${message}` : `${name}: ${message}`
    return { status: 'failed', kind, message: text, ...this.#placeOf(stack), ...details }
  }

  /** The failure of what left the guest: it was stopped, ran out of memory or stack, or crashed. */
  #failureOf(error: unknown): Omit<ScriptFailure, 'usage'> {
    if (error instanceof JSException) {
      const { name, message, stack } = error
      if (name === 'null' || isOutOfMemory(name, message)) return this.#memoryFailure()
      return { status: 'failed', kind: 'SCRIPT_ERROR', message: `${name}: ${message}`, ...this.#placeOf(stack ?? '') }
    }
    const message = error instanceof Error ? error.message : ''
    if (/out of memory|wasm_malloc failed/.test(message)) return this.#memoryFailure()
    if (error instanceof RangeError) {
      return { status: 'failed', kind: 'SCRIPT_ERROR', message: 'RangeError: Maximum call stack size exceeded' }
    }
    return { status: 'failed', kind: 'ENGINE_CRASH', message: 'The engine that ran the script failed.' }
  }

  #memoryFailure(): Omit<ScriptFailure, 'usage'> {
    const { memoryBytes } = this.#job.limits
    return {
      status: 'failed',
      kind: 'MEMORY_LIMIT',
      message: `The script needs more than ${memoryBytes} bytes of memory.`,
    }
  }

  #placeOf(stack: string): Partial<SourcePosition> {
    const place = placeInStack(stack)
    return place ? this.#source.placeOf(place) : {}
  }
}

/** What became of an attempt to start the script: a promise of its value, or what is wrong with its syntax. */
type Evaluation =
  | { readonly result: JSValueHandle | undefined }
  | { readonly syntax: { readonly message: string; readonly place: SourcePosition | undefined } }

/** Leaves the guest through all of its frames. */
class Stopped extends Error {}

function isOutOfMemory(name: string | undefined, message: string | undefined): boolean {
  return name === 'InternalError' && message === 'out of memory'
}

function stopFailure(reason: number): Omit<ScriptFailure, 'usage'> {
  return reason === STOP.timeout
    ? { status: 'failed', kind: 'TIMEOUT', message: 'The script took longer than it may.' }
    : { status: 'failed', kind: 'ABORTED', message: 'The script was stopped.' }
}

function cpuFailure(cpuMs: number): Omit<ScriptFailure, 'usage'> {
  return { status: 'failed', kind: 'CPU_LIMIT', message: `The script computed for more than ${cpuMs} ms.` }
}

function syntaxFailure(
  source: string,
  message: string,
  place: SourcePosition | undefined,
): Omit<ScriptFailure, 'usage'> {
  const imports = /^\s*import\s*[\w{*'"]/m.test(source)
  const hint = imports ? 'A script cannot import modules: use the functions of `tools`.' : undefined
  return { status: 'failed', kind: 'SYNTAX', message, ...place, ...(hint && { hint }) }
}
