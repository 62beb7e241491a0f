import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PUBLIC } from '../../../../../test/support/loopback.ts'
import { useProxies } from '../../../../../test/support/proxies.ts'
import { CERTIFICATE, KEY } from '../../../../../test/support/secure-test.ts'
import { bridgeBinds, bridgeCommand, PROXY_PORT, PROXY_SOCKET, proxyEnvironment } from './bridge.ts'

const proxies = useProxies()
const run = promisify(execFile)
const GIT = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Runs a script in a sandbox without network, alongside the bridge to a proxy. */
async function inSandbox(socket: string, script: string): Promise<string> {
  const binds = [...bridgeBinds(), { from: socket, to: PROXY_SOCKET }, { from: folder, to: '/data' }]
  const words = [
    ...[
      '--unshare-user',
      '--disable-userns',
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--cap-drop',
      'ALL',
    ],
    ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    ...binds.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...[
      '--',
      '/bin/sh',
      '-c',
      `mkfifo /tmp/ready; "$@" >/tmp/ready & read line </tmp/ready; echo $line\n${script}`,
      'sh',
    ],
    ...bridgeCommand(),
  ]
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: '/tmp',
    npm_config_update_notifier: 'false',
    ...GIT,
    ...proxyEnvironment(),
  }
  const { stdout } = await run('bwrap', words, { env, timeout: 100_000 })
  return stdout
}

describe('in a sandbox without network', () => {
  it('leads curl to allowed hosts only, plain and with TLS', async () => {
    await writeFile(join(folder, 'ca.pem'), CERTIFICATE)
    const secure = createTlsServer({ key: KEY, cert: CERTIFICATE }, (each) =>
      each.once('data', () => each.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsecret words')),
    ).listen(0, '127.0.0.1')
    await once(secure, 'listening')
    proxies.local.answer = async (request, response) => response.end(`plain ${(await text(request)).length}`)
    const { socket } = await proxies.open({
      guard: {
        allowedHosts: ['a.example', 'secure.test'],
        dial: (address, port) =>
          proxies.local.dial(port === 443 ? (secure.address() as AddressInfo).port : proxies.local.port, address),
      },
    })
    const received = await inSandbox(
      socket,
      `curl -s http://a.example/x; echo
      head -c 2000000 /dev/zero | curl -s --data-binary @- http://a.example/upload; echo
      curl -s --cacert /data/ca.pem https://secure.test/; echo
      curl -s http://b.example/
      head -c 2000000 /dev/zero | curl -s -o /dev/null -w '%{http_code}\\n' -H Expect: --data-binary @- http://b.example/
      curl -s -w '%{http_connect}\\n' https://b.example/
      curl -s --connect-to a.example:443:a.example:80 https://a.example/ || echo no TLS on 80
      curl -s --noproxy '*' --connect-timeout 2 http://${PUBLIC}/ || echo no way past it
      curl -s http://127.0.0.1:3128/
      ls /proc/1/root/home >/dev/null 2>&1 || echo no files`,
    )
    expect(received.split('\n')).toEqual([
      'ready',
      'plain 0',
      'plain 2000000',
      'secret words',
      expect.stringMatching(/^tool-hub: The host b\.example .* add b\.example to sandbox\.network\.$/),
      '403',
      '403',
      'no TLS on 80',
      'no way past it',
      // Straight to the bridge: loopback is the sandbox's own.
      expect.stringMatching(/^tool-hub: .*This is a proxy/),
      'no files',
      '',
    ])
    expect(proxies.told).toEqual([
      `http://a.example/x connected to ${PUBLIC}:80`,
      `http://a.example/upload connected to ${PUBLIC}:80`,
      `https://secure.test/ connected to ${PUBLIC}:443`,
      'http://b.example/ refused: The host b.example is not one the owner allows.',
      'http://b.example/ refused: The host b.example is not one the owner allows.',
      'https://b.example/ refused: The host b.example is not one the owner allows.',
      expect.stringMatching(/^https:\/\/a\.example:80\/ refused: /),
      expect.stringMatching(/^\/ refused: This is a proxy/),
    ])
    expect(proxies.local.dialled.length).toBe(3)
    secure.close()
  })

  it('lets git clone', async () => {
    const repository = join(folder, 'made')
    const git = (...words: string[]) => run('git', words, { cwd: folder, env: { ...process.env, ...GIT } })
    await git('init', '-q', 'made')
    await writeFile(join(repository, 'file'), 'content\n')
    await git('-C', repository, 'add', '.')
    await git('-C', repository, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first')
    await git('-C', repository, 'update-server-info')
    proxies.local.answer = (request, response) => {
      const path = join(repository, '.git', normalize(`/${request.url!.split('?')[0]!.replace('/r.git', '')}`))
      readFile(path).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      )
    }
    const { socket } = await proxies.open()
    const received = await inSandbox(
      socket,
      `cd /tmp; git clone -q http://a.example/r.git && cat r/file
      git clone -q http://b.example/other.git 2>&1; true`,
    )
    expect(received).toMatch(/^ready\ncontent\n.*tool-hub: The host b\.example is not .* error: 403/s)
    expect(proxies.told.length).toBeGreaterThan(3)
  })

  it('lets npm ask its registry', async () => {
    const answer = {
      name: 'thing',
      'dist-tags': { latest: '1.2.3' },
      versions: { '1.2.3': { name: 'thing', version: '1.2.3' } },
    }
    proxies.local.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    const { socket } = await proxies.open()
    const received = await inSandbox(socket, 'npm view thing version --registry http://a.example/')
    expect(received).toBe('ready\n1.2.3\n')
    expect(proxies.told).toContain(`http://a.example/thing connected to ${PUBLIC}:80`)
  })
})

describe('the bridge', () => {
  let far: Server | undefined
  let bridges: ChildProcess[] = []
  let path: string
  beforeEach(() => {
    path = join(folder, 'far.sock')
  })
  afterEach(async () => {
    far?.close()
    for (const bridge of bridges) {
      bridge.kill()
      if (bridge.exitCode === null && bridge.signalCode === null) await once(bridge, 'exit')
    }
    bridges = []
  })

  /** Runs the bridge on a port that was free a moment ago. */
  async function start() {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    await once(probe, 'close')
    const [node, ...words] = bridgeCommand({
      node: process.execPath,
      script: bridgeBinds()[1]!.from,
      socket: path,
      port,
    })
    const bridge = spawn(node!, words, { env: {}, stdio: ['ignore', 'pipe', 'inherit'] })
    bridges.push(bridge)
    expect(String((await once(bridge.stdout, 'data'))[0])).toBe('ready\n')
    return { bridge, port }
  }

  it('passes each end on by itself, and outlives every connection that breaks', async () => {
    far = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {})
      // Not by iteration, which would close the socket at the end of one half.
      let received = ''
      socket.on('data', (chunk) => {
        received += chunk
      })
      socket.on('end', () => (received === 'break' ? socket.destroy() : socket.end(`received ${received.length}`)))
    }).listen(path)
    const { bridge, port } = await start()
    const say = async (words: string) => {
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
      socket.end(words)
      return text(socket).catch((error: Error) => error.message)
    }
    expect(await say('x'.repeat(1_000_000))).toBe('received 1000000')
    expect(await say('break')).not.toContain('received')
    const broken = connect({ port, host: '127.0.0.1' }, () => broken.resetAndDestroy())
    await once(broken, 'close')
    expect(await Promise.all(Array.from({ length: 50 }, () => say('many')))).toEqual(Array(50).fill('received 4'))
    far.close()
    // Nobody is there any more.
    await say('alone')
    expect(bridge.exitCode).toBeNull()
  })

  it('ends when it cannot listen', async () => {
    const { port } = await start()
    const [node, ...words] = bridgeCommand({
      node: process.execPath,
      script: bridgeBinds()[1]!.from,
      socket: path,
      port,
    })
    await expect(run(node!, words, { env: {} })).rejects.toThrow(/EADDRINUSE/)
  })
})

it('imports nothing but node, since nothing else is there where it runs', async () => {
  const source = await readFile(bridgeBinds()[1]!.from, 'utf8')
  expect([...source.matchAll(/from '([^']*)'/g)].map((match) => match[1])).toEqual(['node:net'])
})

it('names the proxy in every variable that programs look at', () => {
  const proxy = 'http://127.0.0.1:3128'
  const local = 'localhost,127.0.0.1,::1'
  expect(proxyEnvironment()).toEqual({
    ...{ HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy },
    ...{ ALL_PROXY: proxy, all_proxy: proxy, NO_PROXY: local, no_proxy: local, NODE_USE_ENV_PROXY: '1' },
  })
  expect(proxyEnvironment(7).HTTPS_PROXY).toBe('http://127.0.0.1:7')
})

it('runs the bridge with little memory, from files that the sandbox has', () => {
  expect([PROXY_SOCKET, PROXY_PORT]).toEqual(['/run/tool-hub/proxy.sock', 3128])
  expect(bridgeCommand()).toEqual([
    ...['/run/tool-hub/node', '--max-old-space-size=64', '--max-semi-space-size=1', '/run/tool-hub/bridge.mjs'],
    ...['/run/tool-hub/proxy.sock', '3128'],
  ])
  expect(bridgeCommand({ node: 'n', script: 's', socket: 'x', port: 7 })).toEqual([
    ...['n', '--max-old-space-size=64', '--max-semi-space-size=1', 's', 'x', '7'],
  ])
  expect(bridgeBinds()).toEqual([
    { from: process.execPath, to: '/run/tool-hub/node' },
    { from: expect.stringMatching(/\/bridge\.mjs$/), to: '/run/tool-hub/bridge.mjs' },
  ])
})

it('is a copy that every user can read, wherever tool-hub is installed', async () => {
  const { from } = bridgeBinds()[1]!
  expect(from.startsWith(process.cwd())).toBe(false)
  const modes = await Promise.all(foldersAbove(from).map(async (path) => (await stat(path)).mode))
  expect(modes.every((mode) => (mode & 0o001) !== 0)).toBe(true)
  expect((await stat(from)).mode & 0o777).toBe(0o444)
  expect(await readFile(from, 'utf8')).toBe(await readFile(resolve(SOURCE), 'utf8'))
})

const SOURCE = 'packages/sandbox/src/exec/bridge/bridge-main.mjs'

function foldersAbove(path: string): string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
