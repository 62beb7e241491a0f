import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { VERSION } from '../../../../core/src/lib/text.ts'
import { agentPrograms } from './agent-programs.ts'
import { installInto } from './install-into.ts'
import { examineOwnTools } from './own-tools.ts'

let home: string
let project: string
let said: string

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-install-')))
  project = join(home, 'project')
  mkdirSync(project)
  said = ''
  vi.stubEnv('HOME', home)
  vi.spyOn(process, 'cwd').mockReturnValue(project)
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest: unknown[]) => {
      said += text
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    })
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: what another program reads
const json = (file: string): any => JSON.parse(readFileSync(file, 'utf8'))
const name = 'tool-hub'

it('takes nothing from the folder the agent starts in, where it is for all projects', async () => {
  writeFileSync(join(project, 'tool-hub.yaml'), 'version: 1\n')
  await installInto('claude-code', { user: true, root: '.', name })
  const { command, args } = json(join(home, '.claude.json')).mcpServers[name]
  expect(command).toBe(process.execPath)
  expect(args.slice(-6)).toEqual(['mcp', '--root', project, '--dialect', 'coding', '--no-config'])
  expect(args.at(-7)).toMatch(/^\/.*cli\/main\.[jt]s$/)
  expect(said).toMatch(/in any folder[\s\S]*no config/)
  await installInto('claude-desktop', { root: '.', config: 'tool-hub.yaml', name })
  const desktop = agentPrograms().find((each) => each.name === 'claude-desktop')!.user
  expect(json(desktop).mcpServers[name].args.slice(-2)).toEqual(['--config', join(project, 'tool-hub.yaml')])
  // Also where the project is the home itself.
  vi.mocked(process.cwd).mockReturnValue(home)
  await expect(installInto('cursor', { user: true, name })).rejects.toThrow('any folder')
})

it('names the config to programs that start servers in another folder than the project', async () => {
  const words = (file: string, key: string): string[] => json(join(project, file))[key][name].args
  const root = '${workspaceFolder}'
  await installInto('cursor', { name, dryRun: true, json: true })
  expect(said).toContain(`${root}/tool-hub.yaml`)
  await installInto('cursor', { name })
  expect(existsSync(join(project, 'tool-hub.yaml'))).toBe(true)
  expect(words('.cursor/mcp.json', 'mcpServers').slice(-2)).toEqual(['--config', `${root}/tool-hub.yaml`])
  mkdirSync(join(project, 'rules'))
  writeFileSync(join(project, 'rules', 'mine.yaml'), 'version: 1\n')
  await installInto('vscode', { name, config: 'rules/mine.yaml' })
  expect(words('.vscode/mcp.json', 'servers').slice(-2)).toEqual(['--config', `${root}/rules/mine.yaml`])
  await installInto('vscode', { name, config: join(project, 'rules', 'mine.yaml') })
  expect(words('.vscode/mcp.json', 'servers').slice(-2)).toEqual(['--config', join(project, 'rules', 'mine.yaml')])
  // Claude Code starts it in the project, where it is found.
  await installInto('claude-code', { name })
  expect(words('.mcp.json', 'mcpServers')).not.toContain('--config')
  await installInto('cursor', { name, user: true, root: '.', config: 'tool-hub.yaml' })
  expect(json(join(home, '.cursor', 'mcp.json')).mcpServers[name].args.at(-1)).toBe(join(project, 'tool-hub.yaml'))
})

it('says what stays ungoverned, and switches it off where it can', async () => {
  await installInto('claude-code', { name })
  expect(said).toMatch(/Bash, Edit, Write.*bypass tool-hub[\s\S]*--exclusive/)
  expect(examineOwnTools()).toMatchObject([{ state: 'weak', what: 'agent', detail: expect.stringContaining('Bash') }])
  const file = join(project, '.claude', 'settings.local.json')
  mkdirSync(join(project, '.claude'))
  const before =
    '{\n  // mine\n  "model": "x",\n  "permissions": {\n    "allow": ["WebFetch"],\n    "deny": ["Bash", "Read(.env)"]\n  }\n}\n'
  writeFileSync(file, before)
  await installInto('claude-code', { name, exclusive: true, dryRun: true })
  expect(readFileSync(file, 'utf8')).toBe(before)
  await installInto('claude-code', { name, exclusive: true })
  const after = readFileSync(file, 'utf8')
  expect(after).toContain('// mine')
  const { model, permissions } = JSON.parse(after.replace('// mine', ''))
  expect([model, permissions.allow]).toEqual(['x', ['WebFetch']])
  expect(permissions.deny).toEqual(expect.arrayContaining(['Read(.env)', 'Bash', 'Edit', 'Write', 'Read', 'Grep']))
  expect(permissions.deny.filter((tool: string) => tool === 'Bash')).toHaveLength(1)
  expect(readFileSync(`${file}.backup`, 'utf8')).toBe(before)
  expect(said).toMatch(/remove them from permissions\.deny/)
  expect(examineOwnTools()).toMatchObject([{ state: 'good', what: 'agent' }])
  await installInto('claude-code', { name, exclusive: true })
  expect(readFileSync(file, 'utf8')).toBe(after)
  writeFileSync(file, '{ "permissions": { "deny": "Bash" } }')
  await expect(installInto('claude-code', { name, exclusive: true })).rejects.toThrow('is not a list')
  for (const client of ['cursor', 'vscode', 'claude-desktop']) {
    said = ''
    await installInto(client, { name, root: '.' })
    expect(said).toContain('bypass tool-hub')
    await expect(installInto(client, { name, root: '.', exclusive: true })).rejects.toThrow('cannot switch off')
  }
})

it('keeps what the person added to the entry, and says that it was replaced', async () => {
  const file = join(project, '.mcp.json')
  const env = { LEVEL: 'debug' }
  const given = { ...env, NODE_OPTIONS: '--require ./evil.cjs', LD_PRELOAD: './evil.so' }
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: { url: 'https://old', env: given, note: 1 } } }))
  await installInto('claude-code', { name })
  expect(json(file).mcpServers[name]).toEqual({
    command: process.execPath,
    args: expect.arrayContaining(['mcp', '--root', '.']),
    env,
    note: 1,
  })
  expect(said).toContain('takes the place of the entry tool-hub')
  expect(said).toContain('NODE_OPTIONS, LD_PRELOAD')
})

it('refuses places that are not there, and a file of the project that leads out of it', async () => {
  await expect(installInto('vscode', { root: 'nope', name })).rejects.toThrow('--root "nope" does not exist')
  await expect(installInto('vscode', { config: 'nope.yaml', name })).rejects.toThrow('--config "nope.yaml"')
  writeFileSync(join(home, 'precious.json'), '{}')
  symlinkSync(join(home, 'precious.json'), join(project, '.mcp.json'))
  await expect(installInto('claude-code', { name })).rejects.toThrow('leads out of the folder')
  expect(readFileSync(join(home, 'precious.json'), 'utf8')).toBe('{}')
})

it('writes a line that starts this installation, whatever the project and its settings hold', async () => {
  const ran = join(home, 'ran')
  const evil = `#!/usr/bin/env node\nrequire('node:fs').writeFileSync(${JSON.stringify(ran)}, 'evil')\n`
  const planted = join(project, 'node_modules', 'tool-hub')
  const programs = [join(planted, 'dist', 'cli', 'main.js'), join(project, 'node_modules', '.bin', 'tool-hub')]
  for (const path of [...programs, join(project, 'evil.cjs'), join(project, 'node'), join(project, 'tool-hub')]) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, evil, { mode: 0o755 })
  }
  const manifest = { name: 'tool-hub', version: VERSION, bin: { 'tool-hub': 'dist/cli/main.js' } }
  writeFileSync(join(planted, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(project, '.npmrc'), 'node-options=--require ./evil.cjs\n')
  await installInto('claude-code', { name })
  const { command, args } = json(join(project, '.mcp.json')).mcpServers[name]
  const path = [join(project, 'node_modules', '.bin'), project, '.', process.env.PATH].join(':')
  const child = spawn(command, args, { cwd: project, env: { ...process.env, PATH: path }, stdio: ['pipe', 'pipe', 2] })
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const [answer] = await once(child.stdout!, 'data')
  child.stdin!.end()
  await once(child, 'exit')
  expect(JSON.parse(String(answer)).result.serverInfo).toMatchObject({ name: 'tool-hub', version: VERSION })
  expect(existsSync(ran)).toBe(false)
})

it('refuses where tools could change what is started', async () => {
  const folder = dirname(process.execPath)
  writeFileSync(join(project, 'tool-hub.yaml'), `version: 1\nsandbox: { roots: [{ path: ${folder}, mode: write }] }\n`)
  await expect(installInto('claude-code', { name })).rejects.toThrow('where tools can change files')
  expect(existsSync(join(project, '.mcp.json'))).toBe(false)
})
