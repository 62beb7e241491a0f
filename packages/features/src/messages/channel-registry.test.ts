import { describe, expect, it } from 'vitest'
import { useMessages } from '../../../../test/support/message-hub.ts'
import type { Channel } from './channel.ts'
import type { MessagesOptions } from './types.ts'

const world = useMessages()
const send = async () => ({})
const channelsOf = (channels: object) =>
  world.open(channels as NonNullable<MessagesOptions['channels']>).hub.messages.channels()

describe('the channels of a hub', () => {
  it('say what each can do, whom it reaches and how much it takes', async () => {
    const pager: Channel = {
      kind: 'pager',
      describe: () => 'who is on call',
      recipients: { most: 1, admits: () => true, hint: 'on-call-*' },
      limits: { maxChars: 50, maxAttachments: 1 },
      send,
      edit: send,
      react: async () => {},
    }
    const mail = {
      ...{ kind: 'smtp', host: '127.0.0.1', from: 'hub@example.org' },
      ...{ to: ['ops@example.org'], recipients: ['*@example.org'] },
    }
    const given = { pager, plain: { kind: 'plain', limits: { maxAttachments: 0 }, send }, hook: world.hook() }
    const services = { ops: world.slack(), team: world.discord(), bot: world.telegram(), mail }
    const { host } = new URL(world.services.url)
    expect(await channelsOf({ ...given, ...services })).toEqual([
      {
        ...{
          name: 'console',
          kind: 'console',
          description: 'the inbox of the console, for the people who run this hub',
        },
        ...{ can: ['send', 'edit', 'attach'], maxChars: 20_000 },
      },
      {
        ...{ name: 'pager', kind: 'pager', description: 'who is on call', recipients: 'on-call-*', maxChars: 50 },
        can: ['send', 'edit', 'react', 'attach'],
      },
      { name: 'plain', kind: 'plain', description: 'a channel of the kind plain', can: ['send'] },
      {
        ...{ name: 'hook', kind: 'webhook', description: `a program at ${host}` },
        ...{ can: ['send', 'attach'], maxChars: 100_000 },
      },
      {
        ...{ name: 'ops', kind: 'slack', description: `a Slack channel, by a webhook of ${host}` },
        ...{ can: ['send'], maxChars: 40_000 },
      },
      {
        ...{ name: 'team', kind: 'discord', description: `a Discord channel, by a webhook of ${host}` },
        ...{ can: ['send', 'edit', 'attach'], maxChars: 2_000 },
      },
      {
        ...{ name: 'bot', kind: 'telegram', description: '2 chats of a Telegram bot', recipients: '-100, @ops_room' },
        ...{ can: ['send', 'edit', 'react', 'attach'], maxChars: 4_096 },
      },
      {
        ...{ name: 'mail', kind: 'smtp', description: 'mail from hub@example.org', can: ['send', 'attach'] },
        ...{ recipients: 'ops@example.org, *@example.org', maxChars: 100_000 },
      },
    ])
  })

  it('say what keeps one from working, with what to do about it', async () => {
    const [, broken] = await channelsOf({ hook: { ...world.hook(), secret: 'a'.repeat(23) } })
    expect(broken).toEqual({
      ...{ name: 'hook', kind: 'webhook', description: 'a channel that is not ready', can: [] },
      problem:
        'The secret of the channel hook has 23 characters. Use at least 24 random characters: openssl rand -hex 32.',
    })
    const [, ready] = await channelsOf({ hook: { ...world.hook(), secret: 'a'.repeat(24) } })
    expect(ready).not.toHaveProperty('problem')
  })

  it.each([
    ['a name with a space', { 'my hook': { kind: 'own', send } }, '"my hook" in messages.channels is not a valid name'],
    [
      'a name that begins with a digit',
      { '1hook': { kind: 'own', send } },
      'is not a valid name: use lowercase letters, digits, _',
    ],
    ['a name of 33 characters', { ['a'.repeat(33)]: { kind: 'own', send } }, 'at most 32, starting with a letter'],
    ['a name that ends in another line', { 'hook\nx y': { kind: 'own', send } }, 'is not a valid name'],
    ['null', { hook: null }, '"hook" in messages.channels is not a channel.'],
    ['a text', { hook: 'https://example.org' }, '"hook" in messages.channels is not a channel.'],
    ['another console', { inbox: { kind: 'console' } }, 'only the channel console has the kind console'],
    ['a console that is none', { console: { kind: 'own', send } }, 'only the channel console has the kind console'],
    [
      'a kind that does not exist',
      { hook: { kind: 'pigeon' } },
      '"hook" in messages.channels has the kind "pigeon"; there are webhook, slack, discord, telegram, smtp, console.',
    ],
    [
      'something that only looks like a channel of your own',
      { hook: { kind: 'own', send: 'now' } },
      'has the kind "own"',
    ],
  ])('are refused with %s', async (_, channels, message) => {
    await expect(channelsOf(channels)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
      fix: { key: 'messages', hint: 'docs/reference/messages.md shows the channels and what each needs.' },
    })
  })

  it('may have names of 32 characters', async () => {
    expect(await channelsOf({ ['a'.repeat(32)]: { kind: 'own', send } })).toHaveLength(2)
  })

  it('are named in the error for an unknown one', async () => {
    const { send: sendTo } = world.open({ hook: world.hook() })
    const hint =
      'There are: console, hook. The owner adds one in messages.channels of tool-hub.yaml; docs/reference/messages.md shows how.'
    expect((await sendTo({ channel: 'hok', text: 'x' })).error).toMatchObject({
      code: 'NOT_FOUND',
      message: 'Unknown channel "hok".',
      fix: { key: 'messages', hint: `Did you mean hook? ${hint}` },
    })
    expect((await sendTo({ channel: 'zzzzzzzz', text: 'x' })).error?.fix.hint).toBe(hint)
  })
})
