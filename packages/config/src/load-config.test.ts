import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tool-hub-config-'))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function write(name: string, text: string): Promise<string> {
  const file = path.join(folder, name)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

/** The example of the architecture, without what later versions bring. */
const EXAMPLE = `# yaml-language-server: $schema=./node_modules/tool-hub/config.schema.json
version: 1
tools:                              # visibility
  profile: coding
  allow: [group:fs, group:runtime]
  deny: [browser]
policy:
  - { ask: exec }
  - { allow: exec, on: ["git status", "git diff *", "npm test *"] }
  - { allow: network, on: ["https://api.github.com/**"] }
  - { deny: "*", on: ["~/.ssh/**", "**/*.pem"], reason: "secrets stay on this machine" }
sandbox: { root: ., network: [api.github.com] }
limits: { timeout: 60s, output: 30KB, calls: 200 }
runs: ./runs
`

describe('loadConfig', () => {
  it('reads the example of the architecture', async () => {
    const file = await write('tool-hub.yaml', EXAMPLE)
    const loaded = await loadConfig({ cwd: folder })
    expect(loaded).toEqual({
      file,
      service: {},
      worker: {},
      warnings: [],
      options: {
        visibility: { profile: 'coding', allow: ['group:fs', 'group:runtime'], deny: ['browser'] },
        policy: [
          sourced({ ask: 'exec' }, 8),
          sourced({ allow: 'exec', on: ['git status', 'git diff *', 'npm test *'] }, 9),
          sourced({ allow: 'network', on: ['https://api.github.com/**'] }, 10),
          sourced({ deny: '*', on: ['~/.ssh/**', '**/*.pem'], reason: 'secrets stay on this machine' }, 11),
        ],
        sandbox: { root: folder, network: ['api.github.com'], protect: [file] },
        limits: { timeoutMs: 60_000, outputChars: 30_000, run: { calls: 200 }, shortKeys: ['calls'] },
        runs: path.join(folder, 'runs'),
        data: path.join(folder, '.tool-hub'),
      },
    })
  })

  it('translates every key into an option', async () => {
    vi.stubEnv('CONFIG_TEST_SECRET', 'hunter2-hunter2')
    await write(
      'tool-hub.yaml',
      `sandbox:
  root: ./srv
  roots: [{ path: ../shared, mode: read }, { path: ~/notes, mode: write }]
  network: ["*.example.org"]
  privateRanges: [10.1.0.0/16, "fd00::/8"]
limits:
  { timeout: 5m, output: 1MB, input: 64KiB, depth: 10, read: 2MB, http: 3MB, concurrency: 4, rate: 100/min,
    run: { calls: 5, time: 1h, bytes: 1GB, cost: 2.5 }, session: { calls: 0 },
    tools: { web_search: { calls: 20, rate: { perSecond: 1, burst: 3 }, concurrency: 1 } } }
policy:
  - { allow: read_file, except: [secret.txt], when: { tainted: false, caller: script }, limit: { timeout: 1s, maxBytes: 10MB, maxResults: 100, retries: 2 } }
approvals: { timeout: 10m, inbox: true, elicitation: true }
runs: false
data: /var/lib/tool-hub
durability: full
caller: ci
redact: { keys: [x-token], env: [CONFIG_TEST_SECRET] }
`,
    )
    const { options } = await loadConfig({ cwd: folder })
    expect(options).toEqual({
      sandbox: {
        root: path.join(folder, 'srv'),
        roots: [
          { path: path.join(path.dirname(folder), 'shared'), mode: 'read' },
          { path: path.join(os.homedir(), 'notes'), mode: 'write' },
        ],
        network: ['*.example.org'],
        privateRanges: ['10.1.0.0/16', 'fd00::/8'],
        protect: [path.join(folder, 'tool-hub.yaml')],
      },
      limits: {
        timeoutMs: 300_000,
        outputChars: 1_000_000,
        inputBytes: 65_536,
        inputDepth: 10,
        readBytes: 2_000_000,
        httpBytes: 3_000_000,
        concurrency: 4,
        rate: { perSecond: 100 / 60, burst: 100 },
        run: { calls: 5, wallMs: 3_600_000, bytes: 1e9, cost: 2.5 },
        session: { calls: 0 },
        tools: { web_search: { calls: 20, rate: { perSecond: 1, burst: 3 }, concurrency: 1 } },
      },
      policy: [
        sourced(
          {
            allow: 'read_file',
            except: ['secret.txt'],
            when: { tainted: false, caller: 'script' },
            limit: { timeoutMs: 1_000, maxBytes: 10_000_000, maxResults: 100, retries: 2 },
          },
          11,
        ),
      ],
      approvals: { timeoutMs: 600_000, inbox: true, elicitation: true },
      runs: false,
      data: '/var/lib/tool-hub',
      durability: 'full',
      caller: 'ci',
      redact: { keys: ['x-token'], values: ['hunter2-hunter2'] },
    })
  })

  it('starts programs in the folder of the config, and by default sandboxed ones in one of their own', async () => {
    const servers =
      '{ a: { command: x }, b: { command: x, sandbox: true }, c: { command: x, sandbox: true, cwd: sub } }'
    await write('tool-hub.yaml', `mcpServers: ${servers}\n`)
    const { options } = await loadConfig({ cwd: folder })
    const folders = Object.values(options.mcpServers ?? {}).map((server) => 'cwd' in server && server.cwd)
    expect(folders).toEqual([folder, false, path.join(folder, 'sub')])
  })

  it('keeps records in the configured folder, also with a config from elsewhere', async () => {
    const file = await write('other/x.yaml', 'version: 1\n')
    const { options } = await loadConfig({ cwd: folder, file, home: path.dirname(file) })
    expect(options.data).toBe(path.join(folder, 'other', '.tool-hub'))
  })

  it('needs no file: the defaults hold, records stay in the folder', async () => {
    expect(await loadConfig({ cwd: folder })).toEqual({
      file: undefined,
      options: { policy: [], runs: path.join(folder, 'runs'), data: path.join(folder, '.tool-hub') },
      service: {},
      worker: {},
      warnings: [],
    })
  })

  it('takes an empty file for one that says nothing', async () => {
    const file = await write('tool-hub.yaml', '# nothing yet\n')
    expect((await loadConfig({ cwd: folder })).options).toEqual({
      policy: [],
      sandbox: { protect: [file] },
      runs: path.join(folder, 'runs'),
      data: path.join(folder, '.tool-hub'),
    })
  })

  it('follows aliases, and knows the lines of what they stand for', async () => {
    await write('tool-hub.yaml', 'limits:\n  run: &budget\n    calls: 3\n  session: *budget\n')
    expect((await loadConfig({ cwd: folder })).options.limits).toEqual({ run: { calls: 3 }, session: { calls: 3 } })
  })

  it('warns of a number that was hardly meant as milliseconds and of a secret that is not set', async () => {
    vi.stubEnv('CONFIG_TEST_UNSET', undefined)
    await write(
      'tool-hub.yaml',
      'limits:\n  timeout: 60\nredact: { env: [CONFIG_TEST_UNSET] }\nsecrets: { key: { env: CONFIG_TEST_UNSET, hosts: [a.example.org] } }\n',
    )
    const { warnings, options } = await loadConfig({ cwd: folder })
    expect(warnings).toEqual([
      'tool-hub.yaml:2:12 limits.timeout: 60 is milliseconds; write 60s for seconds.',
      'tool-hub.yaml:3:17 redact.env[0]: CONFIG_TEST_UNSET is not set, so there is nothing to redact.',
      'tool-hub.yaml:4:24 secrets.key.env: CONFIG_TEST_UNSET is not set, so the secret key is missing.',
    ])
    expect(options).toMatchObject({ limits: { timeoutMs: 60 }, redact: { values: [] } })
  })

  it('keeps records of a named config in the working folder', async () => {
    const file = await write('etc/tool-hub.yaml', 'caller: ci\n')
    const { options } = await loadConfig({ cwd: folder, file: 'etc/tool-hub.yaml' })
    expect(options).toEqual({
      caller: 'ci',
      policy: [],
      sandbox: { protect: [file] },
      runs: path.join(folder, 'runs'),
      data: path.join(folder, '.tool-hub'),
    })
  })

  it('protects itself, the policy it names and the code of its plugins from tools', async () => {
    await write('rules/policy.yaml', 'tools: { default: allow }\n')
    await write('plugins/a.mjs', 'export default { name: "a" }')
    await write('b.mjs', 'export default { name: "b" }')
    const text =
      'policy: ./rules/policy.yaml\nplugins: [./plugins/a.mjs, ./b.mjs]\nsandbox: { root: ., protect: [ci] }\n'
    const file = await write('tool-hub.yaml', text)
    const { options } = await loadConfig({ cwd: folder })
    const own = ['ci', file, 'rules/policy.yaml', 'plugins', 'plugins/a.mjs', 'b.mjs'].map((name) =>
      path.resolve(folder, name),
    )
    expect(options.sandbox?.protect).toEqual(own)
  })

  it('reads a config through a link', async () => {
    await write('real/settings.yaml', 'caller: ci\n')
    await symlink(path.join(folder, 'real/settings.yaml'), path.join(folder, 'tool-hub.yaml'))
    expect((await loadConfig({ cwd: folder })).options.caller).toBe('ci')
  })
})

function sourced(rule: object, line: number) {
  return { rule, source: { file: 'tool-hub.yaml', line }, base: folder }
}
