import type { FeatureCall, FeatureHost } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { newOwner, retireOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { OWNER_SENDER } from './describe-session.ts'
import { Mailbox } from './mailbox.ts'
import { SessionEvents } from './session-events.ts'
import { SessionRegistry } from './session-registry.ts'
import type { NewSession, StoredSession } from './store-types.ts'

function open(visibility: 'tree' | 'principal' = 'tree') {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const tainted = new Set<string>()
  const owner = newOwner()
  const told: string[] = []
  const host = {
    ...{ store, clock, redact: (text: string) => text.replaceAll('hunter2', '[redacted]') },
    isTainted: (run: string) => tainted.has(run),
    emitChange: (_: string, subject: string) => void told.push(subject),
  } as unknown as FeatureHost
  const events = new SessionEvents(host)
  const registry = new SessionRegistry({ host, events, owner, visibility })
  const mailbox = new Mailbox(host, events, registry)
  const own = (run: string, more: Partial<FeatureCall> = {}) =>
    registry.own({ run, principal: undefined, isTainted: false, ...more } as FeatureCall)
  /** A session with a runner, below another one. */
  const begin = async (id: string, parent: StoredSession, more: Partial<NewSession> = {}): Promise<StoredSession> => {
    const { root, depth, rootPrincipal } = parent
    const fixed = { id, parent: parent.id, root, depth: depth + 1, rootPrincipal, runner: 'default', task: 't' }
    await store.sessions.add({ ...fixed, isTainted: false, createdAt: clock.now(), owner, ...more })
    return (await store.sessions.find(id))!
  }
  return { registry, mailbox, store, clock, tainted, owner, told, own, begin }
}
const LIST_HINT = 'List the sessions that you see with core/session.list.'

describe('the session of a run', () => {
  it('is made when it first asks, and belongs to its caller', async () => {
    const { own, owner, store } = open()
    expect(await own('r1')).toMatchObject({
      ...{ id: 'r1', root: 'r1', depth: 0, rootPrincipal: 'owner', state: 'running', isTainted: false },
      ...{ createdAt: 1_000, owner },
    })
    expect(await own('r2', { principal: 'token:a' })).toMatchObject({ principal: 'token:a', rootPrincipal: 'token:a' })
    await expect(own('r2', { principal: 'token:b' })).rejects.toMatchObject({
      ...{ code: 'NOT_FOUND', message: 'Session "r2" not found.', fix: { hint: LIST_HINT } },
    })
    expect(await own('r1', { isTainted: true })).toMatchObject({ isTainted: true })
    expect(await store.sessions.find('r1')).toMatchObject({ isTainted: true })
    expect(await own('r1')).toMatchObject({ isTainted: true })
  })

  it.each(['owner', 'parent'])('is none for a run called %s', async (run) => {
    await expect(open().own(run)).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'A run of this name has no session; use another one.' },
    })
  })

  it('continues after its end, and after that of its process', async () => {
    const { own, registry, store, owner } = open()
    await own('r1')
    await registry.end('r1', { state: 'ended' })
    expect(await own('r1')).toMatchObject({ state: 'running' })
    expect(await store.sessions.find('r1')).toMatchObject({ state: 'running' })
    const gone = newOwner()
    retireOwner(gone)
    await store.sessions.reopen('r1', gone)
    await own('r1')
    expect(await store.sessions.find('r1')).toMatchObject({ owner })
    await registry.leave()
    expect(await store.sessions.find('r1')).toMatchObject({ state: 'ended' })
  })

  it('with a runner is left as it is', async () => {
    const { own, begin, registry, store } = open()
    const child = await begin('c1', await own('r1'))
    await registry.end('c1', { state: 'failed' })
    expect(await own('c1', { isTainted: true })).toMatchObject({ id: 'c1', state: 'failed', isTainted: true })
    expect(await store.sessions.find(child.id)).toMatchObject({ state: 'failed' })
    await begin('c2', await own('r1'), { isTainted: true })
    expect(await own('c2')).toMatchObject({ id: 'c2', isTainted: true })
  })
})

describe('sessions whose process is gone', () => {
  it('are ended when that is noticed', async () => {
    const { own, begin, registry, told } = open()
    const root = await own('r1')
    const gone = newOwner()
    await begin('c1', root, { owner: gone })
    await begin('c2', root, { owner: gone, runner: undefined })
    await registry.endOrphans()
    expect(await registry.find('c1')).toMatchObject({ state: 'running' })
    retireOwner(gone)
    const reason = 'The process that it ran in is gone.'
    expect(await registry.find('c1')).toMatchObject({ state: 'failed', reason, endedAt: 1_000 })
    await registry.endOrphans()
    expect(await registry.find('c2')).toMatchObject({ state: 'ended', reason })
    expect(await registry.find('r1')).toMatchObject({ state: 'running' })
    expect(told).toEqual(['c1', 'c2'])
    expect(await registry.end('c1', { state: 'ended' })).toBe(false)
    expect(told).toHaveLength(2)
    expect(await registry.find('none')).toBeUndefined()
  })
})

describe('what a session sees', () => {
  it('is what lies above and below it, and by which name', async () => {
    const { own, begin, registry } = open()
    const root = await own('r1')
    const a = await begin('a', root, { label: 'helper' })
    const b = await begin('b', root, { label: 'helper' })
    const aa = await begin('aa', a, { label: 'deep' })
    await own('r2')
    const seen = async (from: StoredSession) => [
      ...(await registry.seen(from, ['r1', 'a', 'b', 'aa', 'r2', 'none', 'a'])),
    ]
    expect(await seen(root)).toEqual(['r1', 'a', 'b', 'aa'])
    expect(await seen(a)).toEqual(['r1', 'a', 'aa'])
    expect(await seen(b)).toEqual(['r1', 'b'])
    expect(await seen(aa)).toEqual(['r1', 'a', 'aa'])
    expect((await registry.resolve(aa, 'parent')).id).toBe('a')
    expect((await registry.resolve(a, 'helper')).id).toBe('a')
    expect((await registry.resolve(root, 'deep')).id).toBe('aa')
    await expect(registry.resolve(root, 'parent')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(registry.resolve(b, 'a')).rejects.toMatchObject({
      message: 'Session "a" not found.',
      fix: { hint: LIST_HINT },
    })
    await expect(registry.resolve(b, 'x'.repeat(101))).rejects.toThrow(`Session "${'x'.repeat(100)}" not found.`)
    await expect(registry.resolve(root, 'helper')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: '2 sessions are called "helper".',
      fix: { hint: 'Name one by its id: b, a.' },
    })
    await registry.end('b', { state: 'ended' })
    expect((await registry.resolve(root, 'helper')).id).toBe('a')
    await registry.end('a', { state: 'ended' })
    expect((await registry.resolve(root, 'helper')).id).toBe('b')
  })

  it('is also all of its principal where the owner says so', async () => {
    const { own, registry } = open('principal')
    const [one, two, other] = [await own('r1'), await own('r2'), await own('r3', { principal: 'token:a' })]
    expect([...(await registry.seen(one, [two.id, other.id]))]).toEqual(['r2'])
    expect((await registry.list(one, { limit: 9 })).rows.map(({ id }) => id)).toEqual(['r2', 'r1'])
  })

  it('comes in pages, and names five of those that share a label', async () => {
    const { own, begin, registry } = open()
    const root = await own('r1')
    for (let n = 0; n < 250; n++) await begin(`c${n}`, root, { label: 'many' })
    const first = await registry.list(root, { limit: 2 })
    expect(first.rows.map(({ id }) => id)).toEqual(['c249', 'c248'])
    const next = await registry.list(root, { limit: 2, before: first.next })
    expect(next.rows.map(({ id }) => id)).toEqual(['c247', 'c246'])
    const all = await registry.list(root, { limit: 999 })
    expect([all.rows.length, all.next]).toEqual([251, undefined])
    const whole = await registry.list(root, { limit: 251 })
    expect([whole.rows.length, whole.next]).toEqual([251, undefined])
    expect((await registry.list(root, { limit: 9, state: 'ended' })).rows).toEqual([])
    expect(await registry.children('r1')).toHaveLength(250)
    await expect(registry.resolve(root, 'many')).rejects.toMatchObject({
      ...{
        message: '200 sessions are called "many".',
        fix: { hint: 'Name one by its id: c249, c248, c247, c246, c245.' },
      },
    })
  })

  it('by the owner is everything, but a run does not stand for a session that is called like it', async () => {
    const { own, begin, registry } = open()
    const root = await own('r1')
    await begin('c1', root, { label: 'r2' })
    expect((await registry.resolveAny('c1')).id).toBe('c1')
    expect((await registry.resolveAny('r2')).id).toBe('c1')
    expect((await registry.resolveAny('r1')).id).toBe('r1')
    await own('r2')
    await expect(registry.resolveAny('r2')).rejects.toMatchObject({
      code: 'CONFLICT',
      fix: { hint: 'Name one by its id: r2, c1.' },
    })
    await registry.end('c1', { state: 'ended' })
    expect((await registry.resolveAny('r2')).id).toBe('r2')
    await expect(registry.resolveAny('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await registry.resolveAny('indexed', { ...root, id: 'indexed' })).id).toBe('indexed')
  })
})

describe('a message between sessions', () => {
  const letter = { text: 'Hi hunter2', isTainted: false }

  it('is kept without secrets, told, and read once', async () => {
    const { own, begin, mailbox, store, told } = open()
    const root = await own('r1')
    const child = await begin('c1', root)
    const { id, seq } = await mailbox.send('r1', child, { ...letter, replyTo: `message-${'a'.repeat(16)}` })
    expect(id).toMatch(/^message-[0-9a-f]{16}$/)
    expect([seq > 0, told, await store.mail.unread('c1')]).toEqual([true, ['c1'], 1])
    expect(await mailbox.take('c1')).toEqual([
      {
        ...{ id, from: 'r1', to: 'c1', text: 'Hi [redacted]', replyTo: `message-${'a'.repeat(16)}` },
        ...{ isUntrusted: false, sentAt: '1970-01-01T00:00:01.000Z' },
      },
    ])
    expect([await mailbox.take('c1'), await store.mail.unread('c1')]).toEqual([[], 0])
  })

  it('is one of 20 that one read returns', async () => {
    const { own, mailbox } = open()
    const root = await own('r1')
    for (let n = 0; n < 21; n++) await mailbox.send('x', root, letter)
    expect(await mailbox.take('r1')).toHaveLength(20)
    expect(await mailbox.take('r1')).toHaveLength(1)
  })

  it('comes from the owner, or goes to the owner, by that name', async () => {
    const { own, mailbox, store, told } = open()
    const root = await own('r1')
    await mailbox.sendAsOwner(root, { text: 'Do.' })
    expect(await mailbox.take('r1')).toMatchObject([{ from: 'owner', to: 'r1', isUntrusted: false }])
    await mailbox.sendToOwner('r1', { ...letter, isTainted: true })
    expect(told).toEqual(['r1', 'r1'])
    expect(await store.mail.unread(`${OWNER_SENDER}:r1`)).toBe(1)
    await mailbox.readAsOwner('r1')
    expect(await store.mail.unread(`${OWNER_SENDER}:r1`)).toBe(0)
  })

  it('has 20,000 characters at most, and answers a message', async () => {
    const { own, mailbox } = open()
    const root = await own('r1')
    await mailbox.send('x', root, { ...letter, text: 'x'.repeat(20_000) })
    await expect(mailbox.send('x', root, { ...letter, text: 'x'.repeat(20_001) })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: 'The message has 20001 characters, at most 20000.',
      fix: { hint: 'Write the long part to a file and name the file.' },
    })
    for (const replyTo of [
      '',
      'm1',
      `xmessage-${'a'.repeat(16)}`,
      `message-${'a'.repeat(17)}`,
      `message-${'g'.repeat(16)}`,
    ])
      await expect(mailbox.send('x', root, { ...letter, replyTo })).rejects.toMatchObject({
        message: 'replyTo is not the id of a message.',
        fix: { hint: 'Use the id that came with the message, message-…, or leave it out.' },
      })
  })

  it('waits for nobody who is over, unless it is a run, nor behind a thousand others', async () => {
    const { own, begin, mailbox, registry, store } = open()
    const root = await own('r1')
    await begin('c1', root)
    await registry.end('c1', { state: 'ended' })
    await expect(mailbox.send('r1', (await registry.find('c1'))!, letter)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The session c1 is over.',
      fix: { hint: 'See why with core/session.status, or start another one.' },
    })
    await registry.end('r1', { state: 'ended' })
    await mailbox.send('x', (await registry.find('r1'))!, letter)
    for (const [inbox, whose] of [
      ['r1', 'r1'],
      [`${OWNER_SENDER}:r1`, 'owner'],
    ] as const) {
      const mail = { inbox, sender: 'x', text: '', isTainted: false, sentAt: 0 }
      for (let n = await store.mail.unread(inbox); n < 1_000; n++)
        await store.mail.put({ ...mail, id: `${whose}${n}` }, { maxUnread: 9_999 })
      await expect(
        inbox === 'r1' ? mailbox.send('x', root, letter) : mailbox.sendToOwner('r1', letter),
      ).rejects.toMatchObject({
        code: 'RATE_LIMITED',
        message: `1000 messages wait unread in the inbox of ${whose}.`,
        fix: { hint: 'Wait until it has read some, then send again.' },
      })
    }
  })

  it('is answered, or not in time, or by the end of the other one', async () => {
    const { own, begin, mailbox, registry, clock } = open()
    const root = await own('r1')
    const child = await begin('c1', root)
    const ask = async () => {
      const sent = await mailbox.send('r1', child, letter)
      return { sent, outcome: mailbox.answer(sent, child, { from: 'r1', waitMs: 500 }) }
    }
    const first = await ask()
    await clock.advance(500)
    expect(await first.outcome).toEqual({ message: first.sent.id, session: 'c1', status: 'timeout', state: 'running' })
    const second = await ask()
    await mailbox.send('c1', root, { ...letter, text: 'late', replyTo: first.sent.id })
    await mailbox.send('c1', root, { ...letter, text: 'yes', replyTo: second.sent.id })
    await clock.advance(500)
    expect(await second.outcome).toMatchObject({
      status: 'replied',
      state: 'running',
      reply: { text: 'yes', from: 'c1' },
    })
    const third = await ask()
    await registry.end('c1', { state: 'failed', reason: 'dead' })
    await clock.advance(500)
    expect(await third.outcome).toEqual({
      ...{ message: third.sent.id, session: 'c1', status: 'ended', state: 'failed', reason: 'dead' },
    })
  })
})
