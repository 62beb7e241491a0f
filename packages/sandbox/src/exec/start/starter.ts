import { createHash } from 'node:crypto'
import { type Clock, systemClock, ToolError, throwIfAborted } from '@tool-hub/core'
import type { CreateCgroup } from '../host/cgroup.ts'
import { type SandboxLaunch, sortedVariables } from '../isolation/sandbox.ts'
import { type CommandProcess, SandboxHandle } from './sandbox-handle.ts'
import { type CommandLaunch, helperScript, launchScript } from './shell-scripts.ts'
import { SpawnerLink } from './spawner-link.ts'
import { type StartFailure, startError } from './start-error.ts'

/** A command to start, and what it waits for. */
export interface StartRequest extends CommandLaunch {
  /** The command is handed over after this resolves, and not if it rejects; the sandbox is created meanwhile. */
  readonly ready?: Promise<void>
  /** The run of the command: its sandbox serves further commands of the same run, and of no other. */
  readonly run?: string
}

/** Starts commands, through a small process of its own so that a large hub does not pay for its size. */
export interface Starter {
  /**
   * Starts a command. The signal ends it as long as it runs. Throws NOT_FOUND or EXEC_FAILED if the program is missing
   * or cannot be run, SANDBOX_UNAVAILABLE if the sandbox cannot be created.
   */
  start(request: StartRequest, signal: AbortSignal): Promise<CommandProcess>
  /** Keeps a sandbox of this kind warm for the next command. Called only after policy has decided on one of its kind. */
  prepare(sandbox: SandboxLaunch): void
  /** Ends everything that runs. */
  close(): Promise<void>
}

/** The settings of a starter. */
export interface StarterOptions {
  readonly clock?: Clock
  /**
   * How many sandboxes of a kind are kept warm. Default: 2. With 0, a few prewarmed processes are still kept after the
   * first command: shells that wait outside of any sandbox and see nothing, from which the next sandbox is created faster.
   */
  readonly prepared?: number
  /** Limits all processes of a command together, on machines that support it. */
  readonly createCgroup?: CreateCgroup
  /** How long a sandbox may take to start a command that it was given. Default: 30 s. */
  readonly startMs?: number
  /** How long the spawner may take to answer, in addition to what it waits for. Default: 60 s. */
  readonly answerMs?: number
}

const WARM_SANDBOXES = { maxKinds: 4, batch: 1 }
/** Those that have run commands and wait for more: at most this many of a kind, and kinds. */
const USED_SANDBOXES = { maxKinds: 8, enough: 8, batch: 0 }
/** Sandboxes are used once after this many could not be created for reuse, one after another, and the same ones for one use could. */
const MAX_REUSE_FAILURES = 3
/** Several together and rarely: starting one takes as long as a short command, which would have to wait for it. */
const PREWARMED_PROCESSES = { maxKinds: 2, batch: 3, enough: 1 }

/** Creates a starter. Its spawner process is started when it is first needed. */
export function createStarter(options: StarterOptions = {}): Starter {
  const { clock = systemClock, prepared = 2, createCgroup, startMs, answerMs } = options
  /** By whether its sandboxes have private mounts. */
  const links = new Map<boolean, SpawnerLink>()
  let isClosed = false
  const prewarm = (sandbox: SandboxLaunch) => {
    const isPrivate = sandbox.hasPrivateMounts === true
    const known = links.get(isPrivate)
    const link = known?.isOpen ? known : new SpawnerLink(sandbox, answerMs)
    links.set(isPrivate, link)
    return new SandboxHandle(link, sandbox, createCgroup?.(sandbox.limits))
  }
  const prewarmed = new WarmPool({ ...PREWARMED_PROCESSES, clock, open: prewarm, keyOf: prewarmKey })
  const open = (sandbox: SandboxLaunch, isWarm: boolean) => {
    const handle = prewarmed.take(sandbox) ?? prewarm(sandbox)
    handle.open(sandbox, { isWarm })
    return handle
  }
  const warm = new WarmPool({
    ...WARM_SANDBOXES,
    clock,
    enough: prepared,
    open: (sandbox) => open(sandbox, true),
    keyOf: ({ key }) => key,
  })
  const used = new WarmPool({ ...USED_SANDBOXES, clock, open: prewarm, keyOf: ({ key }) => key })
  /** Some systems let nobody open the pipes of another process. */
  let reuseFailures = prepared === 0 ? MAX_REUSE_FAILURES : 0
  const refill = new Refill((sandbox) => {
    if (isClosed) return
    // A helper process belongs to the call of its command.
    if (sandbox.helper === undefined) warm.fill(sandbox)
    prewarmed.fill(sandbox)
  }, clock)
  const launch = (handle: SandboxHandle, request: StartRequest, script: string, signal: AbortSignal) => {
    const { sandbox, ready } = request
    const owned = ownedSandbox(request)
    const next = owned && handle.createNext()
    refill.during(handle.ended)
    void handle.ended.then(() => next && used.add(owned!, next))
    return handle.start({ script, helper: helperScript(sandbox), ready, next, startMs }, signal)
  }
  const launchNew = (request: StartRequest, script: string, signal: AbortSignal) => {
    const running = launch(open(request.sandbox, false), request, script, signal)
    // The spawner now has nothing to do for as long as it takes to create the sandbox.
    prewarmed.fill(request.sandbox)
    return running
  }
  return {
    async start(given, signal) {
      throwIfAborted(signal)
      if (isClosed) throw new ToolError('ABORTED', 'The hub is closing: no more commands are started.')
      const request = reuseFailures >= MAX_REUSE_FAILURES ? usedOnce(given) : given
      const script = launchScript(request)
      const isBroken = (tried: CommandProcess | StartFailure) =>
        'kind' in tried && tried.kind === 'broken' && !signal.aborted
      const owned = ownedSandbox(request)
      const ready = (owned && used.take(owned)) ?? warm.take(request.sandbox)
      let started = ready && (await launch(ready, request, script, signal))
      // A warm sandbox may have died, or show a folder that no longer exists; a new one is up to date.
      if (!started || isBroken(started)) started = await launchNew(request, script, signal)
      if (request.sandbox.isReusable && isBroken(started)) {
        const single = await launchNew(usedOnce(request), script, signal)
        if (!isBroken(single)) reuseFailures += 1
        started = single
      } else if (request.sandbox.isReusable) reuseFailures = 0
      refill.want(request.sandbox)
      if (!('kind' in started)) return started
      throwIfAborted(signal)
      throw await startError(started, request)
    },
    prepare: (sandbox) => refill.want(sandbox),
    async close() {
      isClosed = true
      await Promise.all([...links.values()].map((link) => link.close()))
    },
  }
}

/** The sandbox as a kind of its own for the run, undefined if it serves only one command. */
function ownedSandbox({ sandbox, run }: StartRequest): SandboxLaunch | undefined {
  if (!sandbox.isReusable || run === undefined) return undefined
  return { ...sandbox, key: JSON.stringify([run, sandbox.key]) }
}

function usedOnce(request: StartRequest): StartRequest {
  return { ...request, sandbox: { ...request.sandbox, isReusable: false } }
}

/** What a prewarmed process fixes when it is started: sandboxes with the same key can use the same one. */
export function prewarmKey(sandbox: SandboxLaunch): string {
  const { level, env, seccomp, helper, hasPrivateMounts, isReusable = false, limits } = sandbox
  const filter = seccomp && [seccomp.fd, createHash('sha256').update(seccomp.program).digest('base64')]
  const parts = [level, sortedVariables(env), filter, helper !== undefined, hasPrivateMounts, limits]
  return JSON.stringify([...parts, isReusable])
}

const IDLE_MS = 30_000
const SOON_MS = 10

interface Entry {
  readonly handle: SandboxHandle
  readonly remove: () => void
}

/** What a pool keeps. */
interface PoolOptions {
  readonly clock: Clock
  /** Creates one. */
  readonly open: (sandbox: SandboxLaunch) => SandboxHandle
  /** Those with the same key serve the same sandboxes. */
  readonly keyOf: (sandbox: SandboxLaunch) => string
  readonly maxKinds: number
  /** No more are created while there are this many of a kind. */
  readonly enough: number
  /** How many are created together. */
  readonly batch: number
}

/** Sandboxes or prewarmed processes that wait for a command; they end if nobody needs them for a while. */
export class WarmPool {
  readonly #options: PoolOptions
  /** By key; the most recently used kind is last. */
  readonly #kinds = new Map<string, Entry[]>()

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Removes one of this kind, which then belongs to the caller; it may not be complete yet. */
  take(sandbox: SandboxLaunch): SandboxHandle | undefined {
    const entry = this.#kinds.get(this.#options.keyOf(sandbox))?.find(({ handle }) => !handle.hasFailed)
    entry?.remove()
    return entry?.handle
  }

  /** Creates more of this kind, unless there are enough. */
  fill(sandbox: SandboxLaunch): void {
    const { keyOf, maxKinds, enough, batch } = this.#options
    const key = keyOf(sandbox)
    const kind = this.#kinds.get(key) ?? []
    this.#kinds.delete(key)
    this.#kinds.set(key, kind)
    const wanted = kind.length < enough ? batch : 0
    for (let created = 0; created < wanted; created++) kind.push(this.#keep(this.#options.open(sandbox), kind))
    for (const old of [...this.#kinds.keys()].slice(0, -maxKinds)) this.#drop(old)
  }

  /** Keeps one that exists, or ends it if there are enough of its kind. */
  add(sandbox: SandboxLaunch, handle: SandboxHandle): void {
    if (handle.hasFailed) return
    this.fill(sandbox)
    const kind = this.#kinds.get(this.#options.keyOf(sandbox))!
    if (kind.length < this.#options.enough) kind.push(this.#keep(handle, kind))
    else void handle.stop()
  }

  #keep(handle: SandboxHandle, kind: Entry[]): Entry {
    const remove = () => {
      cancel()
      const at = kind.findIndex((entry) => entry.handle === handle)
      if (at !== -1) kind.splice(at, 1)
    }
    const expire = () => {
      remove()
      void handle.stop()
    }
    const cancel = this.#options.clock.after(IDLE_MS, expire, { background: true })
    // One that died is of no use.
    void handle.ended.then(remove)
    return { handle, remove }
  }

  #drop(key: string): void {
    for (const { handle, remove } of [...(this.#kinds.get(key) ?? [])]) {
      remove()
      void handle.stop()
    }
    this.#kinds.delete(key)
  }
}

/**
 * Chooses when warm sandboxes are created. Creating one keeps the spawner busy for as long as a short command takes,
 * which would have to wait for it, so it happens when no command runs, or a moment later.
 */
export class Refill {
  readonly #fill: (sandbox: SandboxLaunch) => void
  readonly #clock: Clock
  readonly #wanted = new Map<string, SandboxLaunch>()
  #running = 0
  #cancel: (() => void) | undefined

  constructor(fill: (sandbox: SandboxLaunch) => void, clock: Clock) {
    this.#fill = fill
    this.#clock = clock
  }

  /** Requests one of this kind. */
  want(sandbox: SandboxLaunch): void {
    this.#wanted.set(sandbox.key, sandbox)
    if (this.#running === 0) this.#fillNow()
    else this.#cancel ??= this.#clock.after(SOON_MS, () => this.#fillNow(), { background: true })
  }

  /** Counts a command as running until the promise is settled. */
  during(ended: Promise<unknown>): void {
    this.#running += 1
    void ended.finally(() => {
      this.#running -= 1
      if (this.#running === 0) this.#fillNow()
    })
  }

  #fillNow(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const sandboxes = [...this.#wanted.values()]
    this.#wanted.clear()
    try {
      for (const sandbox of sandboxes) this.#fill(sandbox)
    } catch {
      // A sandbox that cannot be created now is created when it is needed, and fails there.
    }
  }
}
