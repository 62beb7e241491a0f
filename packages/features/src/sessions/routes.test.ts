import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import type { SessionWork } from './runner.ts'
import { agentHistory, agentList, agentStatus } from './schema.ts'

let served: HttpServed
let reader = ''
let admin = ''
let caller = ''
beforeAll(async () => {
  const run = async ({ messages, say }: SessionWork) => {
    for await (const { id, text } of messages()) await say(`${text}!`, { replyTo: id })
    return ''
  }
  served = await serveHttp({ sessions: { runners: { default: { run, description: 'Echoes.' } } } })
  reader = await served.newToken('reader', ['read'])
  admin = await served.newToken('admin', ['admin'])
  caller = await served.newToken('caller', ['call'])
})
afterAll(() => served.close())

describe('/v1/agents', () => {
  it('begins, lists, asks, shows and ends a session', async () => {
    const begun = await served.ask('POST', '/v1/agents', admin, { task: 'Echo.', label: 'echo' })
    expect(begun).toMatchObject({ status: 201, json: { label: 'echo', state: 'running', task: 'Echo.' } })
    const { id } = begun.json
    const list = agentList.parse((await served.ask('GET', '/v1/agents?state=running', reader)).json)
    expect(list).toMatchObject({ agents: [{ id }], runners: [{ name: 'default', description: 'Echoes.' }] })
    const told = await served.ask('POST', `/v1/agents/${id}/messages`, admin, { text: 'Hi', waitMs: 60_000 })
    expect(told.json).toMatchObject({ status: 'replied', reply: { text: 'Hi!', to: 'owner' } })
    const history = agentHistory.parse((await served.ask('GET', `/v1/agents/echo/history?limit=1`, reader)).json)
    expect(history).toMatchObject({ session: id, entries: [{ message: { text: 'Hi!' } }] })
    const ended = await served.ask('POST', `/v1/agents/${id}/end`, admin, { reason: 'enough' })
    expect(ended.json).toEqual({ ended: true })
    const { session } = agentStatus.parse((await served.ask('GET', `/v1/agents/${id}`, reader)).json)
    expect(session).toMatchObject({ state: 'ended', reason: 'It was ended by token:admin: enough.' })
    expect((await served.ask('POST', `/v1/agents/${id}/end`, admin, {})).json).toEqual({ ended: false })
  })

  it('shows the sessions of callers', async () => {
    await served.ask('POST', '/v1/tools/core_session_status/call', caller, { input: {}, run: 'mine' })
    const { json } = await served.ask('GET', '/v1/agents/mine', reader)
    expect(json.session).toMatchObject({ id: 'mine', principal: 'token:caller', state: 'running' })
    const of = async (name: string) => (await served.ask('GET', `/v1/agents?principal=${name}`, reader)).json.agents
    expect(await of('token:caller')).toMatchObject([{ id: 'mine' }])
    expect(await of('token:nobody')).toEqual([])
  })

  it.each([
    ['GET', '/v1/agents', 'caller', undefined, 403],
    ['POST', '/v1/agents', 'reader', { task: 'x' }, 403],
    ['POST', '/v1/agents/x/end', 'reader', {}, 403],
    ['GET', '/v1/agents/nobody', 'reader', undefined, 404],
    ['GET', '/v1/agents?state=dead', 'reader', undefined, 400],
    ['GET', '/v1/agents/nobody/history?before=x', 'reader', undefined, 404],
    ['POST', '/v1/agents', 'admin', { task: '' }, 400],
    ['POST', '/v1/agents', 'admin', { task: 'x', runner: 'none' }, 404],
  ])('%s %s of a %s with %j is refused with %s', async (method, path, who, body, status) => {
    const token = { reader, admin, caller }[who]
    expect((await served.ask(method, path, token, body)).status).toBe(status)
  })
})
