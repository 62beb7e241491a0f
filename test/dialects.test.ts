import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../packages/core/src/tool.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dialects-'))
  await writeFile(join(root, 'a.txt'), 'one\ntwo\n')
})

afterEach(() => rm(root, { recursive: true }))

const names = (hub: ReturnType<typeof testHub>, dialect?: string) =>
  hub.registry.listForLLM({ dialect }).map(({ name }) => name)

describe('dialects of the built-in tools', () => {
  it('show the coding profile the names that coding models know, each tool once', async () => {
    const hub = testHub({ visibility: { profile: 'coding' } })
    const coding = names(hub)
    expect(coding).toEqual(
      expect.arrayContaining(['read', 'write', 'edit', 'apply_patch', 'ls', 'grep', 'find', 'exec', 'process']),
    )
    expect(coding.filter((name) => name.includes('readText'))).toEqual([])
    expect(new Set(coding).size).toBe(coding.length)
    await hub.close()
  })

  it('show the files and the web names when they are asked for', async () => {
    const hub = testHub()
    expect(names(hub, 'files')).toEqual(
      expect.arrayContaining(['read_file', 'write_file', 'list_files', 'search_files', 'run_shell']),
    )
    expect(names(hub, 'shell')).toContain('bash')
    expect(names(hub, 'coding')).toEqual(expect.arrayContaining(['web_fetch', 'web_search', 'clarify']))
    await hub.close()
  })

  it('are one tool each: policy and records see the canonical name', async () => {
    const hub = testHub({ sandbox: { root }, policy: [{ deny: 'core/fs.readText' }] })
    for (const [name, input] of [
      ['read', { path: 'a.txt' }],
      ['read_file', { path: 'a.txt' }],
    ] as const) {
      const result = await hub.callDynamic(name, input)
      expect(result).toMatchObject({ tool: 'core/fs.readText', error: { code: 'POLICY_DENIED' } })
    }
    await hub.close()
  })

  it('take the spellings of other families, but an argument only once', async () => {
    const hub = testHub({ sandbox: { root } })
    for (const key of ['path', 'file_path', 'filePath'])
      expect((await hub.callDynamic('read', { [key]: 'a.txt', limit: 1 })).ok).toBe(true)
    const twice = await hub.callDynamic('read', { path: 'a.txt', file_path: 'b.txt' })
    expect(twice.error).toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringContaining('path is given twice'),
    })
    expect((await hub.callDynamic('grep_files', { pattern: 'tw.', path: '.' })).content).toEqual(
      (await hub.callDynamic('search_files', { pattern: 'tw.', path: '.' })).content,
    )
    await hub.close()
  })

  it('give way to a tool of yours with the same name', async () => {
    const read = defineTool({
      name: 'read',
      description: 'Reads a book aloud, for tests.',
      input: z.strictObject({ book: z.string() }),
      execute: ({ book }) => `read ${book}`,
    })
    const hub = testHub({ tools: [read], sandbox: { root } })
    expect((await hub.call(read, { book: 'Emma' })).data).toBe('read Emma')
    expect((await hub.callDynamic('read_file', { path: 'a.txt' })).ok).toBe(true)
    await hub.close()
  })
})

describe('a workspace for each run', () => {
  it('lies below the sandbox root of S0, apart from those of other runs', async () => {
    const hub = testHub({ core: { sandboxRoot: root } })
    for (const run of ['one', 'two']) await hub.call('core/fs.writeText', { path: 'notes/a.md', text: run }, { run })
    for (const run of ['one', 'two']) expect(await readFile(join(root, run, 'workspace/notes/a.md'), 'utf8')).toBe(run)
    const outside = await hub.call('core/fs.readText', { path: join(root, 'two/workspace/notes/a.md') }, { run: 'one' })
    expect(outside.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
    await hub.close()
  })
})
