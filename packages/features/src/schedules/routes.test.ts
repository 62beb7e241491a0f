import { createMemoryStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { createClient } from '../../../client/src/create-client.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { createPrincipalLookup } from '../../../server/src/auth/token-manager.ts'
import { scheduleEntry, scheduleList, scheduleRunEntry, scheduleRunList, scheduleTimes } from './schema.ts'

const note = defineTool({
  name: 'note',
  description: 'Notes a text, for tests.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text,
})
const nightly = {
  name: 'nightly',
  when: { cron: '0 3 * * *' },
  timeZone: 'Europe/Berlin',
  calls: [{ tool: 'note', input: { text: 'hi' } }],
}

let served: HttpServed
let boss = ''
let reader = ''
beforeAll(async () => {
  const store = createMemoryStore()
  served = await serveHttp({ tools: [note], store, principals: createPrincipalLookup(store, Date.now) })
  // The tokens have to be where the hub looks for them.
  const token = async (name: string, scopes: ['read' | 'admin' | 'call', ...('admin' | 'call')[]]) => {
    const secret = await served.newToken(name, scopes)
    for (const each of await served.service.store.tokens.list()) if (each.name === name) await store.tokens.add(each)
    return secret
  }
  boss = await token('boss', ['read', 'admin', 'call'])
  reader = await token('reader', ['read', 'admin'])
})
afterAll(() => served.close())

describe('schedules over HTTP', () => {
  it('are made with the rights of who makes them, listed, changed, run, and removed', async () => {
    const made = await served.ask('POST', '/v1/schedules', boss, nightly)
    expect(made.status).toBe(201)
    const { id } = scheduleEntry.strict().parse(made.json)
    expect(made.json).toMatchObject({
      principal: 'token:boss',
      createdBy: { by: 'token:boss' },
      timeZone: 'Europe/Berlin',
    })
    const list = scheduleList.parse((await served.ask('GET', '/v1/schedules', reader)).json)
    expect(list).toMatchObject({ schedules: [{ id }], status: { schedules: 1, isTicking: false } })
    const changed = await served.ask('PUT', `/v1/schedules/${id}`, boss, { when: { every: '15m' }, missed: 'skip' })
    expect(changed.json).toMatchObject({ when: { everyMs: 900_000 }, missed: 'skip', calls: nightly.calls })
    const begun = await served.ask('POST', '/v1/schedules/nightly/run', boss)
    expect([begun.status, scheduleRunEntry.strict().parse(begun.json).schedule]).toEqual([202, id])
    const runs = async () =>
      scheduleRunList.parse((await served.ask('GET', `/v1/schedules/${id}/runs`, reader)).json).runs
    await expect.poll(async () => (await runs())[0]?.status).toBe('ok')
    expect((await served.ask('DELETE', `/v1/schedules/${id}`, boss)).status).toBe(204)
    expect((await served.ask('GET', `/v1/schedules/${id}`, reader)).status).toBe(404)
  })

  it('have names in any language, in paths, principals and records', async () => {
    const { ask, newToken, server, tokens, close } = await serveHttp({
      tools: [note],
      policy: [
        { allow: 'schedule', on: '日报' },
        { deny: 'schedule', on: '禁*' },
      ],
    })
    const secret = await newToken('张三', ['read', 'admin', 'call'])
    const at = `/v1/schedules/${encodeURIComponent('日报')}`
    const made = await ask('POST', '/v1/schedules', secret, { ...nightly, name: '日报' })
    expect([made.status, made.json]).toMatchObject([201, { name: '日报', principal: 'token:张三' }])
    expect((await ask('GET', at, secret)).json).toMatchObject({ name: '日报', createdBy: { by: 'token:张三' } })
    expect((await ask('PUT', at, secret, { missed: 'skip' })).json).toMatchObject({ name: '日报', missed: 'skip' })
    expect((await ask('POST', `${at}/run`, secret)).status).toBe(202)
    const runs = async () => scheduleRunList.parse((await ask('GET', `${at}/runs`, secret)).json).runs
    await expect.poll(async () => (await runs())[0]?.status).toBe('ok')
    const client = createClient({ url: server.url, token: secret })
    expect((await client.schedules.runs('日报')).runs).toHaveLength(1)
    await client.tokens.create({ name: '李四', scopes: ['read'] })
    expect((await tokens.list()).map(({ name }) => name)).toEqual(['张三', '李四'])
    const signedIn = await ask('POST', '/v1/sessions', undefined, { token: secret }, { origin: server.url })
    expect(signedIn.json).toMatchObject({ principal: { name: 'token:张三' } })
    expect((await ask('GET', '/v1/principals', secret)).text).toContain('token:张三')
    const [run] = await runs()
    const shown = await ask('GET', `/v1/runs/${run!.runId}`, secret)
    expect([shown.status, JSON.stringify(shown.json)]).toEqual([200, expect.stringContaining('token:张三')])

    const cron = (input: object) => ask('POST', '/v1/tools/core%2Fcron/call', secret, { input })
    const removed = await cron({ action: 'remove', name: '日报' })
    expect([removed.status, removed.json]).toMatchObject([200, { ok: true }])
    const denied = await cron({ action: 'add', name: '禁止', every: '1h', calls: nightly.calls })
    expect(denied.json).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    await close()
  })

  it.each([
    'a b',
    'a\u200bb',
    'a\u202eb',
    'a\u3164b',
    'a\nb',
    '报\u00a0告',
    '\u0301a',
    '报/告',
    '报:告',
    '-报',
    '😀',
    '\ud800',
    '报'.repeat(61),
    '',
  ])('are not named %j', async (name) => {
    const refused = await served.ask('POST', '/v1/schedules', boss, { ...nightly, name })
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('letters and digits')])
  })

  it('of others are not for putting calls into, and need one who may call', async () => {
    const owners = await served.hub.schedules.add({ ...nightly, name: 'owners' })
    const put = (body: object) => served.ask('PUT', `/v1/schedules/${owners.id}`, boss, body)
    expect((await put({ calls: nightly.calls })).status).toBe(403)
    expect((await put({ enabled: false })).json).toMatchObject({ enabled: false })
    const refused = await served.ask('POST', '/v1/schedules', reader, nightly)
    expect([refused.status, refused.json.error.code]).toEqual([403, 'POLICY_DENIED'])
  })

  it('are held to all that their maker is, also where no list knows that one', async () => {
    const { ask, newToken, close } = await serveHttp({ tools: [note] })
    const narrow = await newToken('narrow', ['admin', 'call'], { policy: [{ deny: 'note' }] })
    const refused = await ask('POST', '/v1/schedules', narrow, nightly)
    expect([refused.status, refused.json.error.code]).toEqual([403, 'POLICY_DENIED'])
    await close()
  })

  it('say the next times of an expression, and where it is wrong', async () => {
    const times = await served.ask('GET', '/v1/schedule-times?cron=0+9+*+*+1-5&timeZone=Europe/Berlin&count=3', reader)
    expect(scheduleTimes.parse(times.json)).toMatchObject({ timeZone: 'Europe/Berlin', times: { length: 3 } })
    const wrong = await served.ask('GET', '/v1/schedule-times?cron=0+25+*+*+*', reader)
    expect([wrong.status, wrong.json.error.message]).toEqual([400, expect.stringContaining('field 2 (hour)')])
    expect((await served.ask('GET', '/v1/schedule-times', reader)).status).toBe(400)
  })

  it.each([
    ['POST', '/v1/schedules', { ...nightly, name: 'a b' }, 400],
    ['POST', '/v1/schedules', { ...nightly, when: { cron: '61 * * * *' } }, 400],
    ['POST', '/v1/schedules', { ...nightly, calls: [{ tool: 'nothing' }] }, 404],
    ['POST', '/v1/schedules', { ...nightly, surprise: 1 }, 400],
    ['PUT', '/v1/schedules/nobody', { enabled: true }, 404],
    ['POST', '/v1/schedules/nobody/run', undefined, 404],
  ])('%s %s with %j is refused with %i', async (method, path, body, status) => {
    expect((await served.ask(method, path, boss, body)).status).toBe(status)
  })
})
