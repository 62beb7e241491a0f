import { describe, expect, it } from 'vitest'
import { useMessages } from '../../../../../test/support/message-hub.ts'
import { KNOWN } from '../../../../../test/support/message-services.ts'

const world = useMessages()

describe('Discord', () => {
  it('gets a message without mentions, gives its id, and takes an edit', async () => {
    const { send } = world.open({ team: world.discord({ username: 'hub' }) })
    const sent = await send({ channel: 'team', text: '@everyone hi' })
    expect(sent).toMatchObject({ ok: true, data: { messageId: '900' } })
    expect(world.services.got[0]).toMatchObject({
      method: 'POST',
      path: `${KNOWN.discord}?wait=true`,
      json: { content: '@everyone hi', username: 'hub', allowed_mentions: { parse: [] } },
    })
    const edited = await send({ action: 'edit', channel: 'team', messageId: '900', text: 'bye' })
    expect(edited).toMatchObject({ ok: true, data: { messageId: '900' } })
    expect(world.services.got[1]).toMatchObject({ method: 'PATCH', path: `${KNOWN.discord}/messages/900?wait=true` })
    expect((await send({ action: 'edit', channel: 'team', messageId: '901', text: 'x' })).error?.message).toContain(
      '(404): Unknown Message',
    )
    const traversal = await send({ action: 'edit', channel: 'team', messageId: '900/../../1', text: 'x' })
    expect(traversal.error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('refuses what is too long before anything is sent, and never cuts it', async () => {
    const { send } = world.open({ team: world.discord() })
    const { error } = await send({ channel: 'team', title: 'Title', text: 'x'.repeat(1_994) })
    expect(error).toMatchObject({ code: 'FILE_TOO_LARGE', message: expect.stringContaining('at most 2000') })
    expect(world.services.got).toEqual([])
  })

  it('takes artifacts of the run as files, with clean names', async () => {
    const { hub, send } = world.open({ team: world.discord() })
    const ref = await world.keep(hub, 'the whole log')
    const attachments = [{ ref, name: '../../etc/pass"wd\r\nx: y.txt' }]
    expect((await send({ channel: 'team', text: 'See the file.', attachments })).ok).toBe(true)
    const { headers, body } = world.services.got[0]!
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(body.toString('utf8')).toContain('filename="pass_wd__x_ y.txt"')
    expect(body.toString('utf8')).toContain('\r\n\r\nthe whole log\r\n')
    const foreign = await send({ channel: 'team', text: 'x', attachments: [{ ref }] }, { run: 'another-run' })
    expect(foreign.error?.code).toBe('NOT_FOUND')
  })

  it('tells how long to wait', async () => {
    const { send } = world.open({ team: world.discord() })
    world.services.upsets.push('429')
    expect((await send({ channel: 'team', text: 'x' })).error).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      message: expect.stringContaining('wait 1337 ms: You are being rate limited'),
    })
  })
})
