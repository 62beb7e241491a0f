import {
  type Clock,
  type CommandRequest,
  type Commands,
  commandValue,
  type SandboxLevel,
  ToolError,
  throwIfAborted,
} from '@tool-hub/core'
import { escapeLine, isWithin } from '@tool-hub/core/lib'
import type { CommandNetwork } from '../network/proxy/connect-to-host.ts'
import { type KeptCommand, PlaceKeeper } from '../protected/keeper/index.ts'
import { realIfThere } from '../system/index.ts'
import { BackgroundCommands, CallCommands, type LostCommand } from './command/command-registry.ts'
import {
  checkCommandRequest,
  checkVariables,
  commandArgv,
  copyRequest,
  resolveWorkingFolder,
} from './command/command-request.ts'
import { type DiskLimits, DiskWatch } from './command/disk-watch.ts'
import { ManagedCommand } from './command/managed-command.ts'
import { SandboxFactory, type SandboxSettings } from './command/sandbox-factory.ts'
import type { CommandCall } from './command-call.ts'
import { commandCgroup } from './host/cgroup.ts'
import type { ProcessLimits } from './host/host.ts'
import { cacheFolders } from './isolation/environment.ts'
import { type SandboxLaunch, type SandboxUser, sandboxUser } from './isolation/sandbox.ts'
import type { SandboxDescription } from './probe/describe-sandbox.ts'
import type { SandboxReport } from './probe/probe-sandbox.ts'
import type { CommandProcess } from './start/sandbox-handle.ts'
import { createStarter, type Starter, type StartRequest } from './start/starter.ts'

/** The owner's settings for commands. */
export interface ProcessGuardOptions extends SandboxSettings {
  readonly limits: ProcessLimits & DiskLimits & { readonly outputBytes: number }
  readonly clock: Clock
  /** Real paths inside the roots that commands do not change, whether they exist or not, in addition to protected names. */
  readonly protect: readonly string[]
  /** Where the state of protected places is recorded while commands run. */
  readonly ledgerFolder?: string
  /** Opens a proxy for one command; `user` is the user that runs it, if that is not the hub's own. */
  readonly proxy?: (network: CommandNetwork, user: SandboxUser | undefined) => Promise<CommandProxy>
  /** Background commands that were lost with an earlier hub. */
  readonly lost?: readonly LostCommand[]
  /** How many sandboxes are kept warm. Default: 2. */
  readonly prepared?: number
  /** Replaces the starter in tests. */
  readonly starter?: Starter
}

/** The only way to run other programs. */
export interface ProcessGuard {
  /** What this machine can do; really tried, once. */
  report(): Promise<SandboxReport>
  /** How commands are isolated; known after `report`. */
  level(): SandboxLevel | undefined
  /** The real folder that a command would work in, for policy. */
  place(cwd?: string): { readonly cwd: string; readonly roots: readonly string[] }
  /** What a command could see, write and reach; `hosts` are those that policy grants. */
  describe(options?: { readonly hosts?: readonly string[] }): Promise<SandboxDescription>
  /** The handle for one call. */
  handle(call: CommandCall): Commands
  /** Ends what a call has left running, except for its background commands. */
  endCall(callId: string): Promise<void>
  /** Ends all commands of a run. */
  endRun(run: string): Promise<void>
  close(): Promise<void>
}

type LaunchRequest = Pick<StartRequest, 'sandbox' | 'cwd' | 'ready'> & { readonly request: CommandRequest }

/** A proxy that serves one command. */
interface CommandProxy {
  readonly socket: string
  close(): Promise<void>
}

/** Guards the starting of programs: policy has decided on every word of what runs, and it runs in a sandbox. */
export function createProcessGuard(options: ProcessGuardOptions): ProcessGuard {
  const commands = new CommandRunner(options)
  const { roots, sandboxes, places, background, callCommands } = commands
  return {
    report: () => sandboxes.report(),
    level: () => sandboxes.level,
    place: (cwd) => ({ cwd: commands.resolveFolder(cwd), roots }),
    describe: async (described) => sandboxes.describe(await places.look(), described),
    handle: (call) => ({
      start: (request) => commands.start(call, request),
      list: () => background.list(call.run),
      find: (id) => background.find(call.run, id),
      remove: (id) => background.remove(call.run, id),
    }),
    endCall: (callId) => callCommands.endCall(callId),
    async endRun(run) {
      await Promise.all([callCommands.endRun(run), background.endRun(run)])
    },
    close: () => commands.close(),
  }
}

const MAX_SHOWN_LENGTH = 1_000

/** Starts commands and knows all that run. */
class CommandRunner {
  /** As the owner wrote them. */
  readonly roots: readonly string[]
  readonly sandboxes: SandboxFactory
  /** Keeps protected places as they are while commands run. */
  readonly places: PlaceKeeper
  readonly background: BackgroundCommands
  readonly callCommands = new CallCommands()
  readonly #options: ProcessGuardOptions
  readonly #starter: Starter
  /** Ends commands that fill the disk. */
  readonly #disk: DiskWatch

  constructor(options: ProcessGuardOptions) {
    const { clock, protect: exact, hide: hidden, ledgerFolder, limits, prepared } = options
    this.#options = options
    this.roots = options.roots.map(({ path }) => path)
    this.#starter = options.starter ?? createStarter({ clock, prepared, createCgroup: commandCgroup })
    const writable = writableFolders(options)
    this.#disk = new DiskWatch(writable, limits, clock)
    this.sandboxes = new SandboxFactory(options)
    this.background = new BackgroundCommands(clock, options.lost)
    // Without a sandbox, commands can write to read-only roots, too.
    const readOnly = async () =>
      (await this.sandboxes.report()).level === 'none' ? [] : readOnlyRoots(options, writable)
    const readable = options.readable.map(realIfThere)
    const roots = watchedFolders(options)
    this.places = new PlaceKeeper({ roots, readable, readOnly, exact, hidden, ledgerFolder, clock })
  }

  resolveFolder(cwd?: string): string {
    return resolveWorkingFolder(cwd, { roots: this.roots, hidden: this.#options.hide })
  }

  async start(call: CommandCall, request: CommandRequest): Promise<ManagedCommand> {
    const command = await this.callCommands.start(call, () => this.#start(call, request))
    if (!request.background) return command
    try {
      await command.toBackground()
      return command
    } catch (error) {
      await command.discard()
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.callCommands.close(), this.background.close()])
    await this.#starter.close()
  }

  /** Starts what policy decided on, in its sandbox. The request is read once, so what was decided on is what runs. */
  async #start(call: CommandCall, originalRequest: CommandRequest): Promise<ManagedCommand> {
    throwIfAborted(call.signal())
    const request = copyRequest(originalRequest)
    checkCommandRequest(request)
    checkVariables(request.env ?? {})
    const value = commandValue(request)
    const cwd = this.resolveFolder(request.cwd)
    call.permits(value, { cwd, env: Object.keys(request.env ?? {}) })
    const ready = call.beforeStart?.()
    // The starter awaits it and reports its failure; until then, a rejection must not count as unhandled.
    ready?.catch(() => {})
    const proxy = call.connect && (await this.#options.proxy?.(call.connect, otherUser(this.#options)))
    let process: CommandProcess | undefined
    const running: KeptCommand = {
      onSetAside: (done) => call.onSetAside?.(done),
      onReport: (text) => call.onReport?.(text),
      onRunLater: (changed) => call.onRunLater?.(changed),
      stop: () => void process?.stop().catch(() => undefined),
    }
    let onLeft: (() => void) | undefined
    const release = async () => {
      try {
        await this.places.leave(running)
      } finally {
        await proxy?.close()
        // After what it created at protected places was renamed: that is labelled, too.
        onLeft?.()
      }
    }
    try {
      const [found, disk] = await Promise.all([this.places.enter(running), this.#disk.before()])
      onLeft = await call.onReach?.(await this.sandboxes.reach(found))
      const build = () => this.sandboxes.build(found, proxy?.socket)
      const startedMs = Date.now()
      const { process: started, sandbox } = await this.#launchIn(build, call, { request, cwd, ready })
      process = started
      this.#starter.prepare(sandbox)
      const { clock, limits } = this.#options
      const { background, stdin, pty, timeoutMs } = request
      return new ManagedCommand({
        id: this.background.newId(call.run),
        command: shorten(value),
        cwd,
        sandbox: sandbox.level,
        process: started,
        watchDisk: (stop) => this.#disk.watch({ pid: started.pid, stop }, disk, startedMs),
        call,
        clock,
        timeoutMs: Math.min(timeoutMs, call.maxMs ?? timeoutMs),
        // Nobody could answer a foreground command: it reads end of file immediately instead of waiting forever.
        stdin: stdin ?? (background || pty ? undefined : ''),
        outputBytes: limits.outputBytes,
        register: (command) => {
          this.background.add(command)
          this.callCommands.release(command)
        },
        release,
      })
    } catch (error) {
      await release()
      throw error
    }
  }

  /** Builds the sandbox again, once, if it did not start because something that it was to show or close is gone. */
  async #launchIn(build: () => Promise<SandboxLaunch>, call: CommandCall, start: Omit<LaunchRequest, 'sandbox'>) {
    const sandbox = await build()
    try {
      return { sandbox, process: await this.#launch(call, { ...start, sandbox }) }
    } catch (error) {
      if (!(error instanceof ToolError) || error.code !== 'SANDBOX_UNAVAILABLE') throw error
      const another = await build()
      if (another.key === sandbox.key) throw error
      return { sandbox: another, process: await this.#launch(call, { ...start, sandbox: another }) }
    }
  }

  /** The call can abort the start. Afterwards, the command itself follows its call, which it may outlive. */
  async #launch(call: CommandCall, { request, ...start }: LaunchRequest): Promise<CommandProcess> {
    const pty = request.pty === true
    const env = { ...(pty && { TERM: 'xterm-256color' }), ...request.env }
    const signal = call.signal()
    const starting = new AbortController()
    const stop = () => starting.abort(signal.reason)
    signal.addEventListener('abort', stop)
    try {
      const { mergeStderr } = request
      return await this.#starter.start(
        { ...start, words: commandArgv(request), env, pty, mergeStderr, run: call.run },
        starting.signal,
      )
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }
}

function shorten(value: string): string {
  const line = escapeLine(value)
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line
}

/**
 * Where protected places are watched: the roots and the other folders that commands can write, whether they exist yet
 * or not. A shared cache is included only if it lies in a root.
 */
function watchedFolders({ roots, writable, caches }: SandboxSettings): string[] {
  const written = rootsOf({ roots }, 'write')
  const shared = cacheFolders(caches).writable.map(realIfThere)
  const more = [
    ...writable.map(realIfThere),
    ...shared.filter((path) => roots.some((root) => isWithin(root.path, path))),
  ]
  return [...roots.map(({ path }) => path), ...more.filter((path) => !written.some((root) => isWithin(root, path)))]
}

/** A read-only root inside a writable folder does not count: if it is missing, a command can create it. */
function readOnlyRoots(settings: SandboxSettings, writable: readonly string[]): string[] {
  const written = writable.map(realIfThere)
  return rootsOf(settings, 'read').filter((root) => !written.some((folder) => isWithin(folder, root)))
}

function writableFolders({ roots, writable, caches }: SandboxSettings): string[] {
  return [...rootsOf({ roots }, 'write'), ...writable, ...cacheFolders(caches).writable]
}

function rootsOf({ roots }: Pick<SandboxSettings, 'roots'>, mode: 'read' | 'write'): string[] {
  return roots.filter((root) => root.mode === mode).map(({ path }) => path)
}

function otherUser(settings: SandboxSettings): SandboxUser | undefined {
  const user = sandboxUser(settings)
  return user.isOther ? user : undefined
}
