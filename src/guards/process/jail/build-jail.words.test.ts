import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { folderWith, jailSpec } from '../../../../test/support/jail-spec.ts'
import { buildJail } from './build-jail.ts'
import { privateFolder } from './private-folder.ts'

const MIB = 1024 ** 2
const LIMITS = ['--cpu=20', '--as=', '--data=', '--nproc=200', '--fsize=', '--nofile=512', '--core=0']

/** As a hub of this user. */
function asUser(uid: number): void {
  // Made as the real user, where that user has a place for it.
  privateFolder()
  vi.spyOn(process, 'geteuid').mockReturnValue(uid)
  vi.spyOn(process, 'getegid').mockReturnValue(uid)
  onTestFinished(() => void vi.restoreAllMocks())
}

/** The words from the first to the last of these, both included. */
function between(words: readonly string[], first: string, last: string): string[] {
  return words.slice(words.indexOf(first), words.indexOf(last, words.indexOf(first)) + 1)
}

const isLimits = (words: readonly string[]) =>
  words.length === LIMITS.length && words.every((word, at) => word.startsWith(LIMITS[at]!))

describe.runIf(process.platform === 'linux')('the words of bubblewrap', () => {
  it('isolate all there is, and make the root from the outside to the inside', async () => {
    asUser(1234)
    const jail = buildJail(jailSpec(await folderWith()))
    const { args } = jail
    expect([jail.level, jail.file.endsWith('/bwrap'), jail.seccomp?.fd, jail.hasPrivateMounts]).toEqual([
      ...['full', true, 3, false],
    ])
    expect(args.slice(0, 9)).toEqual([
      ...['--unshare-user', '--disable-userns', '--unshare-all', '--die-with-parent', '--new-session'],
      ...['--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ])
    expect(between(args, '--dev', '/proc')).toEqual(['--dev', '/dev', '--proc', '/proc'])
    const memory = (mode: string, bytes: number, to: string) => [
      ...['--perms', mode, '--size', String(bytes), '--tmpfs', to],
    ]
    expect(args.slice(args.indexOf('/proc/1') - 3, args.indexOf('/run/home') + 1)).toEqual([
      ...['--size', '4096', '--tmpfs', '/proc/1', '--remount-ro', '/proc/1', '--remount-ro', '/proc'],
      ...[memory('1777', 256 * MIB, '/tmp'), memory('0755', 256 * MIB, '/run')].flat(),
      ...[...memory('1777', 64 * MIB, '/dev/shm'), '--dir', '/run/home'],
    ])
  })

  it('close what nobody writes to, and end with the limits of the command', async () => {
    const { args } = buildJail(jailSpec(await folderWith()))
    const end = args.slice(args.lastIndexOf('/dev') - 1)
    expect(end.slice(0, 7)).toEqual(['--remount-ro', '/dev', '--remount-ro', '/', '--seccomp', '3', '--'])
    expect([end[7]?.endsWith('/prlimit'), isLimits(end.slice(8, -1)), end.at(-1)]).toEqual([true, true, '--'])
  })

  it('show, protect and hide what they are told to', async () => {
    const folder = await folderWith({ 'own/a': '', shown: null, secret: '', secrets: null })
    const at = (name: string) => join(folder, name)
    const jail = buildJail(
      jailSpec(at('own'), {
        readable: [at('shown')],
        writable: [folder],
        protect: [at('own/a')],
        hide: [at('secret'), at('secrets')],
      }),
    )
    const text = jail.args.join(' ')
    for (const words of [
      ...[
        `--bind ${folder} ${folder}`,
        `--ro-bind ${at('shown')} ${at('shown')}`,
        `--ro-bind ${at('own/a')} ${at('own/a')}`,
      ],
      ...[`--ro-bind /dev/null ${at('secret')}`, `--size 4096 --tmpfs ${at('secrets')} --remount-ro ${at('secrets')}`],
    ]) {
      expect(text).toContain(` ${words} `)
    }
    expect(jail.closed).toEqual(['secret', 'secrets', 'own/a'].map(at))
    expect(jail.swappable).toEqual(['own', 'shown', 'own/a'].map(at))
  })
})

describe.runIf(process.platform === 'linux').each(['full', 'namespaces'] as const)('a proxy at level %s', (level) => {
  it('comes with its files, its companion and its variables', async () => {
    const workspace = await folderWith()
    const without = buildJail(jailSpec(workspace, { level }))
    const jail = buildJail(jailSpec(workspace, { level, proxySocket: '/run/p.sock', environment: { A: '1' } }))
    const bind = level === 'full' ? '--ro-bind' : 'bind ro'
    const text = jail.args.join(' ')
    expect(text).toContain(
      ` ${bind} /run/p.sock /run/tool-hub/proxy.sock ${bind} ${process.execPath} /run/tool-hub/node ${bind} `,
    )
    expect(text).toContain('/bridge-main.mjs /run/tool-hub/bridge.mjs ')
    expect([jail.companion?.[0], without.companion]).toEqual(['/run/tool-hub/node', undefined])
    expect(jail.env).toMatchObject({ A: '1', HTTPS_PROXY: 'http://127.0.0.1:3128' })
    expect(without.args.join(' ')).not.toContain('tool-hub/proxy.sock')
    expect([jail.limits, without.env.HTTPS_PROXY]).toEqual([jailSpec(workspace).limits, undefined])
  })
})

describe.runIf(process.platform === 'linux')('the words of util-linux', () => {
  const wordsOf = async (uid: number, parts = {}) => {
    asUser(uid)
    const jail = buildJail(jailSpec(await folderWith(), { level: 'namespaces', ...parts }))
    return {
      jail,
      words: [jail.file, ...jail.args].map((word) => word.replace(/^\/.*\/(setpriv|unshare|setsid|prlimit)$/, '$1')),
    }
  }

  it('die with the hub, and isolate all there is', async () => {
    const { jail, words } = await wordsOf(1234)
    expect(words.slice(0, 20)).toEqual([
      ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--user', '--map-root-user', '--mount', '--propagation'],
      ...['private', '--pid', '--fork', '--kill-child=KILL', '--net', '--ipc', '--uts', '--cgroup', '--'],
      ...['/bin/sh', '-c'],
    ])
    expect([words[21], jail.level, jail.seccomp]).toEqual(['jail', 'namespaces', undefined])
  })

  it.each([
    [1234, '1', ['unshare', '--user', '--map-user=1234', '--map-group=1234', '--keep-caps', '--']],
    [0, '0', []],
  ])('become a command of user %d without any right', async (uid, namespaces, mapped) => {
    const { jail, words } = await wordsOf(uid)
    expect(words[words.indexOf('enter') + 1]).toBe(namespaces)
    expect(words.includes('closeProc')).toBe(uid === 0)
    expect(words.join(' ').includes(' close /proc/sys ')).toBe(uid !== 0)
    const end = words.slice(words.indexOf('setsid'))
    expect(end.slice(0, 8 + mapped.length)).toEqual([
      ...['setsid', ...mapped, 'setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
      ...['--no-new-privs', '--', 'prlimit'],
    ])
    expect([isLimits(end.slice(8 + mapped.length, -1)), end.at(-1), jail.hasPrivateMounts]).toEqual([
      ...[true, '--', uid === 0],
    ])
  })

  it.each([
    [[], '/mnt'],
    [['/mnt/x'], '/media'],
    [['/mnt', '/media/x'], '/srv'],
    [['/mnt/x', '/media/x', '/srv/x'], '/opt'],
    [['/mnt/x', '/media/x', '/srv/x', '/opt/x'], '/mnt'],
    [['/mnts'], '/mnt'],
  ])('build where %j is not', async (readable, base) => {
    for (const parts of [{ readable }, { writable: readable }]) {
      const { words } = await wordsOf(1234, parts)
      expect(words[22]).toBe(base)
    }
  })

  it('show the memory, the home and what is granted', async () => {
    const folder = await folderWith({ 'own/a/b': '', secret: '' })
    const at = (name: string) => join(folder, name)
    const { words, jail } = await wordsOf(1234, {
      roots: [{ path: folder, mode: 'write' }],
      ...{ protect: [at('own/a/b')], hide: [at('secret')] },
    })
    const text = words.join(' ')
    for (const step of [
      ...[`memory ${256 * MIB} 1777 /tmp`, `memory ${256 * MIB} 0755 /run`, `memory ${64 * MIB} 1777 /dev/shm`],
      ...['folder /run/home', 'bind ro /usr /usr', `bind rw ${folder} ${folder}`],
      ...[`keep ${at('own')}`, `keep ${at('own/a')}`, `close ${at('own/a/b')}`, `hideFile ${at('secret')}`],
    ]) {
      expect(text).toContain(` ${step} `)
    }
    expect(jail.closed).toEqual([at('secret'), at('own/a/b')])
  })
})
