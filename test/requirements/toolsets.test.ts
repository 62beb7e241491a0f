import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ToolEvent, toToolEvents } from '../../packages/library/src/index.ts'
import { CLI_MAIN, jsonLines } from '../support/cli.ts'
import { configuredHub, skillText } from '../support/configured-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The toolsets of the document, as docs/reference/mcp.md filters them from the hub. */
const FILESYSTEM = ['read_file', 'write_file', 'list_files', 'search_files']
const SKILLS = ['list_skills', 'load_skill']
const MEMORY = ['recall_memory', 'write_memory']

const CONFIG = `sandbox: { root: ./project }
skills: [./skills]
memory: { enabled: true, provider: external, write_mode: candidate }
tools:
  allow: [read_file, write_file, list_files, grep_files, list_skills, load_skill, recall_memory, write_memory]
`

const FILES = { 'project/a.txt': 'hello', 'skills/pdf/SKILL.md': skillText('pdf', 'Use pages.') }

describe('the toolsets of the tool system', () => {
  it('an agent gets the toolsets from one server: explicit names, governed, on record', async () => {
    const folder = temporaryFolder('toolsets')
    for (const name of ['project', 'skills/pdf']) mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, 'tool-hub.yaml'), CONFIG)
    writeFileSync(join(folder, 'project/a.txt'), 'hello')
    writeFileSync(
      join(folder, 'skills/pdf/SKILL.md'),
      '---\nname: pdf\ndescription: Reads PDF files.\n---\nUse pages.\n',
    )
    const client = new Client({ name: 'toolsets', version: '1' })
    onTestFinished(() => client.close())
    const args = [CLI_MAIN, 'mcp', '--dialect', 'files']
    const env = { PATH: process.env.PATH!, HOME: folder, TMPDIR: folder }
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd: folder, env, stderr: 'ignore' }),
    )
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual([...FILESYSTEM, ...SKILLS, ...MEMORY].sort())
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: input })
      return { isError: isError === true, text: (content as { text?: string }[])[0]?.text ?? '' }
    }
    expect(await call('read_file', { path: 'a.txt' })).toEqual({ isError: false, text: 'hello' })
    expect(await call('grep_files', { pattern: 'hel', path: '.' })).toMatchObject({ text: 'a.txt:1:hello' })
    expect((await call('load_skill', { skill_id: 'pdf' })).text).toContain('Use pages.')
    expect(await call('write_memory', { content: 'Ada likes tea.', scope: 'run', tags: [] })).toMatchObject({
      isError: false,
    })
    expect(await call('write_file', { path: '../out.txt', content: 'x' })).toMatchObject({ isError: true })
    await client.close()
    const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith('events.jsonl'),
    )!
    const recorded = jsonLines(readFileSync(join(folder, file), 'utf8')).flatMap((line) => toToolEvents(line))
    const ends = recorded.filter(({ type }) => type !== 'tool.started').map(({ type, tool }) => `${type} ${tool}`)
    expect(ends).toEqual([
      'tool.completed core/fs.readText',
      'tool.completed core/fs.searchText',
      'tool.completed core/skill.load',
      'tool.completed core/memory.write',
      'tool.failed core/fs.writeText',
    ])
  })

  it('the first phase is there: files, skills, memory, permissions, a log, bounds and summaries', async () => {
    const { hub, call, folder, record } = await configuredHub(CONFIG, FILES)
    const results = [
      await call('read_file', { path: 'a.txt' }),
      await call('write_file', { path: 'b.txt', content: 'new' }),
      await call('list_skills'),
      await call('load_skill', { skill_id: 'pdf' }),
      await call('write_memory', { content: 'Ada likes tea.', scope: 'run', tags: [] }),
      await call('recall_memory', { query: 'tea', scope: 'run', limit: 1 }),
    ]
    expect(results.map(({ status }) => status)).toEqual(results.map(() => 'ok'))
    const outside = await call('write_file', { path: '../out.txt', content: 'x' })
    expect(outside.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    expect(existsSync(join(folder, 'out.txt'))).toBe(false)
    const permissions = Object.fromEntries(hub.list().map(({ name, capabilities }) => [name, capabilities]))
    expect(permissions).toMatchObject({
      'core/fs.readText': ['read:fs'],
      'core/fs.writeText': ['write:fs', 'danger:destructive'],
      'core/skill.load': ['read:fs'],
      'core/memory.write': ['memory'],
    })
    // What the first phase leaves out is not to be seen, and cannot be called.
    expect(hub.list()).toHaveLength(8)
    for (const [tool, input] of [
      ['run_shell', { command: 'ls' }],
      ['browser', { action: 'open', url: 'https://example.org/' }],
    ] as const)
      expect([tool, (await call(tool, input)).error?.code]).toEqual([tool, 'TOOL_DISABLED'])
    const logged = await record('logs/tools.jsonl')
    expect(logged.slice(0, 6).map(({ callId, summary }) => [callId, summary])).toEqual(
      results.map(({ callId, summary }) => [callId, summary]),
    )
    for (const { summary } of results) expect(summary).toMatch(/^.{1,200}$/)
    expect(logged).toHaveLength(9)
  })

  it('a tool has name, description, schema, permissions and handler; toolsets group them; a policy decides', async () => {
    const { hub, call } = await configuredHub(CONFIG, { ...FILES, 'project/unread.txt': 'kept' })
    const events: ToolEvent[] = []
    hub.onEvent((event) => events.push(...toToolEvents(event)))
    const card = hub.cards({ dialect: 'files' }).find(({ name }) => name === 'read_file')!
    expect(card).toMatchObject({
      name: 'read_file',
      description: expect.stringMatching(/\w+ \w+/),
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      capabilities: ['read:fs'],
    })
    expect(hub.registry.get('read_file')?.execute).toBeTypeOf('function')
    await call('read_file', { path: 'a.txt' })
    expect(events.map(({ type }) => type)).toEqual(['tool.started', 'tool.completed'])
    // Each toolset is a group: it shows its tools and no other.
    for (const [toolset, tools] of [
      ['group:files', FILESYSTEM],
      ['group:skill', SKILLS],
      ['group:memory', MEMORY],
    ] as const) {
      const only = await configuredHub(`skills: [./skills]\ntools: { allow: ["${toolset}"] }\n`, FILES)
      const names = only.hub.cards({ dialect: 'files' }).map(({ name }) => name)
      expect([toolset, names]).toEqual([toolset, expect.arrayContaining([...tools])])
      const others = [...FILESYSTEM, ...SKILLS, ...MEMORY].filter((name) => !tools.includes(name))
      expect([toolset, names.filter((name) => others.includes(name))]).toEqual([toolset, []])
    }
    expect((await hub.explain('read_file', { path: 'a.txt' })).effect).toBe('allow')
    expect((await hub.explain('write_file', { path: 'unread.txt', content: 'x' })).effect).toBe('deny')
  })

  it('read_file(path), write_file(path, content), list_files(path) and grep_files(pattern, path)', async () => {
    const { hub, call, read } = await configuredHub(CONFIG, { ...FILES, 'project/docs/b.txt': 'one\nhello two\n' })
    const parameters = (name: string) =>
      Object.keys(hub.cards({ dialect: 'files' }).find((card) => card.name === name)!.parameters.properties as object)
    expect(parameters('read_file')).toEqual(expect.arrayContaining(['path']))
    expect(parameters('write_file')).toEqual(expect.arrayContaining(['path', 'content']))
    expect(parameters('list_files')).toEqual(expect.arrayContaining(['path']))
    expect(parameters('search_files')).toEqual(expect.arrayContaining(['pattern', 'path']))
    expect((await call('read_file', { path: 'a.txt' })).data).toMatchObject({ path: 'a.txt', text: 'hello' })
    expect((await call('write_file', { path: 'new/c.txt', content: 'written' })).ok).toBe(true)
    expect(read('project/new/c.txt')).toBe('written')
    const text = async (tool: string, input: object) =>
      (await call(tool, input)).content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    expect((await text('list_files', { path: '.' })).split('\n').sort()).toEqual(['a.txt  5 bytes', 'docs/', 'new/'])
    expect(await text('list_files', { path: 'docs' })).toContain('b.txt')
    expect(await text('grep_files', { pattern: 'hel+o', path: 'docs' })).toBe('docs/b.txt:2:hello two')
    expect(await text('grep_files', { pattern: 'hel+o', path: '.' })).toContain('a.txt:1:hello')
  })

  it('list_skills() and load_skill(skill_id)', async () => {
    const files = { ...FILES, 'skills/brand/SKILL.md': skillText('brand', 'Write in blue.') }
    const { call } = await configuredHub(CONFIG, files)
    const listed = await call('list_skills')
    expect(listed.data).toMatchObject({
      skills: [
        { id: 'brand', description: 'How to work with brand.' },
        { id: 'pdf', description: 'How to work with pdf.' },
      ],
    })
    expect(JSON.stringify(listed)).not.toContain('Write in blue.')
    const loaded = await call('load_skill', { skill_id: 'brand' })
    expect(loaded.data).toMatchObject({ name: 'brand', text: expect.stringContaining('Write in blue.') })
    expect(JSON.stringify(loaded.content)).toContain('Write in blue.')
    expect((await call('load_skill', { skill_id: 'brnd' })).error).toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Did you mean brand?' },
    })
  })

  it('the runtime builds the permission policy and the toolsets from the config', async () => {
    const names = (hub: { cards(options: { dialect: string }): readonly { name: string }[] }) =>
      hub.cards({ dialect: 'files' }).map(({ name }) => name)
    const first = await configuredHub(CONFIG, FILES)
    expect(names(first.hub).sort()).toEqual([...FILESYSTEM, ...SKILLS, ...MEMORY].sort())
    const other = `sandbox: { root: ./project }
tools: { allow: [read_file, write_file, run_shell] }
policy:
  - { allow: exec, on: ["cat *"] }
  - { deny: write_file, reason: "read only" }
`
    const second = await configuredHub(other, FILES)
    expect(names(second.hub).sort()).toEqual(['read_file', 'run_shell', 'write_file'])
    const calls = [
      ['read_file', { path: 'a.txt' }],
      ['write_file', { path: 'b.txt', content: 'x' }],
      ['run_shell', { command: 'cat a.txt' }],
      ['list_skills', {}],
    ] as const
    const outcomes = async ({ call }: typeof first) =>
      Promise.all(calls.map(async ([tool, input]) => (await call(tool, input)).error?.code ?? 'ok'))
    expect(await outcomes(first)).toEqual(['ok', 'ok', 'TOOL_DISABLED', 'ok'])
    expect((await outcomes(second)).slice(0, 3)).toEqual(['ok', 'POLICY_DENIED', 'ok'])
    expect((await second.call('list_skills')).ok).toBe(false)
    expect(second.hub.policyLayers().owner?.map(({ rule, source }) => [rule, source.line])).toEqual([
      [expect.objectContaining({ allow: 'exec' }), 4],
      [expect.objectContaining({ deny: 'write_file', reason: 'read only' }), 5],
    ])
  })
})
