import { type Stats, statSync } from 'node:fs'
import { bridgeBinds, proxyEnvironment } from '../bridge/bridge.ts'
import type { ProcessLimits } from '../host/host.ts'
import { planMounts } from '../isolation/mounts.ts'
import type { SandboxSpec, SandboxUser } from '../isolation/sandbox.ts'
import type { SandboxReport } from './probe-sandbox.ts'

/** What a command could see, write and reach. */
export interface SandboxDescription {
  /** How strongly commands are isolated: `none` if this machine cannot isolate them. */
  readonly level: SandboxReport['level']
  /** What isolates them: `bubblewrap 0.8.0`, `unshare from util-linux 2.38`. */
  readonly engine: string
  /** Files and folders that commands can read. Undefined without a sandbox: then everything that the user can read. */
  readonly readOnly?: readonly string[]
  /** Folders that commands may change; undefined without a sandbox. */
  readonly writable?: readonly string[]
  /** Writable folders in memory that are removed with the command. */
  readonly inMemory: ReadonlyArray<{ readonly path: string; readonly maxBytes: number }>
  /** Inside writable folders: visible but read-only. */
  readonly protected: readonly string[]
  /** Inside the roots: not visible. */
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
  readonly limits: ProcessLimits
  /** Weaknesses and how to fix them, one line each. */
  readonly weaknesses: readonly string[]
  /** Possible surprises: who owns the files that commands create, and where commands cannot write. */
  readonly notes: readonly string[]
  /** The whole description as text. */
  readonly lines: readonly string[]
}

type Facts = Omit<SandboxDescription, 'lines'>
type Access = Omit<Facts, 'level' | 'engine' | 'limits' | 'weaknesses'>

/** Describes what a command in a sandbox could see, write and reach; `hosts` are those that the proxy permits. */
export function describeSandboxSpec(
  spec: SandboxSpec,
  report: SandboxReport,
  { hosts = [] }: { readonly hosts?: readonly string[] } = {},
): SandboxDescription {
  const { level, limits } = spec
  const access = level === 'none' ? describeUnconfined(spec) : describeSandboxed(spec, hosts)
  const facts = { level, engine: report.engine, ...access, limits, weaknesses: report.weaknesses }
  return { ...facts, lines: describeLines(facts) }
}

function describeUnconfined(spec: SandboxSpec): Access {
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

function describeSandboxed(spec: SandboxSpec, hosts: readonly string[]): Access {
  const { user, system, proc, memory, granted } = planMounts(spec)
  const protectedPaths = new Set(spec.protect)
  const read = granted.mounts.filter((mount) => mount.kind === 'read')
  const named = new Set([...spec.roots.map((root) => root.path), ...spec.writable])
  return {
    readOnly: [
      ...system.filter((mount) => mount.kind === 'read' || mount.kind === 'link').map((mount) => mount.to),
      ...read.filter((mount) => !protectedPaths.has(mount.to)).map((mount) => mount.to),
      ...(spec.proxySocket ? bridgeBinds().map((bind) => bind.from) : []),
    ],
    // Other writable mounts are folders that are only pinned in their place.
    writable: granted.mounts.filter((mount) => mount.kind === 'write' && named.has(mount.to)).map((mount) => mount.to),
    inMemory: memory
      .filter(({ to }) => granted.mounts.every((mount) => mount.to !== to))
      .map(({ to, bytes }) => ({ path: to, maxBytes: bytes })),
    protected: [...read.filter((mount) => protectedPaths.has(mount.to)).map((mount) => mount.to), proc.readOnly],
    hidden: [...system, ...granted.mounts]
      .filter((mount) => mount.kind === 'hideFile' || mount.kind === 'hideFolder')
      .map((mount) => mount.to)
      .concat(proc.hiddenFiles),
    leftOut: granted.leftOut,
    network: spec.proxySocket ? { mode: 'proxy', hosts } : { mode: 'off', hosts: [] },
    user: { uid: user.uid, gid: user.gid },
    environment: Object.keys({ ...spec.environment, ...(spec.proxySocket && proxyEnvironment()) }).toSorted(),
    notes: ownershipNotes(spec, user),
  }
}

/** Who owns the files that commands create, if not the hub's user, and which roots commands cannot write to. */
export function ownershipNotes(spec: Pick<SandboxSpec, 'roots'>, user: SandboxUser): string[] {
  const notes: string[] = []
  const hub = process.geteuid?.() ?? user.uid
  if (user.isOther)
    notes.push(
      `Commands run as user ${user.uid}, the owner of the workspace, not as ${hub}: that user owns the files they create.`,
    )
  if (user.uid === 0)
    notes.push(
      'Commands run as root without its capabilities, because root owns the workspace or other users cannot reach it. Give it to another user (chown -R) to run them as that user.',
    )
  for (const { path, mode } of spec.roots) {
    const stats = mode === 'write' ? statSync(path, { throwIfNoEntry: false }) : undefined
    if (!stats || stats.uid === user.uid) continue
    notes.push(
      canWrite(stats, user)
        ? `${path} belongs to user ${stats.uid}; commands run as user ${user.uid}, who owns the files they create there.`
        : `${path} belongs to user ${stats.uid} and commands run as user ${user.uid}${user.uid === 0 ? ' without its rights' : ''}: they cannot write there. Give it to that user (chown -R ${user.uid}), or run the hub as user ${stats.uid}.`,
    )
  }
  return notes
}

function canWrite(stats: Stats, { gid }: SandboxUser): boolean {
  return (stats.mode & (stats.gid === gid ? 0o020 : 0o002)) !== 0
}

/** The description as lines of text. */
export function describeLines(facts: Facts): string[] {
  const { limits } = facts
  return [
    `Sandbox: ${facts.level} (${facts.engine}), as user ${facts.user.uid}`,
    ...section('Read-only', facts.readOnly ?? ['everything that the user can read']),
    ...section('Writable', facts.writable ?? ['everything that the user can write']),
    ...section(
      'In memory, removed with the command',
      facts.inMemory.map(({ path, maxBytes }) => `${path} (at most ${size(maxBytes)})`),
    ),
    ...section('Visible but read-only', facts.protected),
    ...section('Hidden', facts.hidden),
    ...section(
      'Without effect',
      // Missing paths are of no interest to people; the data contains them.
      facts.leftOut.filter(({ why }) => why !== 'does not exist').map(({ path, why }) => `${path}: ${why}`),
    ),
    `Network: ${describeNetwork(facts)}`,
    `Environment: ${shortNames(facts.environment).join(' ')}`,
    `Limits: ${limits.cpuSeconds} s of processor time, ${size(limits.memoryBytes)} of memory, ${limits.processes} processes, ${size(limits.fileBytes)} per file, ${limits.openFiles} open files${describeDisk(limits)}`,
    ...section('Note', facts.notes),
    ...section('Weaker than it could be', facts.weaknesses),
  ].map(escapeControls)
}

function describeDisk({ diskBytes, newFiles }: ProcessLimits): string {
  return diskBytes === undefined || newFiles === undefined
    ? ''
    : `, ${size(diskBytes)} more on disk, ${newFiles} new files`
}

function describeNetwork({ network: { mode, hosts } }: Facts): string {
  if (mode === 'open') return 'not restricted'
  if (mode === 'off') return 'off'
  return hosts.length > 0 ? `through the proxy, to ${hosts.join(', ')}` : 'through the proxy, as policy decides'
}

/** The numbered settings of git are many, and not of interest one by one. */
function shortNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.replace(/^(GIT_CONFIG)_(KEY|VALUE)_\d+$/, '$1_…')))]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]
}

function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`
}

/** The name of a folder may contain characters that control a terminal or reverse the direction of a line. */
function escapeControls(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`)
}
