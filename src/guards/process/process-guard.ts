import type { Clock } from '../../clock.ts'
import type { Commands, SandboxLevel } from '../../contracts/commands.ts'
import { realIfThere } from '../../disk/code-files.ts'
import { isWithin } from '../is-within.ts'
import { PlaceKeeper } from '../protected/place-keeper.ts'
import { CallCommands } from './command/call-commands.ts'
import { commandCgroup } from './command/command-cgroup.ts'
import { type DiskLimits, DiskWatch } from './command/disk-watch.ts'
import { findPlace } from './command/find-place.ts'
import { type JailOptions, JailSource } from './command/jail-source.ts'
import { type LostCommand, ProcessTable } from './command/process-table.ts'
import { type CommandProxy, type CommandRoom, startCommand } from './command/start-command.ts'
import type { CommandCall, CommandNetwork } from './command-call.ts'
import { cacheFolders } from './jail/cache-folders.ts'
import type { JailDescription } from './jail/describe-jail.ts'
import type { CommandLimits, SandboxReport } from './jail/jail.ts'
import { type JailOwner, jailOwner } from './jail/jail-owner.ts'
import { createStarter } from './start/create-starter.ts'
import type { Starter } from './start/started.ts'

export type { CommandCall, CommandNetwork } from './command-call.ts'

/** What the owner says about commands. */
export interface ProcessGuardOptions extends JailOptions {
  readonly limits: CommandLimits & DiskLimits & { readonly outputBytes: number }
  readonly clock: Clock
  /** Real paths inside the roots that commands do not change, whether they exist or not, in addition to protected names. */
  readonly protect: readonly string[]
  /** Where is noted, while commands run, what was at protected places before. */
  readonly ledgerFolder?: string
  /** Opens the way to the network for one command; `owner` is who runs it, where that is not the hub's own user. */
  readonly proxy?: (network: CommandNetwork, owner: JailOwner | undefined) => Promise<CommandProxy>
  /** Background commands that went away with an earlier hub. */
  readonly lost?: readonly LostCommand[]
  /** How many jails are made ahead; 2 unless said. */
  readonly prepared?: number
  /** Replaces the starting itself, for tests. */
  readonly starter?: Starter
}

/** The only door to other programs. */
export interface ProcessGuard {
  /** What this machine can do; really tried, once. */
  report(): Promise<SandboxReport>
  /** How commands are fenced in; known after `report`. */
  level(): SandboxLevel | undefined
  /** The real folder that a command would work in, for policy. */
  place(cwd?: string): { readonly cwd: string; readonly roots: readonly string[] }
  /** What a command could see, write and reach; `hosts` are those that policy grants. */
  describe(options?: { readonly hosts?: readonly string[] }): Promise<JailDescription>
  /** The handle for one call. */
  handle(call: CommandCall): Commands
  /** Ends what a call has left running, but not what it put into the background. */
  endCall(callId: string): Promise<void>
  /** Ends all commands of a run. */
  endRun(run: string): Promise<void>
  close(): Promise<void>
}

/** Guards the starting of programs: what runs was judged, word by word, and runs in a jail. */
export function createProcessGuard(options: ProcessGuardOptions): ProcessGuard {
  const { clock } = options
  const starter = options.starter ?? createStarter({ clock, prepared: options.prepared, createCgroup: commandCgroup })
  const jails = new JailSource(options)
  const table = new ProcessTable(clock, options.lost)
  const ofCalls = new CallCommands()
  const roots = options.roots.map(({ path }) => path)
  const { protect: exact, hide: hidden, ledgerFolder } = options
  const kept = keptFolders(options)
  // Without a sandbox, commands can write there, too.
  const readOnly = async () => ((await jails.report()).level === 'none' ? [] : onlyRead(options))
  const places = new PlaceKeeper({ roots: kept, readOnly, exact, hidden, ledgerFolder, clock })
  const place = (cwd?: string) => findPlace(cwd, { roots, hidden: options.hide })

  const room: CommandRoom = {
    clock,
    starter,
    outputBytes: options.limits.outputBytes,
    disk: new DiskWatch(writableFolders(options), options.limits, clock),
    places,
    place,
    jail: (found, proxySocket) => jails.jail(found, proxySocket),
    reach: (found) => jails.reach(found),
    proxy: async (call) => (call.connect ? options.proxy?.(call.connect, otherOwner(options)) : undefined),
    newId: (run) => table.newId(run),
    register(command) {
      table.add(command)
      ofCalls.release(command)
    },
  }

  const start = async (call: CommandCall, request: Parameters<Commands['start']>[0]) => {
    const command = await ofCalls.start(call, () => startCommand(room, call, request))
    if (!request.background) return command
    try {
      await command.toBackground()
      return command
    } catch (error) {
      await command.forget()
      throw error
    }
  }

  return {
    report: () => jails.report(),
    level: () => jails.level,
    place: (cwd) => ({ cwd: place(cwd), roots }),
    describe: async (asked) => jails.describe(await places.look(), asked),
    handle: (call) => ({
      start: (request) => start(call, request),
      list: () => table.list(call.run),
      find: (id) => table.find(call.run, id),
      remove: (id) => table.remove(call.run, id),
    }),
    endCall: (callId) => ofCalls.endCall(callId),
    async endRun(run) {
      await Promise.all([ofCalls.endRun(run), table.endRun(run)])
    },
    async close() {
      await Promise.all([ofCalls.close(), table.close()])
      await starter.close()
    },
  }
}

/**
 * Where protected places are kept: the roots and the other folders that commands can write to, whether they exist yet or
 * not. A shared cache is one of them only where it lies in a root.
 */
function keptFolders({ roots, writable, caches }: JailOptions): string[] {
  const written = rootsOf({ roots }, 'write')
  const shared = cacheFolders(caches).writable.map(realIfThere)
  const more = [
    ...writable.map(realIfThere),
    ...shared.filter((path) => roots.some((root) => isWithin(root.path, path))),
  ]
  return [...roots.map(({ path }) => path), ...more.filter((path) => !written.some((root) => isWithin(root, path)))]
}

/** A root in a folder that commands write to is none of these: when it is gone, a command can make it. */
function onlyRead(options: JailOptions): string[] {
  const written = writableFolders(options).map(realIfThere)
  return rootsOf(options, 'read').filter((root) => !written.some((folder) => isWithin(folder, root)))
}

function writableFolders({ roots, writable, caches }: JailOptions): string[] {
  return [...rootsOf({ roots }, 'write'), ...writable, ...cacheFolders(caches).writable]
}

function rootsOf({ roots }: Pick<JailOptions, 'roots'>, mode: 'read' | 'write'): string[] {
  return roots.filter((root) => root.mode === mode).map(({ path }) => path)
}

function otherOwner(options: JailOptions): JailOwner | undefined {
  const owner = jailOwner(options)
  return owner.isOther ? owner : undefined
}
