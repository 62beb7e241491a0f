import { describe, expect, it } from 'vitest'
import { useMessages } from '../../../../../test/support/message-hub.ts'
import { KNOWN } from '../../../../../test/support/message-services.ts'

const world = useMessages()

describe('Telegram', () => {
  it('writes to the chats that the owner named, edits and reacts', async () => {
    const { send } = world.open({ bot: world.telegram() })
    expect(await send({ channel: 'bot', text: '*plain*' })).toMatchObject({
      ok: true,
      data: { messageId: '77', targets: ['bot'] },
    })
    await send({ channel: 'bot', to: ['@OPS_room'], title: 'T', text: 'x' })
    await send({ action: 'edit', channel: 'bot', messageId: '77', text: 'y' })
    await send({ action: 'react', channel: 'bot', messageId: '77', emoji: '👍' })
    expect(world.services.got.map(({ path, json }) => [path.split('/').at(-1), json])).toEqual([
      ['sendMessage', { chat_id: '-100', text: '*plain*' }],
      ['sendMessage', { chat_id: '@ops_room', text: 'T\nx' }],
      ['editMessageText', { chat_id: '-100', message_id: 77, text: 'y' }],
      ['setMessageReaction', { chat_id: '-100', message_id: 77, reaction: [{ type: 'emoji', emoji: '👍' }] }],
    ])
    const stranger = await send({ channel: 'bot', to: ['-200'], text: 'x' })
    expect(stranger.error).toMatchObject({ code: 'POLICY_DENIED', fix: { hint: 'The owner admits -100, @ops_room.' } })
  })

  it('keeps its token out of results, errors and records', async () => {
    const { hub, send } = world.open({ bot: world.telegram({ token: '99999:another-token-secret-0002' }) })
    const denied = await send({ channel: 'bot', text: 'x' })
    expect(denied.error?.message).toBe('The channel bot refused it (401): Unauthorized.')
    const shown = await send({ channel: 'bot', text: 'x', dryRun: true })
    expect(shown).toMatchObject({
      data: { request: { method: 'POST', url: `${world.services.url}/bot…/sendMessage` } },
    })
    expect(JSON.stringify([denied, shown]) + world.recordOf(hub)).not.toContain('another-token')
  })

  it('sends one file with a caption, and tells how long to wait', async () => {
    const { hub, send } = world.open({ bot: world.telegram() })
    const ref = await world.keep(hub, 'a,b')
    expect((await send({ channel: 'bot', text: 'Numbers', attachments: [{ ref, name: 'n.csv' }] })).ok).toBe(true)
    expect(world.services.got[0]).toMatchObject({ path: `/bot${KNOWN.token}/sendDocument` })
    expect(world.services.got[0]!.body.toString('utf8')).toContain('filename="n.csv"\r\ncontent-type: text/csv')
    world.services.upsets.push('429')
    const { error } = await send({ channel: 'bot', text: 'x' })
    expect(error).toMatchObject({ code: 'RATE_LIMITED', message: expect.stringContaining('wait 5000 ms') })
  })
})
