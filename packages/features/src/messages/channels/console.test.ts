import { describe, expect, it } from 'vitest'
import { channelBench, plainMessage } from '../../../../../test/support/channel-bench.ts'
import { openConsole } from '../channel-registry.ts'
import { multipart } from './multipart.ts'

const open = () => {
  const bench = channelBench()
  return { ...bench, channel: openConsole({ kind: 'console' }, bench.parts) }
}

describe('the inbox of the console', () => {
  it('takes 20,000 characters and 10 attachments', () => {
    expect(open().channel).toMatchObject({
      ...{ kind: 'console', canRehearse: true },
      limits: { maxChars: 20_000, maxAttachments: 10 },
    })
  })

  it('keeps a message with all that is known of it, in the order of time', async () => {
    const { channel, io, store, announced, told } = open()
    const content = new Uint8Array(3)
    const attachments = [{ ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content }]
    const { id } = await channel.send(plainMessage({ title: 'T', attachments }), { ...io, principal: 'token:ci' })
    // The time is written so that ids sort by it.
    expect(id).toMatch(/^inbox-0mjuohs00-[0-9a-f]{8}$/)
    expect(await store.inbox.list({ limit: 9 })).toEqual([
      {
        ...{ id, at: io.now(), level: 'info', title: 'T', text: 'Hi' },
        ...{ caller: 'me', principal: 'token:ci', run: 'r1', callId: 'call 1', isUntrusted: false },
        attachments: [{ ref: 'artifact:1', name: 'a.txt', bytes: 3 }],
      },
    ])
    expect(announced).toEqual([{ type: 'inbox', body: '{"level":"info","title":"T","text":"Hi"}' }])
    expect(told).toEqual([['messages', id]])
  })

  it('changes a message of the same run, which is unread again', async () => {
    const { channel, io, store, announced, told } = open()
    const { id } = await channel.send(plainMessage(), io)
    await store.inbox.markRead(undefined, 1)
    const changed = plainMessage({ text: 'Bye', level: 'error' })
    expect(await channel.edit!(id!, changed, { ...io, isTainted: true })).toEqual({ id })
    expect(await store.inbox.list({ unread: true, limit: 9 })).toMatchObject([
      { id, text: 'Bye', level: 'error', isUntrusted: true, editedAt: io.now() },
    ])
    expect(announced.at(-1)).toEqual({ type: 'inbox', body: '{"level":"error","text":"Bye"}' })
    expect(told).toHaveLength(2)
  })

  it('has no message of another run', async () => {
    const { channel, io, told } = open()
    const id = 'x'.repeat(120)
    await expect(channel.edit!(id, plainMessage(), io)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `This run has no message "${'x'.repeat(100)}" in the inbox.`,
      fix: { hint: 'A run can edit only its own messages, with the messageId that send returned.' },
    })
    expect(told).toEqual([])
  })

  it('keeps the last 10,000 messages', async () => {
    const { channel, io, store } = open()
    const asked: number[] = []
    store.inbox.add = async (_, most) => void asked.push(most)
    await channel.send(plainMessage(), io)
    expect(asked).toEqual([10_000])
  })
})

it('a form holds fields and files, and shows the files by their sizes', () => {
  const file = { ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content: Buffer.from('abc') }
  const { contentType, body, shown } = multipart({ a: '1', b: '2' }, new Map([['f', file]]), 'XX')
  const form = (content: string) =>
    [
      ...['--XX', 'content-disposition: form-data; name="a"', '', '1'],
      ...['--XX', 'content-disposition: form-data; name="b"', '', '2'],
      ...[
        '--XX',
        'content-disposition: form-data; name="f"; filename="a.txt"',
        'content-type: text/plain',
        '',
        content,
      ],
      ...['--XX--', ''],
    ].join('\r\n')
  expect(contentType).toBe('multipart/form-data; boundary=XX')
  expect(Buffer.from(body).toString()).toBe(form('abc'))
  expect(shown).toBe(form('(3 bytes)'))
  expect(multipart({}, new Map()).contentType).toMatch(/boundary=tool-hub-[0-9a-f]{32}$/)
})
