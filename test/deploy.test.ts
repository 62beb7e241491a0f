import { execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { loadConfig } from '@tool-hub/config'
import { migratePostgres } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { CLI_MAIN } from './support/cli.ts'
import { debianProgram } from './support/debian-program.ts'
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
        ...{ read_only: true, cap_drop: ['ALL'], init: true },
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
    for (const file of ['haproxy.cfg', 'seccomp.json', 'tool-hub.yaml', 'environment.example', 'worker-role.sql'])
      expect(existsSync(join('deploy', file)), file).toBe(true)
    const { service, database } = await configOf('hub-1')
    const balancer = readFileSync('deploy/haproxy.cfg', 'utf8')
    const serversWith = (option: string) =>
      [...balancer.matchAll(/^ {2}server (\S+) (\S+) (.+)$/gm)].flatMap(([, name, place, options]) =>
        options === option ? [[name, place]] : [],
      )
    const places = (ending: string) => named('hub-').map(([name]) => [`${name}${ending}`, `${name}:${service.port}`])
    expect([serversWith('resolvers system'), serversWith('backup')]).toEqual([places(''), places('-fixed')])
    const { ports } = compose.services.balancer!
    expect(ports).toEqual([`127.0.0.1:${new URL(service.publicUrl!).port}:8080`])
    expect(balancer).toMatch(/^ {2}bind :8080$/m)
    expect(service.trustedProxies).toEqual([compose.networks.front!.ipam!.config[0]!.subnet])
    expect(service.cluster).toEqual({ listen: '0.0.0.0:4041', address: 'http://hub-1:4041' })
    const { POSTGRES_USER, POSTGRES_DB } = compose.services.postgres!.environment!
    for (const [, { environment }] of named('hub-')) expect(environment).toEqual({ POSTGRES_USER })
    expect(database).toMatchObject({ url: `postgres://${POSTGRES_USER}:s3cret@postgres/${POSTGRES_DB}`, tls: false })
    expect(compose.services.postgres!.networks).toEqual(['back'])
    expect(readFileSync('deploy/environment.example', 'utf8')).toMatch(/^POSTGRES_PASSWORD=$/m)
  })

  it('gives the workers a database user of their own, and not the password of the services', async () => {
    for (const [, { env_file, environment }] of named('worker-'))
      expect({ env_file, environment }).toEqual({
        ...{ env_file: './worker-environment', environment: { POSTGRES_USER: 'tool_hub_worker' } },
      })
    const server = await startPostgres({ tcp: true })
    ends.push(() => server.close())
    server.sql('CREATE ROLE tool_hub LOGIN SUPERUSER')
    server.sql('CREATE DATABASE tool_hub OWNER tool_hub')
    const url = server.urlOf({ database: 'tool_hub', user: 'tool_hub' })
    await migratePostgres(url)
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'worker-environment'), "# The workers'.\nPOSTGRES_PASSWORD=w0rker\n")
    const { entrypoint, command, environment, env_file } = compose.services['grant-workers']!
    expect([entrypoint, env_file]).toEqual([['bash', '-ceu'], './environment'])
    const script = command[0]!
      .replaceAll('$$', '$')
      .replace('/run/worker-environment', join(folder, 'worker-environment'))
      .replace('/run/worker-role.sql', resolve('deploy/worker-role.sql'))
    const { hostname, port } = new URL(url)
    const env = { ...process.env, ...environment, POSTGRES_PASSWORD: 's3cret', PGHOST: hostname, PGPORT: port }
    // The second time is the next start.
    for (const _ of [1, 2]) await run('bash', ['-ceu', script], { env })
    const rights = "has_table_privilege('tool_hub_worker', 'tool_hub.tokens', 'SELECT')"
    const isOwn =
      "rolpassword IS NOT NULL AND rolcanlogin AND NOT rolsuper FROM pg_authid WHERE rolname = 'tool_hub_worker'"
    expect(server.sql(`SELECT ${rights}`, 'tool_hub').trim()).toBe('f')
    expect(server.sql(`SELECT ${isOwn}`, 'tool_hub').trim()).toBe('t')
    expect(
      server.sql("SELECT has_table_privilege('tool_hub_worker', 'tool_hub.processes', 'INSERT')", 'tool_hub'),
    ).toMatch(/^t/)
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
  readonly entrypoint?: readonly string[]
  readonly command: readonly string[]
  readonly env_file?: string
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
  vi.stubEnv('POSTGRES_USER', 'tool_hub')
  vi.stubEnv('POSTGRES_PASSWORD', 's3cret')
  try {
    const { options, service } = await loadConfig({ file: 'deploy/tool-hub.yaml' })
    return { service, database: options.database }
  } finally {
    vi.unstubAllEnvs()
  }
}
