import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import { openWebhook } from './webhook.ts'

const open = (more: object = {}) => {
  const bench = channelBench()
  const options = { kind: 'webhook', url: 'http://hooks.example/in', secret: 's'.repeat(24), ...more } as const
  return { ...bench, channel: openWebhook(options, bench.parts) }
}

describe('a webhook', () => {
  it('says what it takes, and hides its secret but not an address that is written down', () => {
    const { channel, hidden } = open()
    expect(channel).toMatchObject({
      ...{ kind: 'webhook', origins: ['http://hooks.example'], canRehearse: true, isIdempotent: true },
      limits: { maxChars: 100_000, maxAttachments: 10 },
    })
    expect(hidden).toEqual(['s'.repeat(24)])
  })

  it('posts what a message is, who sends it, and its files', async () => {
    const { channel, io, fetched } = open()
    const attachments = [{ ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content: Buffer.from('abc') }]
    expect(await channel.send(plainMessage({ title: 'T', attachments }), { ...io, isTainted: true })).toEqual({
      id: 'call 1',
    })
    const { url, method, headers, body } = fetched[0]!
    expect([url, method]).toEqual(['http://hooks.example/in', 'POST'])
    expect(headers).toMatchObject({
      'idempotency-key': 'call 1',
      'webhook-id': 'call 1',
      'webhook-timestamp': '1767225600',
    })
    expect(JSON.parse(body as string)).toEqual({
      ...{ type: 'message', id: 'call 1', title: 'T', text: 'Hi', level: 'info' },
      attachments: [{ name: 'a.txt', mediaType: 'text/plain', bytes: 3, base64: 'YWJj' }],
      from: { caller: 'me', run: 'r1', isUntrusted: true },
    })
    await channel.send(plainMessage(), io)
    expect(JSON.parse(fetched[1]!.body as string)).not.toHaveProperty('title')
  })

  it('has taken what it answers below 300', async () => {
    const { channel, io, answer } = open()
    answer.status = 299
    expect(await channel.send(plainMessage(), io)).toEqual({ id: 'call 1' })
    Object.assign(answer, { status: 300, text: 'hunter2' })
    await expect(channel.send(plainMessage(), io)).rejects.toThrow('The channel ops refused it (300): [redacted].')
  })
})
