import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../../test/support/http-served.ts'
import { approval, approvalOutcome } from '../../../../core/src/protocol/approvals.ts'
import { clearedTaint, runTaint } from '../../../../core/src/protocol/runs.ts'
import { grantList } from '../../../../core/src/protocol/service.ts'
import { defineTool } from '../../../../core/src/tool.ts'

const post = defineTool({
  name: 'post',
  description: 'Posts a text.',
  input: z.strictObject({ text: z.string() }),
  capabilities: ['send'],
  execute: ({ text }) => text,
})
const inbox = defineTool({
  name: 'inbox',
  description: 'Reads a mailbox.',
  input: z.strictObject({}),
  capabilities: ['remote'],
  targets: () => ({ remote: 'mcp:mail/get_unread' }),
  execute: () => 'text of a stranger',
})

let served: HttpServed
let agent = ''
let boss = ''
beforeAll(async () => {
  served = await serveHttp({
    tools: [post, inbox],
    policy: [{ ask: 'send' }, { allow: 'remote' }],
    approve: undefined,
    approvals: { inbox: true, timeoutMs: 60_000 },
  })
  agent = await served.newToken('agent', ['call', 'approve'])
  boss = await served.newToken('boss', ['approve', 'read', 'admin'])
})
afterAll(() => served.close())

const call = (text: string, more: object = {}) =>
  served.ask('POST', '/v1/tools/post/call', agent, { input: { text }, ...more })
async function waiting() {
  await expect.poll(async () => (await served.ask('GET', '/v1/approvals', boss)).json.approvals.length).toBe(1)
  return (await served.ask('GET', '/v1/approvals', boss)).json.approvals[0]
}

describe('an approval over HTTP', () => {
  it('lets a call go on, with other arguments if need be, and the first answer wins', async () => {
    const result = call('hello')
    const asked = await waiting()
    expect(approval.parse(asked)).toMatchObject({ tool: 'post', caller: 'token:agent', mayAnswer: true })
    const path = `/v1/approvals/${asked.id}`
    // Nobody answers for its own calls.
    expect((await served.ask('GET', path, agent)).json.mayAnswer).toBe(false)
    expect((await served.ask('POST', path, agent, { decision: 'allow' })).status).toBe(403)
    expect((await served.ask('POST', path, boss, { decision: 'maybe' })).status).toBe(400)
    const answer = { decision: 'allow', input: { text: 'good day' } }
    const won = await served.ask('POST', path, boss, answer)
    expect(approvalOutcome.parse(won.json)).toMatchObject({
      won: true,
      approval: { answered: { by: 'token:boss', via: 'http' } },
    })
    expect((await served.ask('POST', path, boss, { decision: 'deny' })).json.won).toBe(false)
    expect((await result).json).toMatchObject({ ok: true, data: 'good day' })
  })

  it('is used by the same call made again, for those who do not wait', async () => {
    const first = await call('later', { onAsk: 'return' })
    expect(first.json.status).toBe('approval_required')
    const { id } = await waiting()
    await served.ask('POST', `/v1/approvals/${id}`, boss, { decision: 'allow' })
    expect((await call('later', { onAsk: 'return' })).json).toMatchObject({ ok: true, data: 'later' })
  })

  it('that is remembered is a grant, until it is revoked', async () => {
    const result = call('always')
    const { id } = await waiting()
    await served.ask('POST', `/v1/approvals/${id}`, boss, { decision: 'allow', remember: 'always' })
    expect((await result).json.ok).toBe(true)
    expect((await call('always')).json.ok).toBe(true)
    const { json } = await served.ask('GET', '/v1/grants', boss)
    const [grant] = grantList.parse(json).grants
    expect(json.grants).toHaveLength(1)
    expect((await served.ask('DELETE', `/v1/grants/${grant!.id}`, boss)).status).toBe(204)
    expect((await call('always', { onAsk: 'return' })).json.status).toBe('approval_required')
  })
})

describe('the taint of a run over HTTP', () => {
  it('is cleared by another caller with the scope approve, on record', async () => {
    await served.ask('POST', '/v1/tools/inbox/call', agent, { input: {}, run: 'read' })
    const path = '/v1/runs/read/clear-taint'
    const taint = async (token = boss) => (await served.ask('GET', '/v1/runs/read/taint', token)).json
    const tainted = { isTainted: true, sources: ['mcp:mail/get_unread'], cleared: [] }
    expect(runTaint.parse(await taint())).toEqual(tainted)
    const why = { reason: 'The page is our own.' }
    const reader = await served.newToken('reader', ['read', 'call', 'admin'])
    expect((await served.ask('POST', path, reader, why)).status).toBe(403)
    expect((await served.ask('POST', path, agent, why)).json.error).toMatchObject({ code: 'POLICY_DENIED' })
    expect((await served.ask('POST', path, boss, {})).status).toBe(400)
    const { json } = await served.ask('POST', path, boss, why)
    expect(clearedTaint.parse(json)).toEqual({
      run: 'read',
      by: 'token:boss',
      ...why,
      sources: ['mcp:mail/get_unread'],
      isTainted: false,
    })
    expect(await taint(reader)).toEqual({
      isTainted: false,
      sources: [],
      cleared: [{ at: expect.any(Number), by: 'token:boss', ...why, sources: ['mcp:mail/get_unread'] }],
    })
    expect((await served.ask('GET', '/v1/runs/nowhere/taint', boss)).status).toBe(404)
    const again = await served.ask('POST', path, boss, why)
    expect([again.status, again.json.error.code]).toEqual([409, 'CONFLICT'])
    expect((await served.ask('POST', '/v1/runs/nowhere/clear-taint', boss, why)).status).toBe(404)
    const { lines } = (await served.ask('GET', '/v1/runs/read/lines', boss)).json
    expect(lines).toContainEqual(expect.objectContaining({ type: 'taint-cleared', by: 'token:boss', ...why }))
  })
})
