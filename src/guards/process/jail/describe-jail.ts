import { bridgeBinds, proxyEnvironment } from '../bridge/bridge.ts'
import { closedInProc } from './closed-in-proc.ts'
import { describeLines } from './describe-lines.ts'
import { grantedMounts } from './granted-mounts.ts'
import type { CommandLimits, JailSpec, SandboxReport } from './jail.ts'
import { jailOwner } from './jail-owner.ts'
import { ownershipNotes } from './ownership-notes.ts'
import { memoryMounts, systemMounts } from './system-mounts.ts'

/** What a command could see, write and reach. */
export interface JailDescription {
  /** How strongly commands are isolated: `none` when this machine cannot. */
  readonly level: SandboxReport['level']
  /** What isolates them: `bubblewrap 0.8.0`, `unshare from util-linux 2.38`. */
  readonly engine: string
  /** Undefined without a jail: then it is all that the user can. */
  readonly readOnly?: readonly string[]
  /** Folders that commands may change; undefined without a sandbox. */
  readonly writable?: readonly string[]
  /** Writable, in memory, and gone with the command. */
  readonly inMemory: ReadonlyArray<{ readonly path: string; readonly maxBytes: number }>
  /** Inside writable folders: seen, never changed. */
  readonly protected: readonly string[]
  /** Inside the roots: never seen. */
  readonly hidden: readonly string[]
  /** Named by the owner, without effect. */
  readonly leftOut: ReadonlyArray<{ readonly path: string; readonly why: string }>
  /** Whether commands reach the network: not at all, the hosts through the proxy, or everything. */
  readonly network: { readonly mode: 'off' | 'proxy' | 'open'; readonly hosts: readonly string[] }
  /** The user and group that commands run as. */
  readonly user: { readonly uid: number; readonly gid: number }
  /** Names only; values may be private. */
  readonly environment: readonly string[]
  /** What one command may use. */
  readonly limits: CommandLimits
  /** What is weaker than it could be and what to do about it, one a line for people. */
  readonly weaknesses: readonly string[]
  /** What surprises: whose the files are that commands make, and where they cannot write. */
  readonly notes: readonly string[]
  /** All of it, for people. */
  readonly lines: readonly string[]
}

/** Says exactly what a command in such a jail could see, write and reach; `hosts` are those that the proxy lets through. */
export function describeJail(
  spec: JailSpec,
  report: SandboxReport,
  { hosts = [] }: { readonly hosts?: readonly string[] } = {},
): JailDescription {
  const described = spec.level === 'none' ? describeNone(spec) : describeJailed(spec, hosts)
  const whole = {
    level: spec.level,
    engine: report.engine,
    ...described,
    limits: spec.limits,
    weaknesses: report.weaknesses,
  }
  return { ...whole, lines: describeLines(whole) }
}

type Described = Omit<JailDescription, 'level' | 'engine' | 'limits' | 'weaknesses' | 'lines'>

function describeNone(spec: JailSpec): Described {
  return {
    inMemory: [],
    protected: [],
    hidden: [],
    leftOut: [...spec.protect, ...spec.hide].map((path) => ({ path, why: 'needs a sandbox' })),
    network: { mode: 'open', hosts: [] },
    user: { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 },
    environment: Object.keys(spec.environment).toSorted(),
    notes: [],
  }
}

function describeJailed(spec: JailSpec, hosts: readonly string[]): Described {
  const owner = jailOwner(spec)
  const grants = grantedMounts(spec, owner)
  const closed = closedInProc(spec.level, owner)
  const system = systemMounts(owner)
  const inRoots = new Set(spec.protect)
  const read = grants.mounts.filter((mount) => mount.kind === 'read')
  const named = new Set([...spec.roots.map((root) => root.path), ...spec.writable])
  return {
    readOnly: [
      ...system.filter((mount) => mount.kind === 'read' || mount.kind === 'link').map((mount) => mount.to),
      ...read.filter((mount) => !inRoots.has(mount.to)).map((mount) => mount.to),
      ...(spec.proxySocket ? bridgeBinds().map((bind) => bind.from) : []),
    ],
    // Others are folders that are only held in their place.
    writable: grants.mounts.filter((mount) => mount.kind === 'write' && named.has(mount.to)).map((mount) => mount.to),
    inMemory: memoryMounts(spec.limits.memoryBytes).flatMap((mount) =>
      mount.kind === 'memory' ? [{ path: mount.to, maxBytes: mount.bytes }] : [],
    ),
    protected: [...read.filter((mount) => inRoots.has(mount.to)).map((mount) => mount.to), closed.readOnly],
    hidden: [...system, ...grants.mounts]
      .filter((mount) => mount.kind === 'hideFile' || mount.kind === 'hideFolder')
      .map((mount) => mount.to)
      .concat(closed.hidden),
    leftOut: grants.leftOut,
    network: spec.proxySocket ? { mode: 'proxy', hosts } : { mode: 'off', hosts: [] },
    user: { uid: owner.uid, gid: owner.gid },
    environment: Object.keys({ ...spec.environment, ...(spec.proxySocket && proxyEnvironment()) }).toSorted(),
    notes: ownershipNotes(spec, owner),
  }
}
