import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { HubOptions } from '../packages/core/src/options.ts'
import { protectedCode } from '../packages/runtime/src/hub/protected-code.ts'
import { prepareDataFolder } from '../packages/sandbox/src/system/data-folder.ts'
import { CLI_MAIN, startCli } from './support/cli.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-planted-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
})

function write(path: string, content = ''): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

const read = (path: string) => readFileSync(join(root, path), 'utf8')

function folderOutside(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-outside-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A hub on the root, whose commands run unasked. */
function hubHere(options: HubOptions = {}) {
  const hub = createToolHub({
    sandbox: { root },
    data: join(root, '.tool-hub'),
    runs: join(root, 'runs'),
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }],
    ...options,
  })
  onTestFinished(() => hub.close())
  return {
    hub,
    exec: (command: string, more: object = {}) => hub.call('core/exec.run', { command, ...more }),
  }
}

async function cli(words: readonly string[], main = CLI_MAIN) {
  const { child, ended } = startCli(root, words, main)
  child.stdin.end()
  return ended
}

describe('the data folder', () => {
  it('is there before the first command, closed to it, and no command runs without it', async () => {
    const { exec } = hubHere()
    await exec('mkdir -p .tool-hub/tools && echo x > .tool-hub/tools/x.mjs; ls -A .tool-hub')
    expect(existsSync(join(root, '.tool-hub/tools'))).toBe(false)

    const shared = join(root, 'shared')
    prepareDataFolder(shared)
    chmodSync(shared, 0o755)
    const refused = await hubHere({ data: shared, runs: false }).exec('true')
    expect(refused.error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('by other users') })
  })

  it.each(['readable', 'writable'] as const)('is closed to commands in a folder that is %s for them', async (grant) => {
    const around = folderOutside()
    const data = join(around, 'data')
    const records = join(around, 'records')
    for (const granted of [around, data]) {
      const commands = { [grant]: [granted] }
      const { hub, exec } = hubHere({ data, runs: records, sandbox: { root, commands } })
      const result = await exec(`ls -A ${data} ${records}; touch ${data}/planted ${records}/planted; true`)
      expect([result.error, JSON.stringify(result.data)]).toEqual([undefined, expect.not.stringContaining('.json')])
      expect(JSON.stringify(result.data)).not.toContain('run-')
      await hub.close()
    }
    expect([data, records].map((folder) => existsSync(join(folder, 'planted')))).toEqual([false, false])
  })

  it('is refused when tool-hub did not make it here, until its owner adopts it', async () => {
    write('tool-hub.yaml', 'sandbox: { root: . }\n')
    const foreign = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-foreign-')))
    onTestFinished(() => rmSync(foreign, { recursive: true, force: true }))
    const store = openStore(join(foreign, 'data'))
    await store.check()
    await store.close()
    cpSync(join(foreign, 'data'), join(root, '.tool-hub'), { recursive: true })
    const check = await cli(['store', 'check'])
    expect([check.code, check.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('was not made by tool-hub'),
    ])
    expect(check.code).not.toBe(0)
    expect((await cli(['store', 'adopt'])).code).toBe(0)
    expect((await cli(['store', 'check'])).code).toBe(0)
  })

  it.runIf(process.getuid?.() === 0)(
    'is refused whole when it belongs to another user, whatever is called',
    async () => {
      mkdirSync(join(root, '.tool-hub'), { mode: 0o700 })
      chownSync(join(root, '.tool-hub'), 65_534, 65_534)
      write('a.txt', 'a')
      const calls = [
        ['call', 'core/fs.readText', '{"path":"a.txt"}'],
        ['exec', '--', 'true'],
        ['store', 'check'],
      ]
      for (const words of calls) {
        const { code, stdout, stderr } = await cli(words)
        const refusal = expect.stringMatching(/\.tool-hub belongs to user 65534, not to you.*chown/s)
        expect([words[0], code, stdout, stderr]).toEqual([words[0], 2, '', refusal])
      }
    },
  )

  it('brings tools only where the config names their folder', async () => {
    const tool = `import { writeFileSync } from 'node:fs'
      writeFileSync(${JSON.stringify(join(root, 'ran'))}, '')
      export default { name: 'x.y', description: 'x', input: { type: 'object' }, capabilities: [], execute: () => 'done' }`
    write('tool-hub.yaml', 'sandbox: { root: . }\n')
    write('.tool-hub/tools/x.mjs', tool)
    await cli(['list'])
    expect(existsSync(join(root, 'ran'))).toBe(false)
    write('tools/x.mjs', tool)
    write('tool-hub.yaml', 'sandbox: { root: . }\nplugins: [./tools]\n')
    const listed = await cli(['list'])
    expect(listed.stdout).toContain('x.y')
    expect(existsSync(join(root, 'ran'))).toBe(true)
  })
})

describe('code that the hub runs', () => {
  it('of the package itself is closed to file tools and to commands, with all it resolves', async () => {
    const own = join(root, 'node_modules/tool-hub')
    cpSync(dirname(dirname(CLI_MAIN)), join(own, 'dist'), { recursive: true })
    cpSync(resolve('packages/tool-hub/package.json'), join(own, 'package.json'))
    symlinkSync(resolve('node_modules'), join(own, 'node_modules'))
    write('tool-hub.yaml', 'sandbox: { root: . }\npolicy: [{ allow: exec }, { allow: write:fs }]\n')
    const main = join(own, 'dist/cli/main.js')
    const patch = '*** Begin Patch\n*** Add File: node_modules/tool-hub/dist/evil.js\n+evil\n*** End Patch'
    const patched = await cli(['call', 'core/fs.applyPatch', JSON.stringify({ input: patch }), '--json'], main)
    expect(patched.stdout + patched.stderr).toContain('PATH_DENIED')
    const line = 'echo evil >> node_modules/tool-hub/dist/cli/main.js; mkdir -p node_modules/lru-cache'
    const ran = await cli(['exec', '--', 'sh', '-c', line], main)
    expect(ran.stderr).toMatch(/Read-only file system/)
    expect([existsSync(join(root, 'node_modules/lru-cache')), existsSync(join(own, 'dist/evil.js'))]).toEqual([
      false,
      false,
    ])
  })

  it('of plugins, MCP servers and runners is closed, with everything it imports', async () => {
    write('p.mjs', `import './lib/util.mjs'; export default { name: 'p', tools: [] }`)
    write('lib/util.mjs', `export { x } from './deep.mjs'`)
    write('lib/deep.mjs', 'export const x = 1')
    write('server.mjs', `import './lib2/server-part.mjs'`)
    write('lib2/server-part.mjs')
    write('runner.py', 'import helper\n')
    write('helper.py', 'import further\n')
    write('further.py')
    write('linked/main.mjs', `import './part.mjs'`)
    write('linked/part.mjs')
    symlinkSync('linked/main.mjs', join(root, 'start.mjs'))
    write('ordinary.mjs')
    write(
      'tool-hub.yaml',
      `sandbox: { root: . }
plugins: [./p.mjs]
mcpServers:
  h: { command: node, args: [./server.mjs], disabled: true }
  l: { command: node, args: [./start.mjs], disabled: true }
sessions: { runners: { r: { type: command, argv: [python3, ./runner.py] } } }
policy: [{ allow: exec }, { allow: danger:destructive }]
`,
    )
    const files = [
      'p.mjs',
      'lib/util.mjs',
      'lib/deep.mjs',
      'server.mjs',
      'lib2/server-part.mjs',
      'runner.py',
      'helper.py',
      'further.py',
      'linked/main.mjs',
      'linked/part.mjs',
    ]
    const line = [...files, 'ordinary.mjs'].map((file) => `echo evil >> ${file}`).join('; ')
    await cli(['exec', '--', 'sh', '-c', `${line}; true`])
    for (const path of [...files, 'ordinary.mjs'])
      await cli(['call', 'core/fs.writeText', JSON.stringify({ path, text: 'evil', overwrite: true })])
    expect(files.filter((file) => read(file).includes('evil'))).toEqual([])
    expect(read('ordinary.mjs')).toContain('evil')
  })

  it('of MCP servers is closed however their command line names it', () => {
    const files = {
      'program.mjs': `#!/usr/bin/env node\nimport './program-part.mjs'`,
      'program-part.mjs': '',
      'folder/index.js': `require('./part')`,
      'folder/part.js': '',
      'short.js': '',
      'script.sh': '',
      'module.py': 'import helper',
      'helper.py': '',
    }
    for (const [path, content] of Object.entries(files)) write(path, content)
    const servers = [
      { command: './program.mjs' },
      { command: 'node', args: ['folder'] },
      { command: 'node', args: ['./short'] },
      { command: 'bash', args: ['-c', 'cd . && exec ./script.sh --option'] },
      { command: 'python3', args: ['-m', 'module.part'] },
    ]
    const mcpServers = Object.fromEntries(servers.map((server, index) => [`s${index}`, { ...server, cwd: root }]))
    const paths = [...Object.keys(files), 'module', 'folder/package.json'].map((path) => join(root, path))
    write('folder/package.json', '{}')
    const closed = protectedCode({ mcpServers }, [])
    expect(closed).toEqual(expect.arrayContaining(paths))
    expect(closed).not.toContain(root)
    expect(closed).not.toContain(join(root, 'folder'))
  })

  it('is not taken from the project by the name of a package that a plugin imports', async () => {
    write('p.mjs', `import x from 'dep'; export default { name: 'p', tools: [] }`)
    write('node_modules/dep/package.json', '{"name":"dep","main":"i.js"}')
    write('node_modules/dep/i.js', 'module.exports = 1')
    write('tool-hub.yaml', 'sandbox: { root: . }\nplugins: [./p.mjs]\n')
    expect((await cli(['list'])).code).toBe(0)
    write('package.json', '{"name":"dep","exports":"./evil.mjs"}')
    write(
      'evil.mjs',
      `import { writeFileSync } from 'node:fs'; writeFileSync('${join(root, 'ran')}', ''); export default 1`,
    )
    const refused = await cli(['list'])
    expect(refused.stderr).toContain('which is the name of its own project')
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  it('is created below node_modules only after somebody was asked', async () => {
    const asked: string[] = []
    const { hub } = hubHere({
      policy: [],
      approve: ({ tool }) => {
        asked.push(tool)
        return { decision: 'deny' }
      },
    })
    const input = { path: 'node_modules/left-pad/index.js', text: 'x' }
    expect((await hub.callDynamic('core/fs.writeText', input)).error?.code).toBe('APPROVAL_DENIED')
    expect(asked).toEqual(['core/fs.writeText'])
  })
})

describe('what git, editors, shells and agents run', () => {
  const EXISTING = [
    'app/.git/hooks/post-checkout',
    'app/.git/config',
    'app/.vscode/tasks.json',
    'x/y/.claude/settings.json',
  ]
  const MISSING = [
    'app/.mcp.json',
    'app/tool-hub.yaml',
    '.husky/pre-commit',
    '.kiro/settings/mcp.json',
    'opencode.json',
  ]

  it('is not changed by a command at any depth, nor made where it was not', async () => {
    for (const path of EXISTING) write(path, 'mine')
    const { exec } = hubHere()
    const line = [...EXISTING, ...MISSING].map((path) => `mkdir -p $(dirname ${path}); echo evil > ${path}`).join('; ')
    const result = await exec(`${line}; true`)
    expect(EXISTING.map(read)).toEqual(EXISTING.map(() => 'mine'))
    expect(MISSING.filter((path) => existsSync(join(root, path)))).toEqual([])
    expect(result.meta.notices?.join(' ')).toContain('.mcp.json')
  })

  it.each<[string, { read?: string; isThere: boolean }]>([
    ['', { isThere: true }],
    [', also where these come later', { isThere: false }],
    [', also where these lie in a folder that they only read', { read: '.', isThere: true }],
    [', also where these come later in a folder that they only read', { read: '.', isThere: false }],
    [', also where these are a folder that other tools only read', { read: 'other', isThere: true }],
  ])('is not made in further folders that commands may write to either%s', async (_, { read: inside, isThere }) => {
    const around = folderOutside()
    const other = join(around, 'other')
    if (isThere) mkdirSync(other)
    const roots = inside === undefined ? [] : [{ path: join(around, inside), mode: 'read' as const }]
    const own = join(other, 'own.sh')
    const { exec } = hubHere({ sandbox: { root, roots, protect: [own], commands: { writable: [other] } } })
    if (!isThere) {
      await exec('true')
      mkdirSync(other)
    }
    writeFileSync(own, 'mine')
    const result = await exec(
      `echo evil > ${own}; echo x > ${other}/ordinary; mkdir ${other}/.vscode; echo x > ${other}/.vscode/tasks.json; true`,
    )
    expect(result.error).toBeUndefined()
    expect([existsSync(join(other, 'ordinary')), existsSync(join(other, '.vscode'))]).toEqual([true, false])
    expect(readFileSync(own, 'utf8')).toBe('mine')
  })

  it('is not made in a folder that commands only read and that is gone, where they can make it again', async () => {
    write('lib/x')
    const { exec } = hubHere({ sandbox: { root, roots: [{ path: join(root, 'lib'), mode: 'read' }] } })
    const waiting = exec('touch ready; until mkdir lib; do sleep 0.05; done 2>/dev/null; echo evil > lib/.envrc')
    await vi.waitFor(() => expect(existsSync(join(root, 'ready'))).toBe(true), { timeout: 100_000, interval: 50 })
    rmSync(join(root, 'lib'), { recursive: true })
    expect((await waiting).error).toBeUndefined()
    expect([existsSync(join(root, 'lib')), existsSync(join(root, 'lib/.envrc'))]).toEqual([true, false])
  })

  it('is not made in a shared cache that lies in a folder which commands only read', async () => {
    const home = folderOutside()
    vi.stubEnv('HOME', home)
    onTestFinished(() => void vi.unstubAllEnvs())
    const sandbox = { root, roots: [{ path: home, mode: 'read' as const }], commands: { caches: ['npm' as const] } }
    const result = await hubHere({ sandbox }).exec(`echo x > ${home}/.npm/x; echo evil > ${home}/.npm/.envrc`)
    expect(result.error).toBeUndefined()
    expect(readdirSync(join(home, '.npm')).toSorted()).toEqual([expect.stringMatching(/^\.envrc\.set-aside-/), 'x'])
  })

  it('is the owner’s in folders that commands only read: it stays, also after kill -9', async () => {
    const other = folderOutside()
    const roots = [{ path: other, mode: 'read' as const }]
    const { hub, exec } = hubHere({ sandbox: { root, roots } })
    const started = await exec(`echo evil > ${other}/.envrc; while :; do sleep 1; done`, { background: true })
    expect(started.ok).toBe(true)
    writeFileSync(join(other, 'tool-hub.yaml'), '')
    // The hub has looked at both folders once more when this is gone.
    write('.envrc')
    await vi.waitFor(() => expect(existsSync(join(root, '.envrc'))).toBe(false), { timeout: 100_000, interval: 50 })
    expect(readdirSync(other)).toEqual(['tool-hub.yaml'])
    const [ledger] = readdirSync(join(root, '.tool-hub/commands')).map((name) => join('.tool-hub/commands', name))
    const left = read(ledger!)
    await hub.close()
    const { pid } = spawnSync('true')
    write(ledger!, JSON.stringify({ ...JSON.parse(left), hub: { ...JSON.parse(left).hub, pid } }))
    await hubHere({ sandbox: { root, roots } }).exec('true')
    expect([existsSync(join(root, ledger!)), readdirSync(other)]).toEqual([false, ['tool-hub.yaml']])
  })

  it('is taken away while the background command that made it still runs', async () => {
    const { hub, exec } = hubHere()
    const started = await exec('echo evil > .envrc; while :; do sleep 1; done', { background: true })
    expect(started.ok).toBe(true)
    await vi.waitFor(() => expect(existsSync(join(root, '.envrc'))).toBe(false), { timeout: 100_000, interval: 50 })
    await hub.close()
  })
})

describe('secrets in the roots', () => {
  it('stay hidden where the file was replaced since the sandbox was prepared', async () => {
    write('.env', 'DB_PASSWORD=first')
    const { exec } = hubHere()
    for (const secret of ['second', 'third', 'fourth']) {
      await exec('cat .env || true')
      renameSync(write('draft', `DB_PASSWORD=${secret}`), join(root, '.env'))
      const next = await exec('cat .env || true')
      expect(JSON.stringify(next)).not.toContain(secret)
      expect(next.ok).toBe(true)
    }
  })

  it.each([
    { name: '.env', replace: (file: string, draft: string) => renameSync(draft, file) },
    {
      name: 'app/.git/config',
      replace: (file: string, draft: string) => {
        rmSync(file)
        renameSync(draft, file)
      },
    },
  ])('are not uncovered while a command runs: it is stopped when $name is replaced', async ({ name, replace }) => {
    const file = write(name, 'mine')
    const { hub, exec } = hubHere()
    const started = await exec('echo ready; while :; do sleep 1; done', { background: true })
    const { sessionId } = started.data as { sessionId: string }
    writeFileSync(file, 'changed in place')
    replace(file, write('draft', 'DB_PASSWORD=planted'))
    const poll = () => hub.callDynamic('core/exec.process', { action: 'poll', sessionId })
    await vi.waitFor(async () => expect((await poll()).data).toMatchObject({ command: { status: 'exited' } }), {
      timeout: 60_000,
      interval: 50,
    })
    expect(JSON.stringify(await poll())).toContain(`${name} was replaced`)
  })

  it('stay hidden behind decoys, and a command is refused when they cannot all be hidden', async () => {
    write('.env', 'DB_PASSWORD=planted')
    await hubHere().exec('for i in $(seq 150); do : > d$i.pem; done')
    const next = await hubHere({ runs: false }).exec('cat .env || true')
    expect(JSON.stringify(next)).not.toContain('planted')
    expect(next.ok).toBe(true)
    for (let i = 0; i < 600; i++) write(`many/${i}.pem`)
    const refused = await hubHere({ runs: false }).exec('cat .env || true')
    expect(refused.error).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('601 secrets'),
    })
  })
})
