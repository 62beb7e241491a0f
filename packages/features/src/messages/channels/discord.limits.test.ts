import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import type { DiscordChannelOptions } from '../channel.ts'
import { openDiscord } from './discord.ts'

const PLACE = 'https://discord.example/api//webhooks/1/the-secret-of-discord'
const open = (options: Partial<DiscordChannelOptions> = {}) => {
  const bench = channelBench()
  const channel = openDiscord({ kind: 'discord', url: `${PLACE}//?thread_id=5`, ...options }, bench.parts)
  return { ...bench, channel }
}
const file = { ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content: Buffer.from('abc') }

describe('a channel of Discord', () => {
  it('says what it takes, and hides its URL', () => {
    const { channel, hidden } = open()
    expect(channel).toMatchObject({
      ...{ kind: 'discord', origins: ['https://discord.example'], canRehearse: true },
      limits: { maxChars: 2_000, maxAttachments: 10 },
    })
    expect(hidden).toContain('the-secret-of-discord')
    expect(() => open({ url: 'http://discord.example/x' })).toThrow('holds a secret and is not https')
  })

  it('posts messages and edits them below its URL, whose last slashes and query do no harm', async () => {
    const { channel, io, fetched } = open({ username: 'hub' })
    await channel.send(plainMessage({ title: 'T' }), io)
    await channel.edit!('900', plainMessage(), io)
    expect(fetched).toEqual([
      {
        url: `${PLACE}?thread_id=5&wait=true`,
        method: 'POST',
        shownUrl: 'https://discord.example/…?wait=true',
        headers: { 'content-type': 'application/json' },
        body: '{"content":"**T**\\nHi","username":"hub","allowed_mentions":{"parse":[]}}',
      },
      {
        url: `${PLACE}/messages/900?thread_id=5&wait=true`,
        method: 'PATCH',
        shownUrl: 'https://discord.example/…/messages/900?wait=true',
        headers: { 'content-type': 'application/json' },
        // Who it seems to come from cannot be changed any more.
        body: '{"content":"Hi","allowed_mentions":{"parse":[]}}',
      },
    ])
  })

  it('mentions people, roles and everyone where the owner lets it', async () => {
    const { channel, io, fetched } = open({ mentions: true })
    await channel.send(plainMessage(), io)
    const { allowed_mentions } = JSON.parse(fetched[0]!.body as string)
    expect(allowed_mentions).toEqual({ parse: ['users', 'roles', 'everyone'] })
  })

  it('counts the title and its markup in', async () => {
    const { channel, io } = open()
    const send = (chars: number) => channel.send(plainMessage({ title: 'T', text: 'x'.repeat(chars) }), io)
    expect(await send(1_994)).toEqual({})
    await expect(send(1_995)).rejects.toThrow('The message has 2001 characters; the channel ops takes at most 2000.')
  })

  it('sends files with the message in one form', async () => {
    const { channel, io, fetched } = open()
    await channel.send(plainMessage({ attachments: [file, { ...file, name: 'b.txt' }] }), io)
    const { headers, body, shownBody } = fetched[0]!
    expect(headers!['content-type']).toMatch(/^multipart\/form-data; boundary=tool-hub-[0-9a-f]{32}$/)
    for (const text of [
      'name="payload_json"\r\n\r\n{"content":"Hi"',
      'name="files[0]"; filename="a.txt"',
      'name="files[1]"; filename="b.txt"',
    ]) {
      expect(Buffer.from(body as Uint8Array).toString()).toContain(text)
      expect(shownBody).toContain(text)
    }
    expect(shownBody).toContain('(3 bytes)')
  })

  it.each([
    [200, '{"id":"77"}', { id: '77' }],
    [299, '{"id":"12345678901234567890"}', { id: '12345678901234567890' }],
    [200, '{"id":"123456789012345678901"}', {}],
    [200, '{"id":"x7"}', {}],
    [200, '{"id":"7x"}', {}],
    [200, 'fine', {}],
  ])('that answers %i with %s has taken the message', async (status, text, delivery) => {
    const { channel, io, answer } = open()
    Object.assign(answer, { status, text })
    expect(await channel.send(plainMessage(), io)).toEqual(delivery)
  })

  it.each([
    [300, '{"message":"Elsewhere"}', 'The channel ops refused it (300): Elsewhere.'],
    [400, 'no hunter2', 'The channel ops refused it (400): no [redacted].'],
    [429, '{"retry_after":0}', 'The channel ops takes no more messages for now (429); wait 0 ms: {"retry_after":0}.'],
    [
      429,
      '{"retry_after":-1}',
      'The channel ops takes no more messages for now (429); wait a while: {"retry_after":-1}.',
    ],
  ])('that answers %i with %s has refused it', async (status, text, message) => {
    const { channel, io, answer } = open()
    Object.assign(answer, { status, text })
    await expect(channel.send(plainMessage(), io)).rejects.toThrow(message)
  })

  it.each(['', 'x900', '900x', '900/../1', '1'.repeat(21), 'x'.repeat(60)])('edits no message %j', async (id) => {
    const { channel, io, fetched } = open()
    await expect(channel.edit!(id, plainMessage(), io)).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: `"${id.slice(0, 50)}" is not the id of a Discord message.`,
      fix: { hint: 'Use the messageId that send returned.' },
    })
    expect(fetched).toEqual([])
  })
})
