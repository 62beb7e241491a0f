import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CLI_MAIN } from './support/cli.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** What a person is asked at most in a usual session. */
const MAX_ASKED = 4

const project = temporaryFolder('coding')
const home = temporaryFolder('home')
const env = { PATH: process.env.PATH!, HOME: home, TMPDIR: home }
const forms: string[] = []
let shown = ''
let client: Client

beforeAll(async () => {
  makeProject()
  shown = execFileSync(process.execPath, [CLI_MAIN, 'mcp', 'install', 'claude-code'], {
    cwd: project,
    env,
    encoding: 'utf8',
  })
  const { mcpServers } = JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8'))
  const { command, args } = mcpServers['tool-hub']
  client = new Client({ name: 'claude-code', version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    forms.push(params.message)
    return { action: 'accept', content: {} }
  })
  await client.connect(new StdioClientTransport({ command, args, cwd: project, env, stderr: 'ignore' }))
})
afterAll(() => client?.close())

function makeProject(): void {
  for (const folder of ['src', 'test']) mkdirSync(join(project, folder))
  const test = 'node --test test/sum.test.mjs'
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'sums', type: 'module', scripts: { test } }))
  writeFileSync(join(project, 'README.md'), '# Sums\n')
  writeFileSync(join(project, 'src/sum.js'), 'export const sum = (a, b) => a - b\n')
  writeFileSync(
    join(project, 'test/sum.test.mjs'),
    "import assert from 'node:assert'\nimport { sum } from '../src/sum.js'\nassert.equal(sum(1, 2), 3)\n",
  )
  const git = (...words: string[]) => execFileSync('git', ['-C', project, ...words], { stdio: 'ignore' })
  git('init', '-b', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.org')
  git('add', '.')
  git('commit', '-m', 'A start')
}

const bash = (command: string) => ['bash', { command }] as const

/** The session of a coding agent: it looks around, mends a bug, tests, documents, commits, pushes. */
const SESSION: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['ls', { path: '.' }],
  bash('git status'),
  bash('git log --oneline | head -5'),
  ['read', { path: 'package.json' }],
  bash('cat package.json | grep test'),
  ['find', { pattern: '**/*.js' }],
  ['read', { path: 'src/sum.js' }],
  ['grep', { pattern: 'sum' }],
  ['read', { path: 'test/sum.test.mjs' }],
  bash('wc -l src/*.js'),
  bash('npm test 2>&1 | tail -20'),
  ['edit', { path: 'src/sum.js', oldString: 'a - b', newString: 'a + b' }],
  bash('git diff'),
  bash('npm test'),
  bash('node -e "console.log(1 + 2)"'),
  ['write', { path: 'src/product.js', content: 'export const product = (a, b) => a * b\n' }],
  ['read', { path: 'src/product.js' }],
  ['grep', { pattern: 'product' }],
  bash('mkdir -p docs && ls -la'),
  ['write', { path: 'docs/usage.md', content: '# Usage\n' }],
  ['edit', { path: 'README.md', oldString: '# Sums', newString: '# Sums and products' }],
  bash('npm install left-pad --offline'),
  bash('touch scratch.txt'),
  bash('rm scratch.txt'),
  ['ls', { path: 'docs' }],
  bash('git add src test README.md'),
  bash('git commit -m "Add instead of subtracting"'),
  bash('git add docs && git commit -m "Describe the usage"'),
  bash('git log --oneline -3 && git status --short'),
  bash('git push'),
]

it('mcp install shows and writes a config for a coding agent', () => {
  const yaml = readFileSync(join(project, 'tool-hub.yaml'), 'utf8')
  for (const line of ['profile: coding', 'root: .', 'group:read-only', '{ ask: exec }']) {
    expect(yaml).toContain(line)
    expect(shown).toContain(line)
  }
})

it('the agent is shown the tools of a coding agent, and few words about them', async () => {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['read', 'write', 'edit', 'exec', 'grep']))
  expect(tools.length).toBeLessThanOrEqual(20)
  expect(JSON.stringify(tools).length).toBeLessThan(40_000)
})

it(`a coding session of 30 calls asks at most ${MAX_ASKED} times and is never denied`, {
  timeout: 300_000,
}, async () => {
  expect(SESSION).toHaveLength(30)
  const denied: unknown[] = []
  const asked: string[] = []
  for (const [name, args] of SESSION) {
    const before = forms.length
    const { content } = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 })
    const text = (content as { text?: string }[]).map((block) => block.text ?? '').join('\n')
    if (/^(?!EXEC_FAILED)[A-Z_]+: /.test(text)) denied.push([name, args, text])
    if (forms.length > before) asked.push(String(args.command ?? name))
  }
  expect(denied).toEqual([])
  expect(asked).toEqual([
    'node -e "console.log(1 + 2)"',
    'npm install left-pad --offline',
    'rm scratch.txt',
    'git push',
  ])
  expect(asked.length).toBeLessThanOrEqual(MAX_ASKED)
  expect(forms[2]).toMatch(/^Run a command\?\n\nrm scratch\.txt\n\nRisk: Deletes files\nReason: /)
  expect(
    execFileSync('git', ['-C', project, 'log', '--oneline'], { encoding: 'utf8' }).trim().split('\n'),
  ).toHaveLength(3)
})
