import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { useMessages } from '../../../../test/support/message-hub.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const world = useMessages()

/** A hub with so many messages in its inbox, oldest first. */
async function inboxOf(count: number) {
  const store = createMemoryStore()
  const clock = fakeClock(5_000)
  const { hub } = world.open({}, { store, clock })
  const fixed = { level: 'info', caller: 'me', run: 'r', isUntrusted: false, attachments: [] } as const
  for (let n = 0; n < count; n++) {
    const id = `inbox-${String(n).padStart(5, '0')}`
    await store.inbox.add({ ...fixed, id, at: n, text: `${n}`, callId: `c${n}` }, 10_000)
  }
  const page = async (wish?: Parameters<typeof hub.messages.inbox>[0]) => {
    const { messages, next, unread } = await hub.messages.inbox(wish)
    return { texts: messages.map(({ text }) => text), next, unread }
  }
  return { hub, store, page }
}

describe('the inbox', () => {
  it('is read page by page, the newest message first', async () => {
    const { page } = await inboxOf(3)
    expect(await page({ limit: 2 })).toEqual({ texts: ['2', '1'], next: 'inbox-00001', unread: 3 })
    expect(await page({ limit: 2, before: 'inbox-00001' })).toEqual({ texts: ['0'], next: undefined, unread: 3 })
    expect(await page({ limit: 3 })).toMatchObject({ texts: ['2', '1', '0'], next: undefined })
    expect(await page({ limit: 0 })).toMatchObject({ texts: ['2'], next: 'inbox-00002' })
  })

  it('shows 100 messages without a limit, and at most 1,000', async () => {
    const { page } = await inboxOf(1_001)
    expect((await page()).texts).toHaveLength(100)
    const most = await page({ limit: 5_000 })
    expect([most.texts.length, most.next]).toEqual([1_000, 'inbox-00001'])
  })

  it('tells others of what was read or removed, and of nothing else', async () => {
    const { hub, store, page } = await inboxOf(3)
    const told: unknown[] = []
    const stop = store.events.watch(({ topic, body }) => void (topic === 'feature' && told.push(JSON.parse(body))))
    expect(await hub.messages.markRead(['inbox-00001'])).toBe(1)
    expect(await hub.messages.markRead(['inbox-00001'])).toBe(0)
    expect((await hub.messages.inbox()).messages.map(({ readAt }) => readAt)).toEqual([undefined, 5_000, undefined])
    expect(await hub.messages.markRead()).toBe(2)
    expect((await page()).unread).toBe(0)
    expect(await hub.messages.remove('inbox-00002')).toBe(true)
    expect(await hub.messages.remove('inbox-00002')).toBe(false)
    await expect.poll(() => told.length).toBe(3)
    expect(told).toMatchObject(
      ['inbox-00001', 'all', 'inbox-00002'].map((subject) => ({ feature: 'messages', subject })),
    )
    stop()
  })
})

describe('a message of the owner', () => {
  it('goes out unasked and on record, as trusted words of who sent it', async () => {
    const { hub } = world.open({ hook: world.hook() }, { approve: undefined })
    const sent = await hub.messages.send({ channel: 'hook', text: 'Hello' }, { by: 'ada' })
    expect(sent).toEqual({
      channel: 'hook',
      kind: 'webhook',
      targets: ['hook'],
      messageId: expect.stringMatching(/^owner-[0-9a-f]{16}$/),
    })
    expect(world.services.got[0]!.json).toMatchObject({
      text: 'Hello',
      from: { caller: 'ada', run: 'owner', isUntrusted: false },
    })
    expect(world.recordOf(hub)).toMatch(/"change":"message-sent".*"hook"/)
  })

  it('takes artifacts of the run that it names', async () => {
    const { hub } = world.open({ hook: world.hook() })
    const ref = await world.keep(hub, 'numbers')
    const message = { channel: 'hook', text: 'x', attachments: [{ ref }] }
    await hub.messages.send(message, { by: 'ada', run: world.run })
    expect(world.services.got[0]!.json).toMatchObject({
      attachments: [{ name: 'attachment-1', bytes: 7, base64: Buffer.from('numbers').toString('base64') }],
      from: { run: world.run },
    })
    await expect(hub.messages.send(message, { by: 'ada' })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'Attachments are artifacts of a run.',
      fix: { hint: 'Name the run.' },
    })
  })

  it('is only shown in a dry run', async () => {
    const { hub } = world.open({ hook: world.hook() })
    const { request } = await hub.messages.send({ channel: 'hook', text: 'x' }, { by: 'ada', dryRun: true })
    expect(request).toMatchObject({ type: 'http', method: 'POST', url: `${world.services.url}/hook` })
    expect(world.services.got).toEqual([])
  })
})
