import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { Channel, ChannelIo, SentRequest } from './channel.ts'
import { deliverMessage, type Errand } from './deliver-message.ts'
import { unknownFate } from './send-errors.ts'

const file = { ref: 'artifact:1', name: 'a.txt', mediaType: 'text/plain', content: new Uint8Array(3) }
const message = { to: ['anna'], title: 'T', text: 'Hi', level: 'warning' as const, attachments: [file] }
const send: Errand = { action: 'send', message }
const LOST = unknownFate('ops', 'lost', undefined)

/** A channel that fails as told, once per failure, and what was announced to its io. */
function speaking(failures: Error[], more: Partial<Channel> = {}) {
  const announced: SentRequest[] = []
  const stop = new AbortController()
  const tries: unknown[] = []
  const speak = async (...said: unknown[]) => {
    tries.push(said.filter((each) => each !== io))
    const failure = failures.shift()
    if (failure) throw failure
    return { id: 'its-id' }
  }
  const channel: Channel = { kind: 'test', canRehearse: true, send: speak, edit: speak, ...more } as Channel
  const io = { signal: stop.signal, announce: async (request) => void announced.push(request) } as ChannelIo
  return { channel, io, announced, tries, stop }
}

describe('a message whose fate is unknown', () => {
  it('is repeated once after 300 ms where twice does no harm', async () => {
    const clock = fakeClock()
    const { channel, io, tries } = speaking([LOST], { isIdempotent: true })
    const sending = deliverMessage(send, channel, io, clock)
    await clock.advance(299)
    expect(tries).toHaveLength(1)
    await clock.advance(1)
    expect(await sending).toEqual({ id: 'its-id' })
    expect(tries).toHaveLength(2)
    expect(clock.waiting).toBe(0)
  })

  it('is not repeated a second time', async () => {
    const clock = fakeClock()
    const { channel, io, tries } = speaking([LOST, LOST, LOST], { isIdempotent: true })
    const sending = deliverMessage(send, channel, io, clock)
    sending.catch(() => {})
    await clock.advance(1_000)
    await expect(sending).rejects.toBe(LOST)
    expect(tries).toHaveLength(2)
  })

  it.each([
    ['on a channel where twice does harm', LOST, {}],
    ['when it was refused for certain', new Error('refused'), { isIdempotent: true }],
  ])('is not repeated %s', async (_, failure, more) => {
    const clock = fakeClock()
    const { channel, io, tries } = speaking([failure], more)
    await expect(deliverMessage(send, channel, io, clock)).rejects.toBe(failure)
    expect([tries.length, clock.waiting]).toEqual([1, 0])
  })

  it('is not repeated when it is stopped meanwhile', async () => {
    const clock = fakeClock()
    const { channel, io, tries, stop } = speaking([LOST], { isIdempotent: true })
    const sending = deliverMessage(send, channel, io, clock)
    sending.catch(() => {})
    await clock.advance(1)
    stop.abort(new Error('enough'))
    await expect(sending).rejects.toThrow('enough')
    expect([tries.length, clock.waiting]).toEqual([1, 0])
  })
})

describe('what a channel receives', () => {
  it('to send, edit or react', async () => {
    const reacted: unknown[] = []
    const { channel, io, tries } = speaking([], {
      react: async (id, emoji, _, to) => void reacted.push([id, emoji, to]),
    })
    const clock = fakeClock()
    expect(await deliverMessage(send, channel, io, clock)).toEqual({ id: 'its-id' })
    const edit = { action: 'edit', message, messageId: 'm1' } as const
    expect(await deliverMessage(edit, channel, io, clock)).toEqual({ id: 'its-id' })
    const react = { action: 'react', to: ['anna'], messageId: 'm1', emoji: '👍' } as const
    expect(await deliverMessage(react, channel, io, clock)).toEqual({ id: 'm1' })
    expect(tries).toEqual([[message], ['m1', message]])
    expect(reacted).toEqual([['m1', '👍', ['anna']]])
  })

  it('may bring nothing back, then an edit keeps its id', async () => {
    const { channel, io } = speaking([], { send: async () => undefined as never, edit: async () => ({}) })
    expect(await deliverMessage(send, channel, io, fakeClock())).toEqual({})
    const edit = { action: 'edit', message, messageId: 'm1' } as const
    expect(await deliverMessage(edit, channel, io, fakeClock())).toEqual({ id: 'm1' })
  })

  it.each<[Errand, object]>([
    [send, { title: 'T', text: 'Hi', level: 'warning', attachments: ['a.txt (3 bytes)'] }],
    [
      { action: 'react', to: ['anna'], messageId: 'm1', emoji: '👍' },
      { messageId: 'm1', emoji: '👍' },
    ],
  ])('is announced before by the hub where the channel does not do that itself: %j', async (errand, body) => {
    const { channel, io, announced } = speaking([], { canRehearse: false, react: async () => {} })
    await deliverMessage(errand, channel, io, fakeClock())
    expect(announced).toEqual([{ type: 'other', method: errand.action, to: ['anna'], body: JSON.stringify(body) }])
    const own = speaking([], { react: async () => {} })
    await deliverMessage(errand, own.channel, own.io, fakeClock())
    expect(own.announced).toEqual([])
  })
})
