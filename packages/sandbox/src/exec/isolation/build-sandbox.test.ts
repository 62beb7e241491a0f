import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, readdir, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../../../../test/support/eventually.ts'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { privateFolder } from '../../system/index.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { buildSandbox } from './build-sandbox.ts'
import type { SandboxSpec } from './sandbox.ts'

const isRoot = process.geteuid?.() === 0
const NOBODY_USER = 65534

/** Who runs the hub, and whose the workspace is. */
type User = 'hub' | 'owner' | 'nobody'
const LEVELS = ['full', 'namespaces'] as const

describe.each(LEVELS)('a sandbox at level %s', (level) => {
  const user = 'hub'

  it('lets a command write in its workspace and nowhere else', async () => {
    const { run, workspace, outside } = await sandbox(level, user, { outside: { secret: 'hunter2' } })
    const { lines } = await run(
      'echo in > made && echo wrote; pwd; umask 022; for f in "$1/x" /x /usr/x /etc/x /dev/x; do touch "$f" && echo "made $f"; done; cat "$1/secret"; ls "$1"',
      outside,
    )
    expect(lines).toEqual(['wrote', workspace])
    expect(await readdir(outside)).toEqual(['secret'])
  })

  it('shows a minimal root: no home, no host names, no users of the machine', async () => {
    const { run } = await sandbox(level, user)
    const { lines } = await run(
      'ls / | tr "\\n" " "; echo; hostname; cut -d: -f1 /etc/passwd; ls /etc/shadow /etc/ssh /root /home /sys; echo $HOME; touch ~/x && echo home',
    )
    expect(lines.slice(1)).toEqual(['sandbox', isRoot ? 'root' : 'user', 'nobody', '/run/home', 'home'])
    expect(lines[0]!.trim().split(' ')).toEqual(expect.arrayContaining(['bin', 'dev', 'etc', 'proc', 'tmp', 'usr']))
    expect(lines[0]).not.toMatch(/root|home|sys|var|mnt|old/)
  })

  it('leaves no capability, no way to more of them and no switch of the machine', async () => {
    const { run } = await sandbox(level, user)
    const { lines } = await run(
      'grep -hE "^(Cap|NoNewPrivs)" /proc/self/status /proc/1/status | sort -u; for f in kernel/core_pattern kernel/hostname vm/drop_caches; do (echo 1 > /proc/sys/$f) 2>/dev/null && echo "wrote $f"; done; for f in /proc/sysrq-trigger /proc/irq/default_smp_affinity; do (: >> $f) 2>/dev/null && echo "opened $f"; done; unshare -U true && echo namespace; mount -t tmpfs x /tmp && echo mount; mknod /tmp/dev b 8 0 && echo device; cat /proc/keys',
    )
    const none = '\t0000000000000000'
    expect(lines).toEqual([
      `CapAmb:${none}`,
      `CapBnd:${none}`,
      `CapEff:${none}`,
      `CapInh:${none}`,
      `CapPrm:${none}`,
      'NoNewPrivs:\t1',
    ])
  })

  it('has no network, neither by address nor by socket name', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    const named = createServer((socket) => socket.destroy()).listen('\0tool-hub-sandbox-test')
    onTestFinished(() => {
      server.close()
      named.close()
    })
    await Promise.all([once(server, 'listening'), once(named, 'listening')])
    const { run } = await sandbox(level, user)
    const port = String((server.address() as { port: number }).port)
    const { lines } = await run(
      '(exec 3<>/dev/tcp/127.0.0.1/$1) && echo connected; grep -c tool-hub /proc/net/unix; ls /proc/net/dev_snmp6 2>/dev/null | grep -v lo',
      port,
    )
    expect(lines).toEqual(['0'])
  })

  it('reaches the proxy, where there is one, and nothing else', async () => {
    const folder = await folderWith()
    const proxy = createServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')),
    )
    proxy.listen(join(folder, 'proxy.sock'))
    onTestFinished(() => void proxy.close())
    await once(proxy, 'listening')
    const built = buildSandbox(sandboxSpec(await folderWith(), { level, proxySocket: join(folder, 'proxy.sock') }))
    // The helper's words, then one request through it; the helper ends with its sandbox.
    const script =
      'exec 4< <("$@"); read -r line <&4; echo "$line"; exec 3<>/dev/tcp/127.0.0.1/3128; echo GET >&3; tail -n1 <&3'
    const { stdout } = await runInSandbox(built, ['/bin/bash', '-c', script, 'x', ...built.helper!])
    expect(stdout).toBe('ready\nhi')
  })

  it('sees its own processes only, and shares no group with others', async () => {
    const { run } = await sandbox(level, user)
    const { lines } = await run(
      `kill -0 ${process.pid} && echo alive; ls /proc | grep -c '^[0-9]'; cut -d' ' -f5,6 /proc/$$/stat`,
    )
    expect(Number(lines[0])).toBeLessThan(10)
    // Group and session; 0 is one that began outside, where a signal to it would go.
    expect(lines[1]).toMatch(/^[1-9]\d* [1-9]\d*$/)
  })

  it('keeps what is protected as it is, and what is hidden out of sight', async () => {
    const files = {
      '.git/config': 'x',
      '.git/HEAD': 'x',
      'tool-hub.yaml': 'y',
      '.env': 'TOKEN=1',
      'secrets/a': 'z',
      'a b/c\\d/.vscode/x': 'v',
    }
    const { run, workspace } = await sandbox(level, user, { files }, (folder) => ({
      protect: [
        ...['.git/config', '.git/hooks', 'tool-hub.yaml', 'a b/c\\d/.vscode', 'missing'].map((name) =>
          join(folder, name),
        ),
      ],
      hide: ['.env', 'secrets', 'gone'].map((name) => join(folder, name)),
    }))
    const { lines } = await run(
      'for f in .git/config .git/hooks/pre-commit tool-hub.yaml "a b/c\\d/.vscode/x"; do (echo evil >> "$f") && echo "wrote $f"; done; rm -rf tool-hub.yaml && echo removed; mv .git g && echo moved; mv "a b" c && echo moved; cat .env; mv .env e && echo moved; ls -A secrets; touch secrets/x && echo wrote; echo ok > .git/HEAD; cat .git/HEAD tool-hub.yaml',
    )
    expect(lines).toEqual(['ok', 'y'])
    expect((await readdir(workspace)).toSorted()).toEqual(['.env', '.git', 'a b', 'secrets', 'tool-hub.yaml'])
  })

  it('bounds memory for files, the size of a file, open files and processes', async () => {
    const { run } = await sandbox(level, user, {}, () => ({
      limits: { cpuSeconds: 20, memoryBytes: 64 * 1024 ** 2, processes: 40, fileBytes: 8 * 1024 ** 2, openFiles: 32 },
    }))
    const { lines } = await run(
      'ulimit -n; ulimit -u; ulimit -t; ulimit -c; head -c 9000000 /dev/zero > big; stat -c %s big; for i in 1 2 3 4; do head -c 8000000 /dev/zero > /tmp/$i; done; du -smx /tmp | cut -f1; head -c 20000000 /dev/zero > /dev/shm/x; (head -c 100000000 /dev/zero | tail -c 90000000 > /dev/null) && echo ate',
    )
    expect(lines.slice(0, 5)).toEqual(['32', '40', '20', '0', String(8 * 1024 ** 2)])
    expect(Number(lines[5])).toBeLessThanOrEqual(17)
    expect(lines.slice(6)).toEqual([])
  })

  it('runs what people run: git, node, python', async () => {
    const { run } = await sandbox(level, user)
    const { lines, stderr } = await run(
      'git init -q . && git -c user.name=a -c user.email=b@c commit -q --allow-empty -m x && git log --format=%s; node -e "console.log(process.getuid() === os.userInfo().uid)"; python3 -c "import ssl, threading; t = threading.Thread(target=print, args=(1,)); t.start(); t.join()"',
    )
    expect([lines, stderr]).toEqual([['x', 'true', '1'], ''])
  })
})

describe.runIf(isRoot).each(LEVELS.flatMap((level) => (['owner', 'nobody'] as const).map((user) => ({ level, user }))))(
  'a sandbox at level $level for $user',
  ({ level, user }) => {
    it('runs as the owner of the workspace and holds all the same', async () => {
      const files = { '.git/config': 'x', '.env': 'TOKEN=1' }
      const { run, workspace, outside } = await sandbox(
        level,
        user,
        { files, outside: { secret: 'hunter2' } },
        (folder) => ({
          protect: [join(folder, '.git/config'), join(folder, '.git/hooks')],
          hide: [join(folder, '.env')],
        }),
      )
      const { lines } = await run(
        'id -u; id -un; echo in > made && echo wrote; touch "$1/x" /x /etc/x; cat "$1/secret" .env; (echo evil >> .git/config) && echo evil; mv .git g && echo moved; (echo 1 > /proc/sys/kernel/core_pattern) && echo switched; unshare -U true && echo namespace; grep -hE "^(CapBnd|CapEff|NoNewPrivs)" /proc/self/status',
        outside,
      )
      const none = '\t0000000000000000'
      expect(lines).toEqual([
        String(NOBODY_USER),
        'user',
        'wrote',
        `CapEff:${none}`,
        `CapBnd:${none}`,
        'NoNewPrivs:\t1',
      ])
      expect(await readdir(outside)).toEqual(['secret'])
      expect((await stat(join(workspace, 'made'))).uid).toBe(NOBODY_USER)
    })
  },
)

describe('a sandbox', () => {
  it('has the environment that it is given, and nothing of the hub, at process 1 too', async () => {
    vi.stubEnv('TOOL_HUB_TEST_SECRET', 'hunter2')
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const level of LEVELS) {
      const { run } = await sandbox(level, 'hub', {}, () => ({ environment: { PATH: '/usr/bin:/bin', A: 'b' } }))
      const { lines } = await run(
        'cat /proc/1/environ /proc/self/environ | tr "\\0" "\\n" | cut -d= -f1 | sort -u | grep -vE "^(PWD|OLDPWD|SHLVL|_)$"',
      )
      expect(lines).toEqual(['A', 'PATH'])
    }
  })

  it.each(LEVELS)('ends with the process that started it, at level %s', async (level) => {
    const workspace = await folderWith()
    const built = buildSandbox(sandboxSpec(workspace, { level }))
    const marker = `${process.pid}${level.length}000`
    // The grandchild has a session of its own, and the one who is killed is not its parent.
    const script = 'setsid sleep "$1" & echo ready; wait'
    const words = [built.file, ...built.args, '/bin/bash', '-c', script, 'x', marker]
    const parent = spawn('/bin/sh', ['-c', '"$@" & wait', 'parent', ...words], {
      ...{ cwd: workspace, env: built.env },
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    })
    ;(parent.stdio[3] as Writable).end(built.seccomp?.program)
    await once(parent.stdout!, 'data')
    const sleeps = async () => (await commandLines()).filter((line) => line === `sleep\0${marker}\0`).length
    await eventually(async () => expect(await sleeps()).toBe(1))
    parent.kill('SIGKILL')
    await eventually(async () => expect(await sleeps()).toBe(0))
  })

  it('is identified by everything that it grants', async () => {
    const workspace = await folderWith({ '.env': '' })
    const spec = sandboxSpec(workspace)
    expect(buildSandbox(spec).key).toBe(buildSandbox({ ...spec }).key)
    expect(buildSandbox({ ...spec, hide: [join(workspace, '.env')] }).key).not.toBe(buildSandbox(spec).key)
    expect(buildSandbox({ ...spec, environment: {} }).key).not.toBe(buildSandbox(spec).key)
    expect(buildSandbox({ ...spec, level: 'none' }).key).not.toBe(buildSandbox(spec).key)
  })

  it('at level none has its limits', async () => {
    const built = buildSandbox(sandboxSpec(await folderWith(), { level: 'none' }))
    const { stdout } = await runInSandbox(built, ['/bin/bash', '-c', 'ulimit -n; ulimit -c'])
    expect(stdout).toBe('512\n0\n')
  })

  it.each(['/', '/etc', '/proc/self', '/dev/shm'])('never lets in %s', async (path) => {
    const spec = sandboxSpec(await folderWith(), { readable: [path] })
    expect(() => buildSandbox(spec)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

interface Built {
  readonly workspace: string
  readonly outside: string
  run(script: string, ...args: string[]): Promise<Awaited<ReturnType<typeof runInSandbox>> & { lines: string[] }>
}

async function sandbox(
  level: SandboxSpec['level'],
  user: User,
  { files = {}, outside: others = {} }: { files?: Record<string, string>; outside?: Record<string, string> } = {},
  parts: (workspace: string) => Partial<SandboxSpec> = () => ({}),
): Promise<Built> {
  const [workspace, outside] = [await folderWith(files), await folderWith(others)]
  const ids = user === 'nobody' ? { uid: NOBODY_USER, gid: NOBODY_USER } : {}
  if (user !== 'hub')
    for (const path of [workspace, ...(await below(workspace))]) await chown(path, NOBODY_USER, NOBODY_USER)
  if (user === 'nobody') {
    // The sandbox is built and started as by a hub of that user.
    vi.spyOn(process, 'geteuid').mockReturnValue(NOBODY_USER)
    vi.spyOn(process, 'getegid').mockReturnValue(NOBODY_USER)
  }
  const built = buildSandbox(sandboxSpec(workspace, { level, ...parts(workspace) }))
  vi.restoreAllMocks()
  return {
    workspace,
    outside,
    async run(script, ...args) {
      const ended = await runInSandbox(built, ['/bin/bash', '-c', script, 'test', ...args], { cwd: workspace, ...ids })
      return { ...ended, lines: ended.stdout.split('\n').filter(Boolean) }
    },
  }
}

async function below(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).map((name) => join(folder, name))
}

async function commandLines(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
}

const MIB = 1024 ** 2
const LIMITS = ['--cpu=20', '--as=', '--data=', '--nproc=200', '--fsize=', '--nofile=512', '--core=0', '--msgqueue=0']

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
    const sandbox = buildSandbox(sandboxSpec(await folderWith()))
    const { args } = sandbox
    expect([sandbox.level, sandbox.file.endsWith('/bwrap'), sandbox.seccomp?.fd, sandbox.hasPrivateMounts]).toEqual([
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
    const { args } = buildSandbox(sandboxSpec(await folderWith()))
    const end = args.slice(args.lastIndexOf('/dev') - 1)
    expect(end.slice(0, 7)).toEqual(['--remount-ro', '/dev', '--remount-ro', '/', '--seccomp', '3', '--'])
    expect([end[7]?.endsWith('/prlimit'), isLimits(end.slice(8, -1)), end.at(-1)]).toEqual([true, true, '--'])
  })

  it('come with one filter of system calls, which is assembled once', async () => {
    const [first, second] = [await folderWith(), await folderWith()].map((root) => buildSandbox(sandboxSpec(root)))
    expect(first?.key).not.toBe(second?.key)
    expect(first?.seccomp?.program).toBeInstanceOf(Uint8Array)
    expect(second?.seccomp).toBe(first?.seccomp)
  })

  it('show, protect and hide what the specification names', async () => {
    const folder = await folderWith({ 'own/a': '', shown: null, secret: '', secrets: null })
    const at = (name: string) => join(folder, name)
    const sandbox = buildSandbox(
      sandboxSpec(at('own'), {
        readable: [at('shown')],
        writable: [folder],
        protect: [at('own/a')],
        hide: [at('secret'), at('secrets')],
      }),
    )
    const text = sandbox.args.join(' ')
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
    expect(sandbox.closed).toEqual(['secret', 'secrets', 'own/a'].map(at))
    expect(sandbox.swappable).toEqual(['own', 'shown', 'own/a'].map(at))
  })
})

describe.runIf(process.platform === 'linux').each(['full', 'namespaces'] as const)('a proxy at level %s', (level) => {
  it('comes with its files, its helper and its variables', async () => {
    const workspace = await folderWith()
    const without = buildSandbox(sandboxSpec(workspace, { level }))
    const sandbox = buildSandbox(sandboxSpec(workspace, { level, proxySocket: '/run/p.sock', environment: { A: '1' } }))
    const bind = level === 'full' ? '--ro-bind' : 'bind ro'
    const text = sandbox.args.join(' ')
    expect(text).toContain(
      ` ${bind} /run/p.sock /run/tool-hub/proxy.sock ${bind} ${process.execPath} /run/tool-hub/node ${bind} `,
    )
    expect(text).toContain('/bridge.mjs /run/tool-hub/bridge.mjs ')
    expect([sandbox.helper?.[0], without.helper]).toEqual(['/run/tool-hub/node', undefined])
    expect(sandbox.env).toMatchObject({ A: '1', HTTPS_PROXY: 'http://127.0.0.1:3128' })
    expect(without.args.join(' ')).not.toContain('tool-hub/proxy.sock')
    expect([sandbox.limits, without.env.HTTPS_PROXY]).toEqual([sandboxSpec(workspace).limits, undefined])
  })
})

describe.runIf(process.platform === 'linux')('the words of util-linux', () => {
  const wordsOf = async (uid: number, parts = {}) => {
    asUser(uid)
    const sandbox = buildSandbox(sandboxSpec(await folderWith(), { level: 'namespaces', ...parts }))
    return {
      sandbox,
      words: [sandbox.file, ...sandbox.args].map((word) =>
        word.replace(/^\/.*\/(setpriv|unshare|setsid|prlimit)$/, '$1'),
      ),
    }
  }

  it('die with the hub, and isolate all there is', async () => {
    const { sandbox, words } = await wordsOf(1234)
    expect(words.slice(0, 20)).toEqual([
      ...['setpriv', '--pdeathsig', 'KILL', '--', 'unshare', '--user', '--map-root-user', '--mount', '--propagation'],
      ...['private', '--pid', '--fork', '--kill-child=KILL', '--net', '--ipc', '--uts', '--cgroup', '--'],
      ...['/bin/sh', '-c'],
    ])
    expect([words[21], sandbox.level, sandbox.seccomp]).toEqual(['sandbox', 'namespaces', undefined])
  })

  it.each([
    [1234, '1', ['unshare', '--user', '--map-user=1234', '--map-group=1234', '--keep-caps', '--']],
    [0, '0', []],
  ])('become a command of user %d without any right', async (uid, namespaces, mapped) => {
    const { sandbox, words } = await wordsOf(uid)
    expect(words[words.indexOf('enter') + 1]).toBe(namespaces)
    expect(words.includes('closeProc')).toBe(uid === 0)
    expect(words.join(' ').includes(' close /proc/sys ')).toBe(uid !== 0)
    const end = words.slice(words.indexOf('setsid'))
    expect(end.slice(0, 8 + mapped.length)).toEqual([
      ...['setsid', ...mapped, 'setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
      ...['--no-new-privs', '--', 'prlimit'],
    ])
    expect([isLimits(end.slice(8 + mapped.length, -1)), end.at(-1), sandbox.hasPrivateMounts]).toEqual([
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
    const { words, sandbox } = await wordsOf(1234, {
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
    expect(sandbox.closed).toEqual([at('secret'), at('own/a/b')])
  })
})
