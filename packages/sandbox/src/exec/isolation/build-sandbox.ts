import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type SandboxLevel, ToolError } from '@tool-hub/core'
import { createPrivateFolder, privateFolder } from '../../system/index.ts'
import { bridgeCommand, proxyEnvironment } from '../bridge/bridge.ts'
import { findProgram, limitOptions, needProgram, type ProcessLimits } from '../host/host.ts'
import { SUPERVISOR } from '../start/shell-scripts.ts'
import { type MountPlan, planMounts } from './mounts.ts'
import { namespacesWords } from './namespaces.ts'
import {
  type Mount,
  needsPrivateMounts,
  runAs,
  SANDBOX_HOME,
  type SandboxLaunch,
  type SandboxSpec,
  sandboxKey,
} from './sandbox.ts'
import { seccompProgram } from './seccomp.ts'

/** Turns a specification into a program to start. Throws SANDBOX_UNAVAILABLE if a program that it needs is missing. */
export function buildSandbox(spec: SandboxSpec, platform: NodeJS.Platform = process.platform): SandboxLaunch {
  if (spec.level === 'none') return unconfinedSandbox(spec)
  return platform === 'darwin' ? macosSandbox(spec) : linuxSandbox(spec, spec.level)
}

/**
 * Level full: bubblewrap, with a root of its own, a filter of system calls and limits. Level namespaces: the same root
 * and limits, made with the programs of util-linux, without the filter.
 */
function linuxSandbox(spec: SandboxSpec, level: 'full' | 'namespaces'): SandboxLaunch {
  const isFull = level === 'full'
  const seccomp = isFull ? systemCallFilter() : undefined
  const plan = planMounts(spec)
  // The bridge to the network belongs to one command.
  const supervisor = isFull && spec.isReusable && !spec.proxySocket ? supervisorFile() : undefined
  const words = isFull ? bubblewrapWords(spec, plan, supervisor) : namespacesWords(spec, plan)
  return toLaunch(spec, level, runAs(plan.user, words), {
    ...(seccomp && { seccomp, swappable: sources(plan.granted.inside) }),
    ...(spec.proxySocket && { helper: bridgeCommand() }),
    closed: plan.granted.closed,
    hasPrivateMounts: needsPrivateMounts(plan.user),
    ...(supervisor && { isReusable: true }),
  })
}

/** No isolation: the command runs as the hub's user, with its limits where the system has a program to set them. */
function unconfinedSandbox(spec: SandboxSpec): SandboxLaunch {
  const prlimit = findProgram('prlimit')
  const words = prlimit ? [prlimit, ...limitOptions(spec.limits, { isSandboxed: false })] : ['/usr/bin/env']
  return toLaunch(spec, 'none', [...words, '--'])
}

/** The only place where a launch is put together, whatever the sandbox consists of. */
function toLaunch(
  spec: SandboxSpec,
  level: SandboxLevel,
  [file = '', ...args]: readonly string[],
  confinement: Pick<
    SandboxLaunch,
    'seccomp' | 'helper' | 'swappable' | 'closed' | 'hasPrivateMounts' | 'isReusable'
  > = {},
): SandboxLaunch {
  const env = { ...spec.environment, ...(confinement.helper && proxyEnvironment()) }
  const launch = { level, file, args, env, limits: spec.limits, ...confinement }
  return { ...launch, key: sandboxKey(launch) }
}

/** The descriptor from which bubblewrap reads the filter: the first one after the standard streams. */
const SECCOMP_FD = 3

const ISOLATION = [
  ...['--unshare-user', '--disable-userns', '--unshare-all', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
]

/** The complete bubblewrap command; the words of the sandboxed command follow it. Later mounts cover earlier ones. */
function bubblewrapWords(
  spec: SandboxSpec,
  { system, proc, memory, granted, proxy }: MountPlan,
  supervisor: string | undefined,
): string[] {
  return [
    needProgram('bwrap', 'bubblewrap'),
    ...ISOLATION,
    ...system.flatMap(mountOptions),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...proc.hiddenFiles.flatMap((path) => mountOptions({ kind: 'hideFile', to: path })),
    // Process 1 is bubblewrap itself: the links in its folder lead to files outside.
    ...mountOptions({ kind: 'hideFolder', to: '/proc/1' }),
    ...['--remount-ro', proc.readOnly],
    ...memory.flatMap(mountOptions),
    ...['--dir', SANDBOX_HOME],
    ...(supervisor ? mountOptions({ kind: 'read', from: supervisor, to: SUPERVISOR }) : []),
    ...granted.mounts.flatMap(mountOptions),
    ...proxy.flatMap(mountOptions),
    // Both are memory without a limit, and nobody has to write there.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--seccomp', String(SECCOMP_FD), '--'],
    // Runs inside, where processes are counted for this sandbox alone.
    ...[needProgram('prlimit', 'util-linux'), ...limitOptions(spec.limits), '--'],
  ]
}

/** Mounts whose source a running command could replace. */
function sources(inside: ReadonlySet<Mount>): string[] {
  return [...inside].flatMap((mount) => ('from' in mount ? [mount.to] : []))
}

function mountOptions(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.from, mount.to]
    case 'write':
      return ['--bind', mount.from, mount.to]
    case 'memory':
      return ['--perms', mount.mode, '--size', String(mount.bytes), '--tmpfs', mount.to]
    case 'link':
      return ['--symlink', mount.target, mount.to]
    case 'hideFolder':
      return ['--size', '4096', '--tmpfs', mount.to, '--remount-ro', mount.to]
    case 'hideFile':
      // A device that the mount does not let anybody open; programs that walk folders skip devices.
      return ['--ro-bind', '/dev/null', mount.to]
  }
}

let filter: NonNullable<SandboxLaunch['seccomp']> | undefined

/** Assembled once: it depends on the processor only. */
function systemCallFilter(): NonNullable<SandboxLaunch['seccomp']> {
  if (filter) return filter
  const program = seccompProgram()
  if (program) {
    filter = { fd: SECCOMP_FD, program }
    return filter
  }
  throw new ToolError('SANDBOX_UNAVAILABLE', `No system call filter exists for ${process.arch} processors.`, {
    hint: 'Use a machine with an x64 or arm64 processor; here the sandbox is at most at level namespaces.',
  })
}

/** A constant: the numbers are passed as parameters. macOS has no limit on address space that holds. */
const SET_LIMITS =
  'ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -u "$4" && shift 4 && exec "$@"'

/**
 * sandbox-exec with a generated profile. Files and network are restricted as on Linux, but processes have no namespace of
 * their own, so it counts as level namespaces at most.
 */
function macosSandbox(spec: SandboxSpec): SandboxLaunch {
  const temporary = ['TMPDIR', 'HOME'].flatMap((name) => spec.environment[name] ?? [])
  const profile = macosProfile(spec, { temporary })
  const words = ['/usr/bin/sandbox-exec', '-p', profile, '/bin/sh', '-c', SET_LIMITS, 'limits']
  return toLaunch(spec, 'namespaces', [...words, ...limitNumbers(spec.limits)])
}

function limitNumbers(limits: ProcessLimits): string[] {
  const blocks = Math.ceil(limits.fileBytes / 512)
  return [limits.cpuSeconds, blocks, limits.openFiles, limits.processes + 4096].map((value) =>
    value === Infinity ? 'unlimited' : String(Math.floor(value)),
  )
}

/**
 * The profile for sandbox-exec: it refuses everything except what a program needs to run and what the specification
 * grants. If two rules match a path, the later one applies, so the paths that are closed come last.
 */
export function macosProfile(
  spec: SandboxSpec,
  { temporary = [] }: { readonly temporary?: readonly string[] } = {},
): string {
  const writable = [...rootsOf(spec, 'write'), ...spec.writable, ...temporary]
  const readable = [...SYSTEM, ...rootsOf(spec, 'read'), ...spec.readable, ...writable]
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow pseudo-tty)',
    // Names and sizes along the path to what is granted; without them no path resolves.
    '(allow file-read-metadata)',
    rule('allow file-read*', [literal('/'), ...readable.map(subpath)]),
    rule('allow file-write*', writable.map(subpath)),
    rule('allow file-read* file-write* file-ioctl', DEVICES.map(literal)),
    '(allow file-read* file-write* file-ioctl (regex #"^/dev/ttys[0-9]+$"))',
    rule('deny file-write*', spec.protect.map(subpath)),
    // Otherwise the folder that contains it could be moved, and another put in its place.
    rule('deny file-write-unlink', spec.protect.flatMap((path) => foldersAbove(path, writable)).map(literal)),
    rule('deny file-read* file-write*', spec.hide.map(subpath)),
    '(deny network*)',
    ...(spec.proxySocket
      ? [`(allow network-outbound (remote unix-socket (path-literal ${quote(spec.proxySocket)})))`]
      : []),
    '',
  ]
    .filter((line) => line !== undefined)
    .join('\n')
}

const SYSTEM = [
  ...['/usr', '/bin', '/sbin', '/System', '/Library/Apple', '/Library/Developer/CommandLineTools', '/opt/homebrew'],
  ...['/private/etc/ssl', '/private/etc/localtime', '/private/etc/shells', '/private/var/db/timezone'],
  ...['/private/var/db/dyld', '/private/var/select'],
]
const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/tty', '/dev/ptmx', '/dev/fd']

function rootsOf({ roots }: SandboxSpec, mode: 'read' | 'write'): string[] {
  return roots.filter((root) => root.mode === mode).map((root) => root.path)
}

function rule(what: string, filters: readonly string[]): string | undefined {
  return filters.length === 0 ? undefined : `(${what} ${filters.join(' ')})`
}

function subpath(path: string): string {
  return `(subpath ${quote(path)})`
}

function literal(path: string): string {
  return `(literal ${quote(path)})`
}

function foldersAbove(path: string, roots: readonly string[]): string[] {
  const root = roots.find((folder) => path.startsWith(`${folder}/`))
  const found: string[] = []
  if (root === undefined) return found
  for (let folder = path.slice(0, path.lastIndexOf('/')); folder.length > root.length; ) {
    found.push(folder)
    folder = folder.slice(0, folder.lastIndexOf('/'))
  }
  return found
}

/** A string in the language of profiles; a path could contain quotes. */
function quote(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&')}"`
}

let supervisor: { readonly path?: string } | undefined

/**
 * The program of a sandbox's supervisor: a copy of the shell that can be run and not read. The kernel lets no other
 * process of the same user into the memory and the descriptors of such a program. Undefined if none can be created.
 */
export function supervisorFile(): string | undefined {
  if (!canSupervise()) return undefined
  // Programs cannot be run from every folder: /run is often mounted without that right.
  if (!supervisor?.path || !existsSync(supervisor.path)) {
    supervisor = { path: createSupervisor(privateFolder()) ?? createSupervisor(createPrivateFolder(tmpdir())) }
  }
  return supervisor.path
}

/**
 * Only with dash: bash runs a file without #! in its own process, with the descriptors of the supervisor still open. And
 * not where the owner of the machine lets users read the memory of such programs.
 */
function canSupervise(): boolean {
  try {
    return (
      basename(realpathSync('/bin/sh')) === 'dash' && readFileSync('/proc/sys/fs/suid_dumpable', 'utf8').trim() !== '1'
    )
  } catch {
    return false
  }
}

function createSupervisor(folder: string): string | undefined {
  const path = join(folder, 'supervisor')
  try {
    copyFileSync(realpathSync('/bin/sh'), path)
    chmodSync(path, 0o111)
    return spawnSync(path, ['-c', ':'], { env: {}, stdio: 'ignore' }).status === 0 ? path : undefined
  } catch {
    // Sandboxes are then used once.
    return undefined
  }
}
