import { createClient } from '@tool-hub/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../test/support/http-served.ts'
import { defineTool } from '../../core/src/tool.ts'
import { savedScriptList, savedScriptSchema, scriptDetailSchema, scriptList } from './schema.ts'

const act = defineTool({
  name: 'test.act',
  description: 'Does something.',
  input: z.strictObject({ what: z.string() }),
  capabilities: ['remote'],
  results: 'own',
  execute: ({ what }) => ({ did: what }),
})

let served: HttpServed
const tokens: Record<string, string> = {}
beforeAll(async () => {
  served = await serveHttp({
    tools: [act],
    policy: [{ ask: 'remote' }],
    approve: undefined,
    approvals: { inbox: true },
    code: { suspendAfterMs: 0 },
  })
  tokens.agent = await served.newToken('agent', ['call'])
  tokens.other = await served.newToken('other', ['call'])
  tokens.reader = await served.newToken('reader', ['read'])
  tokens.boss = await served.newToken('boss', ['read', 'admin'])
  tokens.approver = await served.newToken('approver', ['approve'])
})
afterAll(() => served.close())

async function suspend(who: string): Promise<string> {
  const input = { code: "\nawait tools.test.act({ what: 'a' })" }
  const { json } = await served.ask('POST', '/v1/tools/core%2Fcode.run/call', tokens[who], { input, run: `run-${who}` })
  expect(json.data.status).toBe('suspended')
  return json.data.script
}

const idsOf = (json: unknown) => scriptList.parse(json).scripts.map(({ id }) => id)

describe('scripts over HTTP', () => {
  it('are listed and shown to those who may read, and to their own callers', async () => {
    const mine = await suspend('agent')
    await expect.poll(() => Date.now()).toBeGreaterThan((await served.hub.code.find(mine))!.createdAt)
    const theirs = await suspend('other')
    expect(idsOf((await served.ask('GET', '/v1/scripts', tokens.reader)).json)).toEqual([theirs, mine])
    const first = await served.ask('GET', '/v1/scripts?limit=1', tokens.reader)
    expect(idsOf(first.json)).toEqual([theirs])
    const rest = await served.ask('GET', `/v1/scripts?before=${first.json.next}`, tokens.reader)
    expect(idsOf(rest.json)).toEqual([mine])
    expect(idsOf((await served.ask('GET', '/v1/scripts', tokens.agent)).json)).toEqual([mine])
    expect(idsOf((await served.ask('GET', '/v1/scripts?run=run-other', tokens.agent)).json)).toEqual([])
    expect(idsOf((await served.ask('GET', '/v1/scripts?run=run-other', tokens.reader)).json)).toEqual([theirs])
    expect(idsOf((await served.ask('GET', '/v1/scripts?status=completed', tokens.reader)).json)).toEqual([])
    const { json } = await served.ask('GET', `/v1/scripts/${mine}`, tokens.agent)
    expect(scriptDetailSchema.parse(json)).toMatchObject({
      principal: 'token:agent',
      status: 'suspended',
      source: "\nawait tools.test.act({ what: 'a' })",
      waiting: [{ approval: `approval-${mine}.1`, tool: 'test.act', line: 2, state: 'waiting' }],
    })
    expect((await served.ask('GET', `/v1/scripts/${theirs}`, tokens.reader)).status).toBe(200)
    for (const id of [theirs, 'nothing'])
      expect(await served.ask('GET', `/v1/scripts/${id}`, tokens.agent)).toMatchObject({
        status: 404,
        json: { error: { message: 'Script not found.' } },
      })
    expect((await served.ask('GET', '/v1/scripts', tokens.approver)).status).toBe(403)
    expect((await served.ask('GET', '/v1/scripts?status=asleep', tokens.reader)).status).toBe(400)
  })

  it('are saved as tools and removed by those who may administer', async () => {
    const script = { name: 'double', source: 'return input.n * 2', inputSchema: { type: 'object' } }
    for (const who of ['agent', 'reader'])
      expect((await served.ask('POST', '/v1/saved-scripts', tokens[who], script)).status).toBe(403)
    const saved = await served.ask('POST', '/v1/saved-scripts', tokens.boss, script)
    expect(saved.status).toBe(201)
    expect(savedScriptSchema.parse(saved.json)).toMatchObject({ name: 'double', savedBy: 'token:boss' })
    expect((await served.ask('POST', '/v1/saved-scripts', tokens.boss, script)).status).toBe(409)
    for (const wrong of [{ ...script, name: 'a b' }, { name: 'x' }, { ...script, name: 'y', extra: 1 }])
      expect((await served.ask('POST', '/v1/saved-scripts', tokens.boss, wrong)).status).toBe(400)
    const list = await served.ask('GET', '/v1/saved-scripts', tokens.reader)
    expect(savedScriptList.parse(list.json).scripts).toMatchObject([{ name: 'double', source: script.source }])
    expect((await served.ask('GET', '/v1/saved-scripts', tokens.agent)).status).toBe(403)
    const called = await served.ask('POST', '/v1/tools/script%2Fdouble/call', tokens.agent, { input: { n: 21 } })
    expect(called.json).toMatchObject({ ok: true, data: 42 })
    expect((await served.ask('DELETE', '/v1/saved-scripts/double', tokens.agent)).status).toBe(403)
    expect((await served.ask('DELETE', '/v1/saved-scripts/double', tokens.boss)).status).toBe(204)
    expect((await served.ask('DELETE', '/v1/saved-scripts/double', tokens.boss)).status).toBe(404)
    const gone = await served.ask('POST', '/v1/tools/script%2Fdouble/call', tokens.agent, { input: { n: 21 } })
    expect(gone.json.error.code).toBe('TOOL_NOT_FOUND')
  })

  it('are reached by the client', async () => {
    const id = await suspend('agent')
    const agent = createClient({ url: served.server.url, token: tokens.agent! })
    const boss = createClient({ url: served.server.url, token: tokens.boss! })
    expect((await agent.scripts.list({ status: 'suspended' })).scripts.map((script) => script.id)).toContain(id)
    expect(await agent.scripts.get(id)).toMatchObject({ id, calls: [] })
    expect(await boss.scripts.save({ name: 'one', source: 'return 1' })).toMatchObject({ name: 'one' })
    expect((await boss.scripts.saved()).scripts).toMatchObject([{ name: 'one' }])
    await boss.scripts.removeSaved('one')
    expect((await boss.scripts.saved()).scripts).toEqual([])
  })
})
