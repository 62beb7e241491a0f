import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import type { TelegramChannelOptions } from '../channel.ts'
import { openTelegram } from './telegram.ts'

const TOKEN = '12345:the_token-of-a-bot'
const BASE = 'https://api.telegram.org'
const open = (options: Partial<TelegramChannelOptions> = {}) => {
  const bench = channelBench()
  const channel = openTelegram({ kind: 'telegram', token: TOKEN, chats: ['-100', '@Room'], ...options }, bench.parts)
  bench.answer.text = '{"ok":true}'
  return { ...bench, channel }
}
const file = { ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content: Buffer.from('abc') }

describe('a bot of Telegram', () => {
  it('says what it takes and whom it reaches, and hides its token', () => {
    const { channel, hidden } = open()
    expect(channel).toMatchObject({
      ...{ kind: 'telegram', origins: [BASE], canRehearse: true },
      limits: { maxChars: 4_096, maxAttachments: 1 },
      recipients: { most: 1, usual: ['-100'], hint: '-100, @room' },
    })
    expect(['-100', '@room', '@Room', '-10'].map((chat) => channel.recipients!.admits(chat))).toEqual([
      ...[true, true, false, false],
    ])
    expect(hidden).toContain(TOKEN)
  })

  it('asks its API, whose last slashes do no harm, and shows that without the token', async () => {
    const { channel, io, fetched } = open({ apiUrl: 'https://proxy.example//telegram//' })
    await channel.send(plainMessage({ to: ['@room'], title: 'T' }), io)
    expect(fetched).toEqual([
      {
        url: `https://proxy.example//telegram/bot${TOKEN}/sendMessage`,
        method: 'POST',
        shownUrl: 'https://proxy.example//telegram/bot…/sendMessage',
        headers: { 'content-type': 'application/json' },
        body: '{"chat_id":"@room","text":"T\\nHi"}',
      },
    ])
    expect(() => open({ apiUrl: 'http://proxy.example' })).toThrow('holds a secret and is not https')
  })

  it('sends one file with a caption of at most 1,024 characters', async () => {
    const { channel, io, fetched } = open()
    const send = async (text: string) => channel.send(plainMessage({ to: ['-100'], text, attachments: [file] }), io)
    await send('x'.repeat(1_024))
    const { url, headers, body, shownBody } = fetched[0]!
    expect(url).toBe(`${BASE}/bot${TOKEN}/sendDocument`)
    expect(headers!['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    for (const text of [
      'name="chat_id"\r\n\r\n-100\r\n',
      'name="caption"\r\n\r\nxxx',
      'name="document"; filename="a.txt"',
    ]) {
      expect(Buffer.from(body as Uint8Array).toString()).toContain(text)
      expect(shownBody).toContain(text)
    }
    await expect(send('x'.repeat(1_025))).rejects.toThrow(
      'The text beside an attachment has 1025 characters; the channel ops takes at most 1024.',
    )
    expect(fetched).toHaveLength(1)
  })

  it.each([
    [200, '{"ok":true,"result":{"message_id":77}}', { id: '77' }],
    [299, '{"ok":true,"result":{"message_id":0}}', { id: '0' }],
    [200, '{"ok":true,"result":{"message_id":-1}}', {}],
    [200, '{"ok":true,"result":true}', {}],
  ])('that answers %i with %s has sent it', async (status, text, delivery) => {
    const { channel, io, answer } = open()
    Object.assign(answer, { status, text })
    expect(await channel.send(plainMessage({ to: ['-100'] }), io)).toEqual(delivery)
  })

  it.each([
    [300, '{"ok":true}', 'The channel ops refused it (300): {"ok":true}.'],
    [200, '{"ok":false,"error_code":400,"description":"chat hunter2"}', 'refused it (400): chat [redacted].'],
    [200, 'fine', 'The channel ops refused it (200): fine.'],
    [429, '{"ok":false,"parameters":{"retry_after":0}}', '(429); wait 0 ms: '],
    [429, '{"ok":false,"parameters":{"retry_after":-1}}', '(429); wait a while: '],
    [429, '{"ok":false,"parameters":{}}', '(429); wait a while: '],
  ])('that answers %i with %s has refused it', async (status, text, message) => {
    const { channel, io, answer } = open()
    Object.assign(answer, { status, text })
    await expect(channel.send(plainMessage({ to: ['-100'] }), io)).rejects.toThrow(message)
  })

  it.each(['', 'x77', '77x', '1'.repeat(21), '9007199254740992', 'x'.repeat(60)])('edits no message %j', async (id) => {
    const { channel, io, fetched } = open()
    await expect(channel.edit!(id, plainMessage({ to: ['-100'] }), io)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: `"${id.slice(0, 50)}" is not the id of a Telegram message.`,
      fix: { hint: 'Use the messageId that send returned.' },
    })
    expect(fetched).toEqual([])
  })
})

describe('the options of a bot', () => {
  it.each(['12345', 'x12345:the_token-of-a-bot', `${TOKEN}!`, '12345:short', `12345:${'x'.repeat(101)}`])(
    'have no token %s',
    (token) => {
      expect(() => open({ token })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: 'The token of the channel ops is not one of a Telegram bot.',
          fix: { hint: 'Use the token from BotFather: digits, a colon, letters.' },
        }),
      )
    },
  )

  it.each([
    [[], 'names no chat'],
    [['-100', 'x1'], 'has the chat "x1"'],
    [['1x'], 'has the chat "1x"'],
    [['x@ops1'], 'has the chat "x@ops1"'],
    [['@room'.repeat(2)], 'has the chat "@room@room"'],
    [['@abc'], 'has the chat "@abc"'],
    [['y'.repeat(60)], `has the chat "${'y'.repeat(50)}"`],
  ])('name the chats %j', (chats, problem) => {
    expect(() => open({ chats })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The channel ops ${problem}.`,
        fix: { hint: 'Name chats by their number, -1001234567890, or as @name.' },
      }),
    )
  })
})
