import { describe, expect, it } from 'vitest'
import { sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { buildSandbox, macosProfile } from './build-sandbox.ts'

const spec = sandboxSpec('/Users/me/w', {
  readable: ['/opt/data'],
  protect: ['/Users/me/w/.git/hooks'],
  hide: ['/Users/me/w/.env'],
})

describe('the profile for macOS', () => {
  const lines = macosProfile(spec, { temporary: ['/private/tmp/x'] }).split('\n')

  it('refuses what it does not name', () => {
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
    expect(lines.filter((line) => line.startsWith('(allow file-write*'))).toEqual([
      '(allow file-write* (subpath "/Users/me/w") (subpath "/private/tmp/x"))',
    ])
    expect(lines.find((line) => line.startsWith('(allow file-read* (literal "/")'))).toContain('(subpath "/opt/data")')
  })

  it('closes what is protected and hidden after it has opened the workspace', () => {
    const opened = lines.findIndex((line) => line.startsWith('(allow file-write*'))
    expect(lines.indexOf('(deny file-write* (subpath "/Users/me/w/.git/hooks"))')).toBeGreaterThan(opened)
    expect(lines).toContain('(deny file-write-unlink (literal "/Users/me/w/.git"))')
    expect(lines.indexOf('(deny file-read* file-write* (subpath "/Users/me/w/.env"))')).toBeGreaterThan(opened)
  })

  it('has no network', () => {
    expect(lines).toContain('(deny network*)')
    expect(lines.filter((line) => line.startsWith('(allow network'))).toEqual([])
  })

  it('is exactly these rules, in this order', () => {
    const system = [
      ...['/usr', '/bin', '/sbin', '/System', '/Library/Apple', '/Library/Developer/CommandLineTools', '/opt/homebrew'],
      ...['/private/etc/ssl', '/private/etc/localtime', '/private/etc/shells', '/private/var/db/timezone'],
      ...['/private/var/db/dyld', '/private/var/select'],
    ]
    const readable = [...system, '/r', '/opt/data', '/Users/me/w', '/cache', '/private/tmp/x']
    const devices = ['null', 'zero', 'random', 'urandom', 'tty', 'ptmx', 'fd']
    const whole = {
      ...spec,
      roots: [...spec.roots, { path: '/r', mode: 'read' as const }],
      writable: ['/cache'],
      protect: ['/Users/me/w/a/b/c', '/elsewhere/x'],
      proxySocket: '/run/proxy.sock',
    }
    expect(macosProfile(whole, { temporary: ['/private/tmp/x'] })).toBe(
      `(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* (literal "/") ${readable.map((path) => `(subpath "${path}")`).join(' ')})
(allow file-write* (subpath "/Users/me/w") (subpath "/cache") (subpath "/private/tmp/x"))
(allow file-read* file-write* file-ioctl ${devices.map((name) => `(literal "/dev/${name}")`).join(' ')})
(allow file-read* file-write* file-ioctl (regex #"^/dev/ttys[0-9]+$"))
(deny file-write* (subpath "/Users/me/w/a/b/c") (subpath "/elsewhere/x"))
(deny file-write-unlink (literal "/Users/me/w/a/b") (literal "/Users/me/w/a"))
(deny file-read* file-write* (subpath "/Users/me/w/.env"))
(deny network*)
(allow network-outbound (remote unix-socket (path-literal "/run/proxy.sock")))
`,
    )
  })

  it('has no rule without a path', () => {
    const bare = macosProfile({ ...spec, roots: [], readable: [], protect: [], hide: [] })
    expect(bare).not.toMatch(/undefined|file-write-unlink|deny file|allow file-write\*/)
  })

  it('keeps a path with quotes a path', () => {
    const text = macosProfile(sandboxSpec('/w/a") (allow default) ("\\'))
    expect(text).toContain('(subpath "/w/a\\") (allow default) (\\"\\\\")')
  })
})

it('is a program to start like the others', () => {
  const sandbox = buildSandbox({ ...spec, level: 'namespaces' }, 'darwin')
  expect(sandbox).toMatchObject({ level: 'namespaces', file: '/usr/bin/sandbox-exec' })
  expect(sandbox.args.slice(0, 1)).toEqual(['-p'])
  expect(sandbox.args.at(-5)).toBe('limits')
})

it('sets the limits of a command before it starts', () => {
  const limits = { cpuSeconds: 20.7, memoryBytes: 1, processes: 10, fileBytes: 1025, openFiles: 64 }
  const numbers = (parts: object) =>
    buildSandbox({ ...spec, level: 'full', limits: { ...limits, ...parts } }, 'darwin').args.slice(-4)
  expect(numbers({})).toEqual(['20', '3', '64', '4106'])
  expect(numbers({ cpuSeconds: Infinity })).toEqual(['unlimited', '3', '64', '4106'])
  const sandbox = buildSandbox({ ...spec, level: 'full', environment: { TMPDIR: '/t', HOME: '/h', A: '/a' } }, 'darwin')
  expect(sandbox).toMatchObject({
    level: 'namespaces',
    env: { TMPDIR: '/t', HOME: '/h', A: '/a' },
    limits: spec.limits,
  })
  expect(sandbox.args.slice(2, 6)).toEqual([
    ...['/bin/sh', '-c'],
    'ulimit -c 0 && ulimit -t "$1" && ulimit -f "$2" && ulimit -n "$3" && ulimit -u "$4" && shift 4 && exec "$@"',
    'limits',
  ])
  expect(sandbox.args[1]).toContain('(allow file-write* (subpath "/Users/me/w") (subpath "/t") (subpath "/h"))')
})
