import { type Feature, type FeatureCall, type FeatureHost, type StoredApproval, ToolError } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { isOwnerAlive, newOwner, retireOwner } from '@tool-hub/sandbox/system'
import { toolDeclarations } from './declarations.ts'
import { ScriptEngine } from './engine/index.ts'
import { SavedScripts } from './saved-scripts.ts'
import { ScriptSession, type ScriptSetup, type SessionParts } from './script-session.ts'
import { scriptTools } from './script-tools.ts'
import { StoreKeeper } from './store-keeper.ts'
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
/** A script whose process ended longer ago is not continued: the keys that keep a call from being made twice live a day. */
const MAX_ORPHAN_MS = 20 * 3_600_000
/** How such a script ends. */
const LOST: Ending = {
  status: 'failed',
  kind: 'ENGINE_CRASH',
  message: 'The process that ran the script ended long ago. Whether its last call was made is unknown.',
  hint: 'Look at the calls in the record, and write another script for what is left to do.',
}
/** How often a call that waits for a script looks at the store. */
const POLL_MS = 200

/** How a script ends that no process runs. */
type Ending = Pick<ScriptResult, 'status' | 'kind' | 'message' | 'hint'>

/** Scripts of one hub. */
export function createCode(options: CodeOptions, host: FeatureHost): Feature<CodeHandle, CodeService> {
  const engine = new ScriptEngine({
    ...(options.workers !== undefined && { maxWorkers: options.workers }),
    onWaiting: () => scripts.makeRoom(),
  })
  const scripts = new Scripts(options, host, engine)
  const saved = new SavedScripts(host, engine)
  return {
    handle: (call) => ({
      run: async (request, follower = {}) => marked(call, await scripts.start(call, request, follower)),
      wait: async (script, waiting) => marked(call, await scripts.wait(call, script, waiting)),
      cancel: (script) => scripts.cancel(call, script),
      async runSaved(pin, input, follower = {}) {
        const { source } = await saved.find(pin)
        const result = marked(call, await scripts.start(call, { code: source, input }, follower))
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
      declarations: async () => toolDeclarations(scriptTools(host)),
    },
    calm: () => scripts.suspendAll(),
    async close() {
      saved.close()
      await scripts.close()
      await engine.close()
    },
  }
}

/** Lists and the console must not show a call as done whose script waits for people or runs elsewhere. */
function marked(call: FeatureCall, result: ScriptResult): ScriptResult {
  if (result.status === 'suspended' || result.status === 'running') call.markPending()
  return result
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
  readonly #owner: string

  constructor({ workers: _, enabled: __, ...options }: CodeOptions, host: FeatureHost, engine: ScriptEngine) {
    this.#options = { ...DEFAULTS, ...options }
    this.#owner = newOwner(host.process)
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
      if (!isOwned && script.owner !== undefined && clock.now() - script.updatedAt > MAX_ORPHAN_MS)
        return (
          (await this.#end(script, LOST)) ?? this.wait(call, id, { timeoutMs: deadline - clock.now(), ...follower })
        )
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
    return (await this.#end(script, { status: 'cancelled' })) ?? this.cancel(call, id)
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

  /** Suspends one script that only waits for people, if another one would get its worker. */
  makeRoom(): void {
    for (const { session } of this.#live.values()) if (session.makeRoom()) return
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

  /**
   * Ends a script that no process runs, and withdraws its requests. Returns `undefined` if somebody has continued or ended
   * it in the meantime.
   */
  async #end(script: StoredScript, how: Ending): Promise<ScriptResult | undefined> {
    const { clock, store } = this.#host
    const { approvals: _, ...shown } = suspendedResult(script, await store.scripts.lines(script.id))
    const result: ScriptResult = { ...shown, ...how }
    const over = { status: how.status, owner: null, approvals: [], outcome: JSON.stringify(result) }
    const isMine = await store.scripts.change({ id: script.id, from: script.owner ?? null, ...over, at: clock.now() })
    if (!isMine) return undefined
    for (const approval of script.approvals) await store.approvals.withdraw(approval, 'withdrawn')
    return result
  }

  /** Whether a process runs it. This one does not if the script ended here and that could not be stored. */
  #isRunning({ id, owner }: StoredScript): boolean {
    if (owner === this.#owner) return this.#live.has(id) || this.#taken.has(id)
    return owner !== undefined && isOwnerAlive(owner)
  }

  /**
   * Whether somebody has answered one of the requests of a script, or one of them has ended in another way or expired. A
   * script that was stopped waits for nobody.
   */
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
