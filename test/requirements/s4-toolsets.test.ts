import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toToolEvents } from '../../src/index.ts'
import { CLI_MAIN, jsonLines } from '../support/cli.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The toolsets of the document, as docs/mcp.md filters them from the hub. */
const FILESYSTEM = ['read_file', 'write_file', 'list_files', 'search_files']
const SKILLS = ['list_skills', 'load_skill']
const MEMORY = ['recall_memory', 'write_memory']

const CONFIG = `sandbox: { root: ./project }
skills: [./skills]
memory: { enabled: true, provider: external, write_mode: candidate }
tools:
  allow: [read_file, write_file, list_files, grep_files, list_skills, load_skill, recall_memory, write_memory]
`

describe('the toolsets of the tool system', () => {
  it('S4-2 an agent gets the toolsets from one server: explicit names, governed, on record', async () => {
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
})
