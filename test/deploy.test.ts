import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { parse } from 'yaml'
import { z } from 'zod'
import { createClient } from '../src/client/index.ts'
import { loadConfig } from '../src/config/index.ts'
import { defineTool } from '../src/core/tool.ts'
import type { LogEntry } from '../src/server/index.ts'
import { startService } from '../src/server/start-service.ts'
import { CLI_MAIN } from './support/cli.ts'
import { eventually } from './support/eventually.ts'
import { startPostgres } from './support/postgres.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const run = promisify(execFile)
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

it.each(['tool-hub', 'tool-hub-worker'])('systemd finds nothing wrong with %s.service', async (name) => {
  const analyze = await debianProgram('systemd', 'usr/bin/systemd-analyze')
  const unit = `deploy/systemd/${name}.service`
  expect(await analyze('verify', unit)).toBe('')
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(
    await analyze('security', '--offline=yes', unit),
  )!
  expect(Number(exposure)).toBeLessThan(4)
})

it('the unit files leave out what would break the sandbox of commands', () => {
  const [service, worker] = ['tool-hub', 'tool-hub-worker'].map((name) =>
    readFileSync(`deploy/systemd/${name}.service`, 'utf8').split('\n'),
  ) as [string[], string[]]
  const differences = (a: readonly string[], b: readonly string[]) => a.filter((line) => !b.includes(line))
  // The worker is protected in the same way.
  const isProtection = (line: string) => /^(Private|Protect|Restrict|SystemCall|Capability|NoNew|Lock)/.test(line)
  expect(differences(service, worker).filter(isProtection)).toEqual([])
  const refused =
    /^(PrivateUsers|ProcSubset|ProtectControlGroups|ProtectHostname|ProtectKernel(Logs|Tunables)|ProtectProc|RestrictNamespaces|MemoryDenyWriteExecute)=/
  expect(service.filter((line) => refused.test(line))).toEqual([])
})

it('the load balancer spreads calls, passes WebSockets and event streams on, and leaves out a service that has ended', async () => {
  const [one, two] = [await service('one'), await service('two')]
  const port = await freePort()
  const places = { ':8080': `127.0.0.1:${port}`, 'hub-1:4040': one.place, 'hub-2:4040': two.place }
  const config = Object.entries({ ...places, 'hub-3:4040': `127.0.0.1:${await freePort()}` }).reduce(
    (text, [from, to]) => text.replace(new RegExp(`(?<= )${from}$`, 'm'), to),
    readFileSync('deploy/haproxy.cfg', 'utf8'),
  )
  const file = join(temporaryFolder(), 'haproxy.cfg')
  writeFileSync(file, config)
  const haproxy = await debianProgram('haproxy', 'usr/sbin/haproxy')
  await haproxy('-c', '-f', file)
  const balancer = haproxy.start('-f', file)
  const closed = new Promise((done) => balancer.once('close', done))
  ends.push(() => {
    balancer.kill()
    return closed
  })
  const url = `http://127.0.0.1:${port}`
  const as = ({ token }: { readonly token: string }) => createClient({ url, token, WebSocket })
  /** A token that is sent with a false address. The services share no store here, so it is that of one of them. */
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': '203.0.113.9' }
    return (await fetch(`${url}/v1/me`, { headers })).status
  }
  await eventually(async () => expect((await fetch(`${url}/healthz`)).status).toBe(200))
  // Both refuse it, and both log the address that the load balancer has seen.
  await eventually(async () => {
    await ask('th_nobody')
    for (const { log } of [one, two]) expect(log[0]?.fields.address).toBe('127.0.0.1')
  })

  await two.close()
  // From here on the first one answers everything.
  await eventually(async () => {
    for (let attempt = 0; attempt < 10; attempt++) expect(await ask(one.token)).toBe(200)
  })
  const client = as(one)
  expect(await client.call('test.who', {})).toMatchObject({ ok: true, data: 'one' })
  const socket = await client.connect()
  expect(await socket.call('test.who', {})).toMatchObject({ ok: true, data: 'one' })
  await socket.close()
  // Events arrive while the stream is open: nothing collects them.
  const aborted = new AbortController()
  const events = client.events({ types: ['call'], signal: aborted.signal })
  const first = events.next()
  await eventually(async () => {
    await client.call('test.who', {})
    expect(await Promise.race([first, Promise.resolve('nothing yet')])).not.toBe('nothing yet')
  })
  expect((await first).value).toMatchObject({ type: 'call', call: { tool: 'test.who' } })
  aborted.abort()
  await events.return()
})

it('the health check of a worker fails until its heartbeat is in the store, and after it has ended', async () => {
  const database = await startPostgres({ tcp: true })
  ends.push(() => database.close())
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'tool-hub.yaml'), `store: ${database.url}\n`)
  const check = () =>
    run(process.execPath, [resolve('deploy/worker-health.mjs')], { cwd: folder }).then(
      () => 'healthy',
      ({ stderr }: { readonly stderr: string }) => stderr,
    )
  expect(await check()).toMatch(/^The store has no current heartbeat of a worker on /)
  const worker = spawn(process.execPath, [CLI_MAIN, 'worker'], { cwd: folder, stdio: 'ignore' })
  const closed = new Promise((done) => worker.once('close', done))
  ends.push(() => {
    worker.kill('SIGKILL')
    return closed
  })
  await eventually(async () => expect(await check()).toBe('healthy'))
  worker.kill('SIGTERM')
  expect(await closed).toBe(0)
  expect(await check()).toMatch(/no current heartbeat/)
})

describe('deploy/compose.yaml', () => {
  const compose: Compose = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true })
  const named = (kind: string) => Object.entries(compose.services).filter(([name]) => name.startsWith(kind))

  it('starts three services and two workers, each with the config, a place of its own and a name', () => {
    const [hubs, workers] = [named('hub-'), named('worker-')]
    expect([hubs.length, workers.length]).toEqual([3, 2])
    for (const [name, { hostname, volumes, image, command, networks }] of [...hubs, ...workers]) {
      expect({ name, hostname, image, networks }).toMatchObject({
        ...{ name, hostname: name, image: 'tool-hub:local', networks: ['front', 'back'] },
      })
      expect(volumes).toEqual(['./tool-hub.yaml:/data/tool-hub.yaml:ro', `${name}:/data`, 'workspaces:/workspaces'])
      expect(command[0]).toBe(name.startsWith('hub-') ? 'serve' : 'worker')
    }
    expect(compose.volumes).toEqual(
      Object.fromEntries([...hubs, ...workers, ['workspaces'], ['postgres']].map(([name]) => [name, null])),
    )
    expect(compose.networks.back).toEqual({ internal: true })
  })

  it('checks the health of each process', () => {
    for (const [, { healthcheck }] of named('hub-')) expect(healthcheck).toBeUndefined()
    for (const [, { healthcheck }] of named('worker-'))
      expect(healthcheck).toMatchObject({ test: ['CMD', 'node', '/opt/tool-hub/deploy/worker-health.mjs'] })
  })

  it('gives the processes no rights, and the sandbox of commands what it needs', () => {
    for (const [, service] of [...named('hub-'), ...named('worker-')])
      expect(service).toMatchObject({
        ...{ read_only: true, cap_drop: ['ALL'], init: true, env_file: './environment' },
        security_opt: [
          'no-new-privileges:true',
          'seccomp:./seccomp.json',
          'apparmor:unconfined',
          'systempaths=unconfined',
        ],
      })
    const { defaultAction, syscalls } = JSON.parse(readFileSync('deploy/seccomp.json', 'utf8'))
    const refused = (syscalls as { action: string; names: string[] }[]).flatMap(({ action, names }) =>
      action === 'SCMP_ACT_ERRNO' ? names : [],
    )
    expect(defaultAction).toBe('SCMP_ACT_ALLOW')
    for (const needed of ['clone', 'unshare', 'mount', 'umount2', 'pivot_root', 'sethostname', 'seccomp'])
      expect(refused).not.toContain(needed)
    for (const wrong of ['bpf', 'kexec_load', 'init_module', 'keyctl', 'io_uring_setup', 'perf_event_open'])
      expect(refused).toContain(wrong)
  })

  it('names ports, addresses and files that agree with the config and the load balancer', async () => {
    for (const file of ['haproxy.cfg', 'seccomp.json', 'tool-hub.yaml', 'environment.example'])
      expect(existsSync(join('deploy', file)), file).toBe(true)
    const { service, database } = await configOf('hub-1')
    const balancer = readFileSync('deploy/haproxy.cfg', 'utf8')
    const servers = [...balancer.matchAll(/^ {2}server (\S+) (\S+)$/gm)].map(([, name, place]) => [name, place])
    expect(servers).toEqual(named('hub-').map(([name]) => [name, `${name}:${service.port}`]))
    const { ports } = compose.services.balancer!
    expect(ports).toEqual([`127.0.0.1:${new URL(service.publicUrl!).port}:8080`])
    expect(balancer).toMatch(/^ {2}bind :8080$/m)
    expect(service.trustedProxies).toEqual([compose.networks.front!.ipam!.config[0]!.subnet])
    expect(service.cluster).toEqual({ listen: '0.0.0.0:4041', address: 'http://hub-1:4041' })
    const { POSTGRES_USER, POSTGRES_DB } = compose.services.postgres!.environment!
    expect(database).toMatchObject({ url: `postgres://${POSTGRES_USER}:s3cret@postgres/${POSTGRES_DB}`, tls: false })
    expect(compose.services.postgres!.networks).toEqual(['back'])
    expect(readFileSync('deploy/environment.example', 'utf8')).toMatch(/^POSTGRES_PASSWORD=$/m)
  })

  it.each(
    named('')
      .filter(([, { image }]) => image === 'tool-hub:local')
      .map(([name, { command }]) => [name, command] as const),
  )('runs %s with a command and options that exist: %j', async (_, command) => {
    const { stdout } = await run(process.execPath, [CLI_MAIN, command[0]!, '--help'])
    for (const option of command.filter((word) => word.startsWith('--'))) expect(stdout).toContain(option)
  })
})

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly networks: Readonly<
    Record<string, { readonly ipam?: { readonly config: readonly { readonly subnet: string }[] } }>
  >
  readonly volumes: Readonly<Record<string, null>>
}

interface ComposeService {
  readonly image: string
  readonly hostname?: string
  readonly command: readonly string[]
  readonly volumes: readonly string[]
  readonly networks: readonly string[]
  readonly ports?: readonly string[]
  /** Default: that of the image. */
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly environment?: Readonly<Record<string, string>>
}

/** The config as a process of the compose file reads it. */
async function configOf(hostname: string) {
  vi.stubEnv('HOSTNAME', hostname)
  vi.stubEnv('POSTGRES_PASSWORD', 's3cret')
  try {
    const { options, service } = await loadConfig({ file: 'deploy/tool-hub.yaml' })
    return { service, database: options.database }
  } finally {
    vi.unstubAllEnvs()
  }
}

/** A service behind the load balancer, which it believes. */
async function service(name: string) {
  const home = temporaryFolder()
  const log: LogEntry[] = []
  const who = defineTool({
    name: 'test.who',
    description: 'Says which service it is.',
    input: z.strictObject({}),
    capabilities: [],
    execute: () => name,
  })
  const started = await startService(
    { tools: [who], runs: join(home, 'runs'), data: join(home, 'data') },
    {
      port: 0,
      shutdownMs: 100,
      trustedProxies: ['127.0.0.1'],
      onLog: (entry) => entry.event === 'request-refused' && log.push(entry),
    },
  )
  let closing: Promise<void> | undefined
  const close = () => (closing ??= started.close())
  ends.push(close)
  return { place: new URL(started.url).host, token: started.token, log, close }
}

/** A program as Debian builds it. It is not installed: what is missing of it is unpacked into a temporary folder. */
async function debianProgram(name: string, path: string) {
  const installed = join('/', path)
  const folder = existsSync(installed) ? '/' : await unpack(name)
  const libraries = readdirSync(join(folder, 'usr/lib')).filter((each) => each.endsWith('-linux-gnu'))
  const folders = ['systemd', ...libraries].flatMap((each) => [`usr/lib/${each}`, `lib/${each}`])
  const found = folder === '/' ? {} : { LD_LIBRARY_PATH: folders.map((each) => join(folder, each)).join(':') }
  const env = { ...process.env, ...found, SYSTEMD_COLORS: '0' }
  const use = async (...words: string[]) => {
    const { stdout, stderr } = await run(join(folder, path), words, { env, maxBuffer: 1e7 })
    return stdout + stderr
  }
  const start = (...words: string[]): ChildProcess => spawn(join(folder, path), words, { env, stdio: 'ignore' })
  return Object.assign(use, { start })
}

async function unpack(name: string): Promise<string> {
  const [folder, archives, lists] = ['program', 'archives', 'lists'].map((each) => temporaryFolder(each)) as [
    string,
    string,
    string,
  ]
  for (const each of [archives, lists]) mkdirSync(join(each, 'partial'))
  const settings = [`Dir::Cache::archives=${archives}`, 'Debug::NoLocking=1', 'APT::Sandbox::User=root']
  const get = (...words: string[]) =>
    run('apt-get', ['-qq', '-y', ...settings.flatMap((each) => ['-o', each]), ...words])
  const install = ['--no-install-recommends', '--download-only', 'install', name]
  const own = ['-o', `Dir::State::lists=${lists}`]
  await get(...install).catch(async () => {
    // This machine has no list of packages, or an old one.
    await get(...own, 'update')
    await get(...own, ...install)
  })
  for (const file of readdirSync(archives).filter((each) => each.endsWith('.deb')))
    await run('dpkg-deb', ['-x', join(archives, file), folder])
  return folder
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}
