import type { JailSpec } from './jail.ts'

/**
 * The profile for sandbox-exec: everything is refused but what a program needs to run, and what the specification lets
 * in. Where two rules speak of a path the later one counts, so what is closed comes last.
 */
export function macosProfile(
  spec: JailSpec,
  { temporary = [] }: { readonly temporary?: readonly string[] } = {},
): string {
  const writable = [...pathsOf(spec, 'write'), ...spec.writable, ...temporary]
  const readable = [...SYSTEM, ...pathsOf(spec, 'read'), ...spec.readable, ...writable]
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
    // Names and sizes along the way to what is let in; without them no path resolves.
    '(allow file-read-metadata)',
    rule('allow file-read*', [literal('/'), ...readable.map(subpath)]),
    rule('allow file-write*', writable.map(subpath)),
    rule('allow file-read* file-write* file-ioctl', DEVICES.map(literal)),
    '(allow file-read* file-write* file-ioctl (regex #"^/dev/ttys[0-9]+$"))',
    rule('deny file-write*', spec.protect.map(subpath)),
    // Else the folder that holds it could be moved, and another put in its place.
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

function pathsOf({ roots }: JailSpec, mode: 'read' | 'write'): string[] {
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

/** A string of the profile's language; a path could hold quotes. */
function quote(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&')}"`
}
