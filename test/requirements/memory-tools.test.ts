import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configuredHub } from '../support/configured-hub.ts'
import { startJsonServer } from '../support/json-server.ts'

/** The config of the document. */
const MEMORY = `memory:
  enabled: true
  provider: external
  write_mode: candidate
`

interface Asked {
  readonly path: string
  readonly body: { readonly content?: string; readonly query?: string }
}

/** An external memory on loopback that keeps what it is given; `down` makes it fail. */
async function externalMemory({ down = false } = {}) {
  const asked: Asked[] = []
  const notes: { id: string; key: string; content: string; tags: string[] }[] = []
  const server = await startJsonServer((path, body: (typeof notes)[number]) => {
    asked.push({ path, body })
    if (down) return { status: 503, json: { error: { message: 'closed for repairs' } } }
    if (path === '/v1/recall') return { json: { notes } }
    notes.push(body)
    return { json: { id: body.id } }
  })
  onTestFinished(() => server.close())
  return { asked, notes, config: (mode: string) => configOf(server.url, mode) }
}

const configOf = (url: string, mode: string) =>
  `memory: { enabled: true, provider: external, write_mode: ${mode}, url: "${url}/v1" }\n`

const NOTE = { content: 'Ada drinks tea.', scope: 'agent', tags: ['drinks'] }

describe('the tools for memory', () => {
  it('write_memory(content, scope, tags) and recall_memory(query, scope, limit)', async () => {
    const { call, hub } = await configuredHub(`${MEMORY}policy: [{ allow: memory }]\n`)
    const cards = new Map(hub.cards({ dialect: 'files' }).map(({ name, parameters }) => [name, parameters.properties]))
    expect(Object.keys(cards.get('write_memory')!)).toEqual(expect.arrayContaining(['content', 'scope', 'tags']))
    expect(Object.keys(cards.get('recall_memory')!)).toEqual(expect.arrayContaining(['query', 'scope', 'limit']))
    for (const drink of ['tea', 'milk', 'juice'])
      expect((await call('write_memory', { ...NOTE, content: `Ada drinks ${drink}.` })).ok).toBe(true)
    expect((await call('write_memory', { ...NOTE, content: 'Bob drinks tea.', scope: 'shared' })).ok).toBe(true)
    for (const { id } of await hub.memory.candidates()) await hub.memory.promote(id, { by: 'ada' })
    const recall = async (input: object) =>
      ((await call('recall_memory', input)).data as { notes: { content: string; scope: string; tags: string[] }[] })
        .notes
    expect(await recall({ query: 'tea', scope: 'agent', limit: 5 })).toMatchObject([NOTE])
    expect(await recall({ query: 'tea', scope: 'shared', limit: 5 })).toMatchObject([{ content: 'Bob drinks tea.' }])
    expect(await recall({ query: 'drinks', scope: 'agent', limit: 2 })).toHaveLength(2)
    expect(await recall({ query: 'drinks', scope: 'agent', limit: 5 })).toHaveLength(3)
    // The same two against an external memory, which gets the arguments.
    const memory = await externalMemory()
    const outside = await configuredHub(`${memory.config('external')}policy: [{ allow: memory }]\n`)
    expect((await outside.call('write_memory', NOTE)).ok).toBe(true)
    expect(memory.notes).toMatchObject([{ content: NOTE.content, tags: NOTE.tags, key: 'agent:library' }])
    const found = await outside.call('recall_memory', { query: 'tea', scope: 'agent', limit: 5 })
    expect(found.data).toMatchObject({ notes: [{ content: NOTE.content }] })
    expect(memory.asked.at(-1)).toMatchObject({ path: '/v1/recall', body: { query: 'tea', limit: 5 } })
  })

  it('the modes disabled, candidate and external; candidate is the default', async () => {
    for (const config of [MEMORY, 'memory: { enabled: true }\n', '{}\n']) {
      const { call, hub, read } = await configuredHub(config)
      expect((await call('write_memory', NOTE)).data).toMatchObject({ state: 'candidate' })
      expect(read(`runs/${hub.run}/archive/memory.jsonl`)).toContain(NOTE.content)
      expect((await call('recall_memory', { query: 'tea' })).data).toMatchObject({ notes: [] })
      expect(await hub.memory.status()).toMatchObject({ writeMode: 'candidate' })
    }
    const disabled = await configuredHub(MEMORY.replace('candidate', 'disabled'))
    const { error } = await disabled.call('write_memory', NOTE)
    expect(error).toMatchObject({ code: 'TOOL_DISABLED', fix: { key: 'memory.write_mode' } })
    const names = disabled.hub.cards({ dialect: 'files' }).map(({ name }) => name)
    expect([names.includes('write_memory'), names.includes('recall_memory')]).toEqual([false, true])
    const memory = await externalMemory()
    const external = await configuredHub(`${memory.config('external')}policy: [{ allow: memory }]\n`)
    expect((await external.call('write_memory', NOTE)).ok).toBe(true)
    expect(memory.notes).toMatchObject([{ content: NOTE.content }])
    expect(existsSync(join(external.folder, 'runs', external.hub.run, 'archive/memory.jsonl'))).toBe(false)
  })

  it('a note is a candidate, or it is written by an explicit call of the external memory', async () => {
    const memory = await externalMemory()
    const candidate = await configuredHub(`${memory.config('candidate')}policy: [{ allow: memory }]\n`)
    expect((await candidate.call('write_memory', NOTE)).data).toMatchObject({ state: 'candidate' })
    expect(memory.asked).toEqual([])
    // Only what a person has promoted is sent.
    const [{ id } = { id: '' }] = await candidate.hub.memory.candidates()
    await candidate.hub.memory.promote(id, { by: 'ada' })
    expect(memory.notes).toMatchObject([{ content: NOTE.content }])
    // In the mode external, a rule or a person has to allow it.
    const unruled = await configuredHub(memory.config('external'))
    expect((await unruled.call('write_memory', NOTE)).status).toBe('approval_required')
    expect(memory.notes).toHaveLength(1)
    // What a stranger may have dictated waits for a person in every mode: recalling from outside taints the run.
    const tainted = await configuredHub(`${memory.config('external')}policy: [{ allow: memory }]\n`)
    expect((await tainted.call('recall_memory', { query: 'tea' })).meta.labels).toEqual(['untrusted'])
    expect((await tainted.call('write_memory', NOTE)).data).toMatchObject({ state: 'candidate' })
    expect(memory.notes).toHaveLength(1)
    // A failure is a failure: the note does not go elsewhere in silence.
    const broken = await externalMemory({ down: true })
    const failing = await configuredHub(`${broken.config('external')}policy: [{ allow: memory }]\n`)
    expect((await failing.call('write_memory', NOTE)).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('closed for repairs'),
    })
    expect(await failing.hub.memory.candidates()).toEqual([])
  })
})
