import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { channelList, inboxPage, readOutcome } from './schema.ts'

let served: HttpServed
const tokens = { agent: '', reader: '', boss: '', admin: '' }
beforeAll(async () => {
  served = await serveHttp({
    messages: { channels: { ops: { kind: 'slack', url: '${env:TOOL_HUB_TEST_UNSET}' } } },
  })
  tokens.agent = await served.newToken('agent', ['call'])
  tokens.reader = await served.newToken('reader', ['read'])
  tokens.boss = await served.newToken('boss', ['read', 'approve'])
  tokens.admin = await served.newToken('admin', ['admin'])
})
afterAll(() => served.close())

const tell = async (text: string) => {
  const body = { input: { channel: 'console', text } }
  const { json } = await served.ask('POST', '/v1/tools/core%2Fmessage.send/call', tokens.agent, body)
  return json.data.messageId as string
}

describe('the inbox over HTTP', () => {
  it('is read page by page, marked and emptied by those who may', async () => {
    const ids = [await tell('one'), await tell('two'), await tell('three')].sort().reverse()
    const first = await served.ask('GET', '/v1/inbox?limit=2', tokens.reader)
    const page = inboxPage.parse(first.json)
    expect(page).toMatchObject({ unread: 3, next: ids[1] })
    expect(page.messages.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(page.messages[0]).toMatchObject({ principal: 'token:agent', isUntrusted: false })
    const rest = await served.ask('GET', `/v1/inbox?before=${page.next}`, tokens.reader)
    expect(inboxPage.parse(rest.json)).toMatchObject({ messages: [{ id: ids[2] }] })

    const read = await served.ask('POST', '/v1/inbox/read', tokens.boss, { ids: [ids[0]] })
    expect(readOutcome.parse(read.json)).toEqual({ read: 1, unread: 2 })
    expect((await served.ask('GET', '/v1/inbox?unread=true', tokens.reader)).json.messages).toHaveLength(2)
    expect((await served.ask('POST', '/v1/inbox/read', tokens.boss, {})).json).toEqual({ read: 2, unread: 0 })
    expect((await served.ask('DELETE', `/v1/inbox/${ids[0]}`, tokens.admin)).status).toBe(204)
    expect((await served.ask('DELETE', `/v1/inbox/${ids[0]}`, tokens.admin)).status).toBe(404)
  })

  it('is closed to those who may only call, or only look', async () => {
    expect((await served.ask('GET', '/v1/inbox', tokens.agent)).status).toBe(403)
    expect((await served.ask('POST', '/v1/inbox/read', tokens.reader, {})).status).toBe(403)
    expect((await served.ask('DELETE', '/v1/inbox/x', tokens.boss)).status).toBe(403)
    expect((await served.ask('GET', '/v1/channels')).status).toBe(401)
    expect((await served.ask('GET', '/v1/inbox?limit=0', tokens.reader)).status).toBe(400)
  })

  it('tells the channels, and what each lacks', async () => {
    const { json } = await served.ask('GET', '/v1/channels', tokens.reader)
    expect(channelList.parse(json).channels).toMatchObject([
      { name: 'console', can: ['send', 'edit', 'attach'] },
      { name: 'ops', kind: 'slack', can: [], problem: expect.stringContaining('TOOL_HUB_TEST_UNSET') },
    ])
  })
})
