import { limitOptions, type ProcessLimits } from '../host/limits.ts'
import { findProgram } from '../host/system-programs.ts'
import { bubblewrapSandbox } from './bubblewrap.ts'
import { namespacesSandbox } from './namespaces.ts'
import { type SandboxLaunch, type SandboxSpec, sandboxKey } from './sandbox.ts'

/** Turns a specification into a program to start. Throws SANDBOX_UNAVAILABLE if a program that it needs is missing. */
export function buildSandbox(spec: SandboxSpec, platform: NodeJS.Platform = process.platform): SandboxLaunch {
  if (spec.level === 'none') return unconfinedSandbox(spec)
  if (platform === 'darwin') return macosSandbox(spec)
  return spec.level === 'full' ? bubblewrapSandbox(spec) : namespacesSandbox(spec)
}

/** No isolation: the command runs as the hub's user, with its limits where the system has a program to set them. */
function unconfinedSandbox(spec: SandboxSpec): SandboxLaunch {
  const prlimit = findProgram('prlimit')
  const [file, ...args] = prlimit
    ? [prlimit, ...limitOptions(spec.limits, { isSandboxed: false }), '--']
    : ['/usr/bin/env', '--']
  const sandbox = { level: 'none', file: file!, args, env: spec.environment, limits: spec.limits } as const
  return { ...sandbox, key: sandboxKey(sandbox) }
}

/** A constant: the numbers are passed as parameters. macOS has no limit on address space that holds. */
const SET_LIMITS =
  'ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -u "$4" && shift 4 && exec "$@"'

/**
 * A macOS sandbox: sandbox-exec with a generated profile. Files and network are restricted as on Linux, but processes
 * have no namespace of their own, so it counts as level namespaces at most.
 */
export function macosSandbox(spec: SandboxSpec): SandboxLaunch {
  const temporary = ['TMPDIR', 'HOME'].flatMap((name) => spec.environment[name] ?? [])
  const profile = macosProfile(spec, { temporary })
  const sandbox = {
    level: 'namespaces',
    file: '/usr/bin/sandbox-exec',
    args: ['-p', profile, '/bin/sh', '-c', SET_LIMITS, 'limits', ...limitNumbers(spec.limits)],
    env: spec.environment,
    limits: spec.limits,
  } as const
  return { ...sandbox, key: sandboxKey(sandbox) }
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
