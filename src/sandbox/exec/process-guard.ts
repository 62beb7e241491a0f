import type { Clock, Commands, SandboxLevel } from '../../core/index.ts'
import { isWithin } from '../../lib/index.ts'
import { realIfThere } from '../../system/index.ts'
import { PlaceKeeper } from '../protected/place-keeper.ts'
import { BackgroundCommands, CallCommands, type LostCommand } from './command/command-registry.ts'
import { resolveWorkingFolder } from './command/command-request.ts'
import { type DiskLimits, DiskWatch } from './command/disk-watch.ts'
import { SandboxFactory, type SandboxSettings } from './command/sandbox-factory.ts'
import { type CommandProxy, type CommandServices, startCommand } from './command/start-command.ts'
import type { CommandCall, CommandNetwork } from './command-call.ts'
import { commandCgroup } from './host/cgroup.ts'
import type { ProcessLimits } from './host/limits.ts'
import { cacheFolders } from './isolation/environment.ts'
import { type SandboxUser, sandboxUser } from './isolation/sandbox.ts'
import type { SandboxDescription } from './probe/describe-sandbox.ts'
import type { SandboxReport } from './probe/probe-sandbox.ts'
import { createStarter, type Starter } from './start/starter.ts'

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

/** Guards the starting of programs: policy has decided on every word of what runs, and it runs in a sandbox. */
export function createProcessGuard(options: ProcessGuardOptions): ProcessGuard {
  const { clock, protect: exact, hide: hidden, ledgerFolder, limits } = options
  const starter = options.starter ?? createStarter({ clock, prepared: options.prepared, createCgroup: commandCgroup })
  const sandboxes = new SandboxFactory(options)
  const background = new BackgroundCommands(clock, options.lost)
  const callCommands = new CallCommands()
  const roots = options.roots.map(({ path }) => path)
  // Without a sandbox, commands can write to read-only roots, too.
  const readOnly = async () => ((await sandboxes.report()).level === 'none' ? [] : readOnlyRoots(options))
  const places = new PlaceKeeper({ roots: watchedFolders(options), readOnly, exact, hidden, ledgerFolder, clock })
  const resolveFolder = (cwd?: string) => resolveWorkingFolder(cwd, { roots, hidden })

  const services: CommandServices = {
    clock,
    starter,
    outputBytes: limits.outputBytes,
    disk: new DiskWatch(writableFolders(options), limits, clock),
    places,
    resolveFolder,
    buildSandbox: (found, proxySocket) => sandboxes.build(found, proxySocket),
    reach: (found) => sandboxes.reach(found),
    openProxy: async (call) => (call.connect ? options.proxy?.(call.connect, otherUser(options)) : undefined),
    newId: (run) => background.newId(run),
    register(command) {
      background.add(command)
      callCommands.release(command)
    },
  }

  const start = async (call: CommandCall, request: Parameters<Commands['start']>[0]) => {
    const command = await callCommands.start(call, () => startCommand(services, call, request))
    if (!request.background) return command
    try {
      await command.toBackground()
      return command
    } catch (error) {
      await command.discard()
      throw error
    }
  }

  return {
    report: () => sandboxes.report(),
    level: () => sandboxes.level,
    place: (cwd) => ({ cwd: resolveFolder(cwd), roots }),
    describe: async (described) => sandboxes.describe(await places.look(), described),
    handle: (call) => ({
      start: (request) => start(call, request),
      list: () => background.list(call.run),
      find: (id) => background.find(call.run, id),
      remove: (id) => background.remove(call.run, id),
    }),
    endCall: (callId) => callCommands.endCall(callId),
    async endRun(run) {
      await Promise.all([callCommands.endRun(run), background.endRun(run)])
    },
    async close() {
      await Promise.all([callCommands.close(), background.close()])
      await starter.close()
    },
  }
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
function readOnlyRoots(settings: SandboxSettings): string[] {
  const written = writableFolders(settings).map(realIfThere)
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
