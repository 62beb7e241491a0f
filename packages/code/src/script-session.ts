import { callerGone, type FeatureCall, isCallerGone, messageOf } from '@tool-hub/core'
import { hashJson } from '@tool-hub/core/lib'
import {
  DEFAULT_SCRIPT_LIMITS,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptCallControl,
  type ScriptEngine,
  type ScriptOutcome,
} from './engine/index.ts'
import { Divergence, ScriptLedger } from './ledger.ts'
import { askedOf, scriptTools, toAnswer } from './script-tools.ts'
import type { LedgerLine, ScriptCallEntry, ScriptFollower, ScriptResult } from './types.ts'

/** What a script is, and what decides how it runs. It runs in the same way each time. */
export interface ScriptSetup {
  readonly id: string
  readonly source: string
  readonly sha256: string
  readonly input: unknown
  /** The time that the script sees. */
  readonly now: number
  readonly limits: ScriptSetupLimits
}

/** The limits that callers and owners choose. */
export interface ScriptSetupLimits {
  readonly timeoutMs: number
  readonly cpuMs: number
  readonly memoryBytes: number
  readonly maxCalls: number
}

/** Where a script is kept while it waits for people. */
export interface ScriptKeeper {
  /** Stores the answers that are new, and the script itself the first time. */
  keep(ledger: ScriptLedger): Promise<void>
  /** Whether it is stored: from then on every answer is stored before the script gets it. */
  readonly isStored: boolean
  /** Why it cannot be stored; `undefined` if it can. */
  readonly problem: string | undefined
  /** Reads a stored answer. */
  read(ref: string): Promise<string>
  /** Whether the request of an approval waits in the store for its answer. */
  isFiled(approval: string): Promise<boolean>
}

/** What a session needs of its hub. */
export interface SessionParts {
  readonly setup: ScriptSetup
  /** The call that runs the script now; its calls are nested in it. */
  readonly call: FeatureCall
  readonly engine: ScriptEngine
  readonly keeper: ScriptKeeper
  /** The calls that were answered before. */
  readonly lines: readonly LedgerLine[]
  readonly suspendAfterMs: number
  readonly follower: ScriptFollower
}

/** A call of the script that has not been answered. */
interface OpenCall {
  /** The request that it waits for; `undefined` while it does not wait for people. */
  approval: string | undefined
  /** Whether the call has ended, and the request stays in the store. */
  isFiled: boolean
  readonly control: ScriptCallControl
}

type MutableEntry = { -readonly [Key in keyof ScriptCallEntry]: ScriptCallEntry[Key] }

/**
 * One run of a script, for one call of the hub. If all that the script waits for is people, it is suspended after a moment;
 * another session continues it.
 */
export class ScriptSession {
  readonly #parts: SessionParts
  readonly #ledger: ScriptLedger
  readonly #stop = new AbortController()
  readonly #open = new Map<number, OpenCall>()
  readonly #calls = new Map<number, MutableEntry>()
  readonly #artifacts = new Set<string>()
  readonly #logs: string[] = []
  /** Codes of the failures of its calls: a script can invent others. */
  readonly #codes = new Set<string>()
  readonly #whenSuspended: Promise<void>
  /** The canonical names of the tools, by the names that the script can call. */
  readonly #names: ReadonlyMap<string, string>
  #setSuspended: () => void = () => {}
  #state: 'running' | 'suspended' | 'cancelled' = 'running'
  #divergence: string | undefined
  #source: ReturnType<FeatureCall['artifact']> | undefined
  #timer: NodeJS.Timeout | undefined
  /** Rejects when an answer cannot be stored. */
  #keeping: Promise<unknown> = Promise.resolve()
  /** Calls whose answers hold content from outside. */
  readonly #untrusted = new Set<number>()
  #isOver = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#ledger = new ScriptLedger(parts.lines)
    this.#names = new Map(scriptTools(parts.call).map(({ name, card }) => [name, card.tool]))
    this.#whenSuspended = new Promise((resolve) => {
      this.#setSuspended = resolve
    })
    for (const { seq, tool, line, callId, status } of parts.lines)
      this.#calls.set(seq, { seq, tool, line, callId, status })
  }

  /** Runs the script until it ends or is suspended. */
  async run(): Promise<ScriptResult> {
    const { call, setup, engine } = this.#parts
    // The answers that the script has got are as untrusted as before, also if the run was cleared since.
    for (const { tool, isUntrusted } of this.#parts.lines) if (isUntrusted) call.markUntrusted(tool)
    const removeListener = call.onStop(() => this.#onStop(call.signal().reason))
    try {
      const { timeoutMs, cpuMs, memoryBytes, maxCalls } = setup.limits
      const outcome = await engine.run({
        source: setup.source,
        input: setup.input,
        now: setup.now,
        seed: setup.id,
        limits: { ...DEFAULT_SCRIPT_LIMITS, wallMs: timeoutMs, cpuMs, memoryBytes, maxCalls },
        tools: [...this.#names.keys()],
        host: {
          call: (made, control) => this.#answer(made, control),
          log: ({ level, text }) => this.#log(level === 'log' ? text : `${level}: ${text}`),
        },
        signal: this.#stop.signal,
        principal: this.#principal,
      })
      this.#isOver = true
      await this.#keeping
      if (this.#state === 'suspended') await this.#parts.keeper.keep(this.#ledger)
      return this.#resultOf(outcome)
    } finally {
      clearTimeout(this.#timer)
      removeListener()
    }
  }

  /** Ends the script; what its calls have done stays. */
  cancel(): void {
    if (this.#state === 'running') this.#state = 'cancelled'
    this.#stop.abort()
  }

  /** Suspends the script if it waits for nothing but people. Returns whether it does. */
  suspend(): boolean {
    const isIdle = this.#open.size > 0 && [...this.#open.values()].every(({ approval }) => approval !== undefined)
    if (!isIdle || this.#state !== 'running' || this.#parts.keeper.problem !== undefined) return false
    this.#state = 'suspended'
    const options = { code: 'APPROVAL_UNAVAILABLE' as const, details: { waits: true } }
    const reason = callerGone('The script that makes this call is suspended until somebody answers.', options)
    // Their requests stay in the store.
    for (const { control } of this.#open.values()) control.abort(reason)
    this.#setSuspended()
    this.#stop.abort()
    return true
  }

  /** Suspends the script if it waits for nothing but people and another one would get its worker. Returns whether it does. */
  makeRoom(): boolean {
    return this.#parts.engine.isWanted(this.#principal) && this.suspend()
  }

  /** The requests that the script waits for. */
  get approvals(): readonly string[] {
    return [...this.#open.values()].flatMap(({ approval }) => approval ?? [])
  }

  /** Whose share of the workers it uses: sessions use that of the principal who started them. */
  get #principal(): string | undefined {
    let { principal } = this.#parts.call.rights
    while (principal?.within) principal = principal.within
    return principal?.name
  }

  get #isSuspended(): boolean {
    return this.#state === 'suspended'
  }

  /** Answers a call from the ledger, or makes it. */
  async #answer(asked: ScriptCall, control: ScriptCallControl): Promise<ScriptAnswer> {
    const made = { ...asked, tool: this.#names.get(asked.tool) ?? asked.tool }
    let line: LedgerLine | undefined
    try {
      line = this.#ledger.lineOf(made)
    } catch (error) {
      if (!(error instanceof Divergence)) throw error
      return this.#fail(error.message)
    }
    if (line) return this.#replay(line)
    // The script is stopped, and its thread has not heard of it yet.
    if (this.#state !== 'running') return { ok: false, error: { code: 'ABORTED', message: 'The script was stopped.' } }
    const { seq, tool, line: at } = made
    const entry: MutableEntry = { seq, tool, ...(at !== undefined && { line: at }), status: 'running' }
    this.#calls.set(seq, entry)
    const answer = await this.#make(asked, control, entry)
    await this.#ledger.whenReplayed()
    // A call that waits for people or was stopped has not ended by itself, and is made again by the next session.
    const isStopped = this.#stop.signal.aborted && !this.#isSuspended
    if (!isStopped && !this.#open.has(seq)) await this.#keep(made, entry, answer)
    return answer
  }

  /** Answers a call from the ledger. */
  async #replay(line: LedgerLine): Promise<ScriptAnswer> {
    let answer: ScriptAnswer
    try {
      answer = await this.#ledger.replay(line, (ref) => this.#parts.keeper.read(ref))
    } catch (error) {
      return this.#fail(`The answer of call ${line.seq} (${line.tool}) cannot be read: ${messageOf(error)}`)
    }
    if (!answer.ok) this.#codes.add(answer.error.code)
    return answer
  }

  /** Ends the script, because it cannot be where it was. */
  #fail(why: string): ScriptAnswer {
    this.#divergence ??= why
    this.#stop.abort()
    return { ok: false, error: { code: 'INTERNAL', message: why } }
  }

  /**
   * Adds an answer to the ledger before the script gets it. Answers are stored in the order in which they are given. If one
   * cannot be stored, the script gets no further, because it could not be continued from there.
   */
  async #keep({ seq, tool, input, line }: ScriptCall, entry: MutableEntry, answer: ScriptAnswer): Promise<void> {
    const { keeper } = this.#parts
    const { callId, status } = entry
    if (this.#isOver) return
    const isUntrusted = this.#untrusted.has(seq)
    this.#ledger.add({ seq, tool, argsHash: hashJson(input), line, callId, status, isUntrusted }, answer)
    if (!keeper.isStored) return
    this.#keeping = this.#keeping.then(() => keeper.keep(this.#ledger))
    try {
      await this.#keeping
    } catch (error) {
      this.#stop.abort()
      throw error
    }
  }

  async #make(made: ScriptCall, control: ScriptCallControl, entry: MutableEntry): Promise<ScriptAnswer> {
    const { call, setup, keeper } = this.#parts
    const { seq, line } = made
    const { tool, input } = askedOf(made)
    const open: OpenCall = { approval: undefined, isFiled: false, control }
    this.#open.set(seq, open)
    let resumeClock: (() => void) | undefined
    const result = await call.call(tool, input, {
      script: { id: setup.id, sha256: setup.sha256, seq, ...(line !== undefined && { line }) },
      keepSource: () => this.#keepSource(),
      repeatKey: `script:${setup.id}:${seq}`,
      signal: control.signal,
      onEvent: (event) => {
        if (event.type === 'approval-requested') {
          open.approval = event.request.id
          entry.status = 'waiting for an approval'
          resumeClock ??= control.pauseClock()
        } else if (event.type === 'approval-answered') {
          open.approval = undefined
          resumeClock?.()
        }
        this.#considerSuspending()
      },
    })
    if (this.#state === 'suspended') return toAnswer(result)
    // A hub that closes ends the call before it can say what it waits for.
    const approval = open.approval ?? `approval-${result.callId}`
    if (result.status === 'approval_required' && (await keeper.isFiled(approval))) {
      open.approval = approval
      open.isFiled = true
      this.#considerSuspending()
      if (keeper.problem === undefined) {
        await this.#whenSuspended
        return toAnswer(result)
      }
    }
    resumeClock?.()
    this.#open.delete(seq)
    this.#considerSuspending()
    entry.callId = result.callId
    entry.status = result.status
    if (result.meta.labels?.includes('untrusted')) this.#untrusted.add(seq)
    for (const { ref } of result.artifacts) this.#artifacts.add(ref)
    if (!result.ok) {
      entry.error = `${result.error.code}: ${result.error.message}`
      this.#codes.add(result.error.code)
    }
    return toAnswer(result)
  }

  /** Stores the source for those who approve its calls, once for all of them. */
  async #keepSource(): Promise<string> {
    const { call, setup } = this.#parts
    this.#source ??= call.artifact(setup.source, { name: 'script.ts', mediaType: 'text/typescript' })
    return (await this.#source).ref
  }

  /** Suspends the script in a moment, if it waits for nothing but people. */
  #considerSuspending(): void {
    clearTimeout(this.#timer)
    const open = [...this.#open.values()]
    if (open.length === 0 || open.some(({ approval }) => approval === undefined)) return
    // What no call waits for any more is answered in the store only. It runs again from the ledger: no worker has to wait with it.
    const isReady = open.some(({ isFiled }) => isFiled) || this.#parts.engine.isWanted(this.#principal)
    const delay = isReady ? 0 : this.#parts.suspendAfterMs
    this.#timer = setTimeout(() => this.suspend(), delay).unref()
  }

  #onStop(reason: unknown): void {
    if (!(isCallerGone(reason) && this.suspend())) this.#stop.abort()
  }

  #log(line: string): void {
    this.#logs.push(line)
    if (this.#parts.lines.length <= this.#ledger.replayed) this.#parts.follower.onLog?.(line)
  }

  #resultOf(outcome: ScriptOutcome): ScriptResult {
    const base = {
      script: this.#parts.setup.id,
      logs: this.#logs,
      calls: [...this.#calls.values()].sort((a, b) => a.seq - b.seq),
      artifacts: [...this.#artifacts],
      usage: outcome.usage,
    }
    if (this.#state === 'suspended') return { ...base, status: 'suspended', approvals: this.approvals }
    if (this.#state === 'cancelled') return { ...base, status: 'cancelled' }
    if (outcome.status === 'completed') return { ...base, status: 'completed', value: outcome.value }
    if (this.#divergence !== undefined) {
      const message = `The script did not run as it did before it was suspended. ${this.#divergence}`
      return { ...base, status: 'failed', kind: 'ENGINE_CRASH', message, hint: 'Run the script again from the start.' }
    }
    const { kind, message, line, column, code, hint } = outcome
    const isRefusal = code !== undefined && this.#codes.has(code)
    const refused = isRefusal && (code === 'POLICY_DENIED' || code === 'APPROVAL_DENIED') ? code : kind
    return {
      ...base,
      status: 'failed',
      kind: refused,
      message,
      ...(hint !== undefined && { hint }),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
    }
  }
}
