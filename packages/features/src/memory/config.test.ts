import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../config/src/load-config.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-config-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function load(section: string) {
  const file = join(folder, 'tool-hub.yaml')
  await writeFile(file, `memory: ${section}\n`)
  return (await loadConfig({ file, home: folder })).options
}

describe('the section memory', () => {
  it('reads the modes candidate (the default), disabled, and external with its address', async () => {
    expect((await load('{ enabled: true, write_mode: candidate }')).memory).toEqual({
      enabled: true,
      writeMode: 'candidate',
    })
    const external =
      '{ enabled: true, provider: external, write_mode: external, url: "https://memory.example.org/v1", secret: memory }'
    expect((await load(external)).memory).toEqual({
      enabled: true,
      writeMode: 'external',
      provider: { url: 'https://memory.example.org/v1', secret: 'memory' },
    })
    const mcp =
      '{ provider: external, mcp: { server: notes, recall: find, write: { tool: keep, arguments: { content: text } } } }'
    expect((await load(mcp)).memory).toEqual({
      provider: { mcp: { server: 'notes', recall: 'find', write: { tool: 'keep', arguments: { content: 'text' } } } },
    })
    const limits = '{ provider: embedded, limits: { note: 2KB, notes: 10, candidates: 5, timeout: 3s } }'
    expect((await load(limits)).memory).toEqual({
      limits: { noteChars: 2_000, notesPerScope: 10, candidatesPerRun: 5, timeoutMs: 3_000 },
    })
  })

  it('takes the example of its document: notes wait in the archive of the run, and nothing is written outside', async () => {
    const file = join(folder, 'tool-hub.yaml')
    await writeFile(file, 'memory:\n  enabled: true\n  provider: external\n  write_mode: candidate\n')
    const { options, warnings } = await loadConfig({ file, home: folder })
    expect(options.memory).toEqual({ enabled: true, writeMode: 'candidate' })
    expect(warnings.join()).toContain('memory.provider: has neither url nor mcp')
    const hub = createToolHub({ ...options, policy: [{ allow: 'memory' }] })
    const { ok, data } = await hub.callDynamic('write_memory', { content: 'Tea, no sugar.' }, { run: 'r1' })
    expect({ ok, data }).toMatchObject({ ok: true, data: { state: 'candidate' } })
    expect((await hub.callDynamic('recall_memory', { query: 'tea' }, { run: 'r1' })).ok).toBe(true)
    await hub.close()
    expect(await readFile(join(folder, 'runs', 'r1', 'archive', 'memory.jsonl'), 'utf8')).toContain('Tea')
  })

  it('makes write_memory unavailable when it is disabled', async () => {
    const hub = createToolHub({ ...(await load('{ write_mode: disabled }')), store: undefined })
    const { error } = await hub.callDynamic('write_memory', { content: 'x' })
    expect(error).toMatchObject({ code: 'TOOL_DISABLED', fix: { key: 'memory.write_mode' } })
    await hub.close()
  })

  it.each([
    ['{ provider: external, write_mode: external }', 'needs either url, or mcp'],
    ['{ provider: external, url: "https://a.example", mcp: { server: a, recall: b } }', 'needs either url, or mcp'],
    ['{ url: "https://a.example" }', 'are for provider: external'],
    ['{ provider: external, url: "ftp://a.example" }', 'url'],
    ['{ provider: external, secret: x, mcp: { server: a, recall: b } }', 'are for url'],
    ['{ write_mode: sometimes }', 'write_mode'],
    ['{ writeMode: disabled }', 'write_mode'],
    ['{ limits: { notes: 0 } }', 'notes'],
  ])('refuses %s and says why', async (section, why) => {
    await expect(load(section)).rejects.toThrow(why)
  })
})
