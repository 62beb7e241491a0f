import { type Feature, type FeatureCall, type FeatureHost, type StoredApproval, ToolError } from '../../core/index.ts'
import { sha256 } from '../../lib/index.ts'
import { isOwnerAlive, newOwner, retireOwner } from '../../system/index.ts'
import { toolDeclarations } from './declarations.ts'
import { ScriptEngine } from './engine/index.ts'
import type { KeepLongAnswer, ScriptLedger } from './ledger.ts'
import { SavedScripts } from './saved-scripts.ts'
import { type ScriptKeeper, ScriptSession, type ScriptSetup, type SessionParts, scriptTools } from './script-session.ts'
import type {
  CodeHandle,
  CodeOptions,
  CodeService,
  LedgerLine,
  ScriptDetail,
  ScriptEntry,
  ScriptFollower,
  ScriptRequest,
  ScriptResult,
  StoredScript,
} from './types.ts'

const DEFAULTS = {
  timeoutMs: 60_000,
  cpuMs: 10_000,
  memoryBytes: 64 * 1024 * 1024,
  maxCalls: 256,
  suspendAfterMs: 20_000,
}
/** How often a call that waits for a script looks at the store. */
const POLL_MS = 200
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** Scripts of one hub. */
export function createCode(options: CodeOptions, host: FeatureHost): Feature<CodeHandle, CodeService> {
  const engine = new ScriptEngine(options.workers === undefined ? {} : { maxWorkers: options.workers })
  const scripts = new Scripts(options, host, engine)
  const saved = new SavedScripts(host, engine)
  return {
    handle: (call) => ({
      run: (request, follower = {}) => scripts.start(call, request, follower),
      wait: (script, waiting) => scripts.wait(call, script, waiting),
      cancel: (script) => scripts.cancel(call, script),
      async runSaved(pin, input, follower = {}) {
        const { source } = await saved.find(pin)
        const result = await scripts.start(call, { code: source, input }, follower)
        // Its data is otherwise the value of the script, which may look like anything.
        if (result.status === 'suspended')
          call.notice(`The script is suspended until people answer. Continue it with core/code.wait: ${result.script}`)
        return result
      },
    }),
    service: {
      save: (script, { by }) => saved.save(script, by),
      saved: () => saved.list(),
      removeSaved: (name, { by }) => saved.remove(name, by),
      followSaved: async () => saved.follow(),
      run: (request, { caller = 'owner', run } = {}) =>
        host.as({ caller }).call('core/code.run', request, run === undefined ? {} : { run }),
      list: async (filter = {}) => (await host.store.scripts.list({ limit: 100, ...filter })).map(toEntry),
      find: (script) => scripts.find(script),
      declarations: async () => toolDeclarations(scriptTools(host.as({ caller: 'owner' }))),
    },
    calm: () => scripts.suspendAll(),
    async close() {
      saved.close()
      await scripts.close()
      await engine.close()
    },
  }
}

/** A script that runs in this process. */
interface LiveScript {
  readonly run: string
  readonly principal: string | undefined
  readonly session: ScriptSession
  readonly ended: Promise<ScriptResult>
}

/** Runs scripts, and continues those that were suspended. */
class Scripts {
  readonly #options: Required<Omit<CodeOptions, 'enabled' | 'workers'>>
  readonly #host: FeatureHost
  readonly #engine: ScriptEngine
  readonly #live = new Map<string, LiveScript>()
  /** Scripts that are being continued here. */
  readonly #taken = new Set<string>()
  readonly #owner = newOwner()

  constructor({ workers: _, enabled: __, ...options }: CodeOptions, host: FeatureHost, engine: ScriptEngine) {
    this.#options = { ...DEFAULTS, ...options }
    this.#host = host
    this.#engine = engine
  }

  start(call: FeatureCall, request: ScriptRequest, follower: ScriptFollower): Promise<ScriptResult> {
    const { code, input = null, timeoutMs, maxCalls } = request
    const { cpuMs, memoryBytes } = this.#options
    const limits = {
      timeoutMs: Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, this.#options.timeoutMs),
      maxCalls: Math.min(maxCalls ?? Number.POSITIVE_INFINITY, this.#options.maxCalls),
      cpuMs,
      memoryBytes,
    }
    const now = this.#host.clock.now()
    const setup: ScriptSetup = { id: call.callId, source: code, sha256: sha256(code), input, now, limits }
    return this.#drive(call, setup, { lines: [], isStored: false, follower })
  }

  /** Continues a script as soon as somebody has answered, and returns its state when the time is over. */
  async wait(
    call: FeatureCall,
    id: string,
    { timeoutMs, ...follower }: ScriptFollower & { readonly timeoutMs: number },
  ): Promise<ScriptResult> {
    const { clock, store } = this.#host
    const deadline = clock.now() + timeoutMs
    for (;;) {
      const live = this.#live.get(id)
      if (live && isOf(live, call)) {
        const pause = this.#pause(call, deadline - clock.now())
        const ended = await Promise.race([live.ended.catch(() => undefined), pause.then(() => 'late' as const)])
        if (ended === 'late') return runningResult(id)
        continue
      }
      const script = await this.#findOwn(call, id)
      if (script.outcome !== undefined) return JSON.parse(script.outcome) as ScriptResult
      const isOwned = this.#isRunning(script)
      if (!isOwned && (script.owner !== undefined || (await this.#isAnswered(script))) && !this.#taken.has(id)) {
        this.#taken.add(id)
        try {
          const taken = { id, from: script.owner ?? null, status: 'running' as const, owner: this.#owner }
          const isMine = await store.scripts.change({ ...taken, approvals: script.approvals, at: clock.now() })
          if (isMine) return await this.#continue(call, script, follower)
        } finally {
          this.#taken.delete(id)
        }
      }
      const left = deadline - clock.now()
      if (left <= 0) return isOwned ? runningResult(id) : suspendedResult(script, await store.scripts.lines(id))
      await this.#pause(call, Math.min(POLL_MS, left))
    }
  }

  async cancel(call: FeatureCall, id: string): Promise<ScriptResult> {
    const live = this.#live.get(id)
    if (live && isOf(live, call)) {
      live.session.cancel()
      return live.ended
    }
    const script = await this.#findOwn(call, id)
    if (script.outcome !== undefined) return JSON.parse(script.outcome) as ScriptResult
    if (this.#isRunning(script))
      throw new ToolError('CONFLICT', `Script ${id} runs in another process.`, {
        hint: 'Wait for it with core/code.wait, or abort the call that runs it.',
      })
    const { approvals: _, ...shown } = suspendedResult(script, await this.#host.store.scripts.lines(id))
    const result: ScriptResult = { ...shown, status: 'cancelled' }
    const { scripts, approvals } = this.#host.store
    const isMine = await scripts.change({
      id,
      from: script.owner ?? null,
      status: 'cancelled',
      owner: null,
      approvals: [],
      outcome: JSON.stringify(result),
      at: this.#host.clock.now(),
    })
    // Somebody has continued it in the meantime.
    if (!isMine) return this.cancel(call, id)
    for (const approval of script.approvals) await approvals.withdraw(approval, 'withdrawn')
    return result
  }

  async find(id: string): Promise<ScriptDetail | undefined> {
    const script = await this.#host.store.scripts.find(id)
    if (!script) return undefined
    const lines = await this.#host.store.scripts.lines(id)
    const found = await Promise.all(script.approvals.map((approval) => this.#host.store.approvals.find(approval)))
    const waiting = found.flatMap((approval) => (approval ? [toWait(approval)] : []))
    return { ...toEntry(script), source: script.source, waiting, calls: lines.map(toCall) }
  }

  suspendAll(): void {
    for (const { session } of this.#live.values()) session.suspend()
  }

  async close(): Promise<void> {
    for (const { session } of this.#live.values()) if (!session.suspend()) session.cancel()
    await Promise.allSettled([...this.#live.values()].map(({ ended }) => ended))
    retireOwner(this.#owner)
  }

  async #continue(call: FeatureCall, script: StoredScript, follower: ScriptFollower): Promise<ScriptResult> {
    const lines = await this.#host.store.scripts.lines(script.id)
    const setup = { ...JSON.parse(script.setup), id: script.id, source: script.source, sha256: script.sha256 }
    return this.#drive(call, setup as ScriptSetup, { lines, isStored: true, follower })
  }

  async #drive(
    call: FeatureCall,
    setup: ScriptSetup,
    { lines, isStored, follower }: Pick<SessionParts, 'lines' | 'follower'> & { readonly isStored: boolean },
  ): Promise<ScriptResult> {
    const keeper = new StoreKeeper(this.#host, call, { setup, owner: this.#owner, isStored, kept: lines.length })
    const session = new ScriptSession({
      setup,
      call,
      engine: this.#engine,
      keeper,
      lines,
      suspendAfterMs: this.#options.suspendAfterMs,
      follower,
    })
    const ended = this.#settle(session, keeper)
    const live = { run: call.run, principal: call.principal, session, ended }
    this.#live.set(setup.id, live)
    try {
      return await ended
    } finally {
      this.#live.delete(setup.id)
    }
  }

  async #settle(session: ScriptSession, keeper: StoreKeeper): Promise<ScriptResult> {
    const result = await session.run()
    await keeper.settle(result, session.approvals)
    return result
  }

  /** Whether a process runs it. This one does not if the script ended here and that could not be stored. */
  #isRunning({ id, owner }: StoredScript): boolean {
    if (owner === this.#owner) return this.#live.has(id) || this.#taken.has(id)
    return owner !== undefined && isOwnerAlive(owner)
  }

  /** Whether somebody has answered one of the requests of a script, or one of them has ended in another way or expired. One that was stopped waits for nobody. */
  async #isAnswered({ approvals }: StoredScript): Promise<boolean> {
    const { store, clock } = this.#host
    if (approvals.length === 0) return true
    const found = await Promise.all(approvals.map((id) => store.approvals.find(id)))
    return found.some((approval) => approval?.state !== 'waiting' || approval.expiresAt <= clock.now())
  }

  async #findOwn(call: FeatureCall, id: string): Promise<StoredScript> {
    const script = await this.#host.store.scripts.find(id)
    if (script && isOf(script, call)) return script
    throw new ToolError('NOT_FOUND', `This run has no suspended script ${JSON.stringify(id.slice(0, 100))}.`, {
      hint: 'Use the id that core/code.run returned with the status suspended.',
    })
  }

  #pause(call: FeatureCall, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        removeListener()
        resolve()
      }
      const cancel = this.#host.clock.after(Math.max(0, ms), end)
      const removeListener = call.onStop(end)
    })
  }
}

interface KeeperOptions {
  readonly setup: ScriptSetup
  readonly owner: string
  readonly isStored: boolean
  readonly kept: number
}

/** Keeps a script in the store, and its long answers as artifacts of the run. */
class StoreKeeper implements ScriptKeeper {
  readonly #host: FeatureHost
  readonly #call: FeatureCall
  readonly #setup: ScriptSetup
  readonly #owner: string
  readonly problem: string | undefined
  isStored: boolean
  #kept: number

  constructor(host: FeatureHost, call: FeatureCall, { setup, owner, isStored, kept }: KeeperOptions) {
    this.#host = host
    this.#call = call
    this.#setup = setup
    this.#owner = owner
    this.isStored = isStored
    this.#kept = kept
    this.problem = problemOf(host, setup)
  }

  async keep(ledger: ScriptLedger): Promise<void> {
    const keep: KeepLongAnswer = async (json) => {
      const options = { name: 'answer.json', mediaType: 'application/json' }
      return (await this.#call.artifact(json, options)).ref
    }
    const lines = await ledger.linesFrom(this.#kept + 1, keep)
    const { scripts } = this.#host.store
    if (this.isStored) for (const line of lines) await scripts.append(this.#setup.id, line)
    else await scripts.add(this.#script(), lines)
    this.isStored = true
    this.#kept += lines.length
  }

  /** Stores what became of the script, if it is stored at all. */
  async settle(result: ScriptResult, approvals: readonly string[]): Promise<void> {
    if (!this.isStored) return
    // Who stops the call that continues a script has not cancelled the script.
    const isStopped = result.kind === 'ABORTED'
    const isOver = result.status !== 'suspended' && !isStopped
    await this.#host.store.scripts.change({
      id: this.#setup.id,
      from: this.#owner,
      status: isStopped ? 'suspended' : result.status,
      owner: null,
      approvals: isOver || isStopped ? [] : approvals,
      ...(isOver && { outcome: JSON.stringify(result) }),
      at: this.#host.clock.now(),
    })
  }

  async read(ref: string): Promise<string> {
    const bytes = await this.#host.artifact(this.#call.run, ref, { maxBytes: MAX_ANSWER_BYTES })
    return Buffer.from(bytes).toString('utf8')
  }

  async isFiled(approval: string): Promise<boolean> {
    const state = (await this.#host.store.approvals.find(approval))?.state
    return state === 'waiting' || state === 'answered'
  }

  #script(): StoredScript {
    const { id, source, sha256: hash, ...setup } = this.#setup
    const { run, caller, principal } = this.#call
    const now = this.#host.clock.now()
    return {
      id,
      run,
      caller,
      ...(principal !== undefined && { principal }),
      sha256: hash,
      source,
      setup: JSON.stringify(setup),
      status: 'running',
      approvals: [],
      owner: this.#owner,
      createdAt: setup.now,
      updatedAt: now,
    }
  }
}

/** Why a script cannot be suspended; `undefined` if it can. */
function problemOf({ archives, redact }: FeatureHost, { source, input }: ScriptSetup): string | undefined {
  if (archives === undefined) return 'This hub keeps no records.'
  const text = `${source}\n${JSON.stringify(input)}`
  return redact(text) === text ? undefined : 'It contains a secret, which is not stored.'
}

/** Whether a script is one of the caller and of its run. */
function isOf({ run, principal }: Pick<LiveScript, 'run' | 'principal'> | StoredScript, call: FeatureCall): boolean {
  return run === call.run && (principal ?? undefined) === call.principal
}

function toEntry({ id, run, caller, principal, status, sha256: hash, approvals, createdAt, updatedAt }: StoredScript) {
  const entry = { id, run, caller, status, sha256: hash, approvals, createdAt, updatedAt }
  return { ...entry, ...(principal !== undefined && { principal }) } satisfies ScriptEntry
}

function toWait({ id, tool, state, request }: StoredApproval) {
  const { script } = JSON.parse(request) as { readonly script?: { readonly line?: number } }
  return { approval: id, tool, ...(script?.line !== undefined && { line: script.line }), state }
}

function toCall({ seq, tool, line, callId, status }: LedgerLine) {
  return { seq, tool, ...(line !== undefined && { line }), ...(callId !== undefined && { callId }), status }
}

function runningResult(script: string): ScriptResult {
  return { script, status: 'running', logs: [], calls: [], artifacts: [] }
}

function suspendedResult({ id, approvals }: StoredScript, lines: readonly LedgerLine[]): ScriptResult {
  const calls = lines.map(toCall).sort((a, b) => a.seq - b.seq)
  return { script: id, status: 'suspended', logs: [], calls, artifacts: [], approvals }
}
