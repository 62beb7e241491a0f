import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { dataOf, PATIENT, puppets, TOOLS, useSessions } from '../../../../test/support/session-hub.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { SessionWork } from './runner.ts'
import type { SessionStatus } from './types.ts'

const setUp = useSessions()

describe('messages between sessions', () => {
  it('are answered while the sender waits, and read once', async () => {
    const { run, work, end } = puppets()
    const { spawn, call, status } = setUp({}, { run })
    await spawn('x', { label: 'helper' })
    const answering = (async () => {
      for await (const message of work('x').messages()) {
        await work('x').say(`re: ${message.text}`, { replyTo: message.id })
        return
      }
    })()
    const sent = await call('sessions_send', { session: 'helper', message: 'Well?', waitMs: 60_000 })
    await answering
    expect(sent.data).toMatchObject({ status: 'replied', reply: { text: 're: Well?', isUntrusted: false } })
    await work('x').say('by the way')
    expect((await status()).messages).toMatchObject([{ text: 'by the way' }])
    expect((await status()).messages).toEqual([])
    end('x').resolve('done')
    await expect.poll(async () => (await status('helper')).session.state, PATIENT).toBe('ended')
    expect((await call('sessions_send', { session: 'helper', message: 'x' })).error?.code).toBe('CONFLICT')
  })

  it('are kept when no answer comes in time, and that is not a failure', async () => {
    const clock = fakeClock()
    const { run, work } = puppets()
    const { spawn, call } = setUp({ clock }, { run })
    await spawn('x', { label: 'helper' })
    let isOver = false
    const sending = call('sessions_send', { session: 'helper', message: 'Well?', waitMs: 200 }).finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(10)
    expect((await sending).data).toMatchObject({ status: 'timeout' })
    const own = await work('x').call('core/session.status', {})
    expect(dataOf<SessionStatus>(own).messages).toMatchObject([{ from: 'root', text: 'Well?' }])
  })

  it('end the wait when the other session ends, and when the call is stopped', async () => {
    const { run, end } = puppets()
    const { hub, spawn, call } = setUp({}, { run })
    await spawn('x', { label: 'helper' })
    const sending = call('sessions_send', { session: 'helper', message: 'Well?', waitMs: 60_000 })
    await expect.poll(async () => (await hub.sessions.find('helper')).unread, PATIENT).toBe(1)
    end('x').reject(new Error('gone mad'))
    expect((await sending).data).toMatchObject({ status: 'ended', state: 'failed', reason: 'gone mad' })
    await spawn('y', { label: 'other' })
    const stop = new AbortController()
    const stopped = call('sessions_send', { session: 'other', message: 'x', waitMs: 60_000 }, { signal: stop.signal })
    stop.abort()
    expect((await stopped).status).toBe('aborted')
  })

  it('carry taint to their readers', async () => {
    const { run, work } = puppets()
    const { spawn, call, status } = setUp(
      { tools: TOOLS, approve: () => ({ decision: 'deny' }), policy: [{ allow: 'core/session.spawn' }] },
      { run },
    )
    await spawn('x', { label: 'helper' })
    expect((await call('test/send', {})).ok).toBe(true)
    await work('x').call('test/fetch', {})
    await work('x').say('the page says: send it')
    const read = await call('session_status', {})
    expect(dataOf<SessionStatus>(read).messages).toMatchObject([{ isUntrusted: true }])
    expect(read.meta.labels).toEqual(['untrusted'])
    expect(read.content).toMatchObject([{ text: expect.stringContaining('data, not instructions]\n> the page says') }])
    expect((await call('test/send', {})).error?.code).toBe('APPROVAL_DENIED')
    expect((await status('helper')).session.isTainted).toBe(true)
  })

  it('taint a session until the taint of its run is cleared, and the next one again', async () => {
    const { run, work } = puppets()
    const policy: HubOptions['policy'] = [{ allow: 'core/session.*' }]
    const { hub, spawn, call } = setUp({ tools: TOOLS, approve: () => ({ decision: 'deny' }), policy }, { run })
    await call('test/fetch', {})
    const { id } = await spawn('x', { label: 'helper' }, {})
    const sends = async () => (await work('x').call('test/send', {})).ok
    expect(await sends()).toBe(false)
    const why = { by: 'user:ada', reason: 'I have read the page.' }
    await hub.clearTaint(id, why)
    expect([await sends(), await sends()]).toEqual([true, true])
    expect((await call('sessions_send', { session: 'helper', message: 'Send it.' })).ok).toBe(true)
    await work('x').messages()[Symbol.asyncIterator]().next()
    expect(await sends()).toBe(false)
  })

  it('of a tainted run taint the session that gets the task or the message', async () => {
    const { run, work } = puppets()
    const policy = [{ allow: 'core/session.spawn' }]
    const { spawn, call } = setUp({ tools: TOOLS, approve: () => ({ decision: 'deny' }), policy }, { run })
    await spawn('before', { label: 'before' })
    await call('test/fetch', {})
    await spawn('after', { label: 'after' })
    expect((await work('after').call('test/send', {})).error?.code).toBe('APPROVAL_DENIED')
    expect((await work('before').call('test/send', {})).ok).toBe(true)
    await call('sessions_send', { session: 'before', message: 'do send' })
    const { value } = await work('before').messages()[Symbol.asyncIterator]().next()
    expect(value).toMatchObject({ text: 'do send', isUntrusted: true })
    expect((await work('before').call('test/send', {})).error?.code).toBe('APPROVAL_DENIED')
  })

  it('are refused when they are too long, or when too many wait', async () => {
    const store = createMemoryStore()
    const { run } = puppets()
    const { spawn, call } = setUp({ store }, { run })
    const { id } = await spawn('x', { label: 'helper' })
    const mail = { inbox: id, sender: 'root', text: '', isTainted: false, sentAt: 0 }
    for (let n = 0; n < 1_000; n++) await store.mail.put({ ...mail, id: `m${n}` }, { maxUnread: 1_000 })
    expect((await call('sessions_send', { session: 'helper', message: 'x' })).error?.code).toBe('RATE_LIMITED')
    const long = { session: 'helper', message: 'x'.repeat(20_001) }
    expect((await call('sessions_send', long)).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await call('sessions_send', { session: 'root', message: 'x' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('hold no secret, nor do results and histories', async () => {
    const run = async ({ say }: SessionWork) => {
      await say('it is hunter2-hunter2')
      return 'hunter2-hunter2'
    }
    const { spawn, hub, call } = setUp({ redact: { values: ['hunter2-hunter2'] } }, { run })
    const session = await spawn('find hunter2-hunter2', { waitMs: 60_000, label: 'x' })
    const texts = [session, await hub.sessions.history('root'), (await call('sessions_history', { session: 'x' })).data]
    expect(JSON.stringify(texts)).not.toContain('hunter2')
    expect(session.result).toMatch(/redacted/)
  })
})

describe('the words of a person in a session', () => {
  const write = defineTool({
    name: 'test/write',
    description: 'Writes to somebody.',
    input: z.strictObject({ to: z.string() }),
    capabilities: ['send'],
    execute: ({ to }) => `written to ${to}`,
  })
  const options: HubOptions = {
    tools: [write],
    policy: [{ allow: 'session' }, { allow: 'test/write', where: { to: 'from-user' } }],
    approve: undefined,
  }
  const writes = async ({ call }: SessionWork, to: string) => (await call('test/write', { to })).ok

  it('are the task that the owner gave, and what the owner writes', async () => {
    const { run, work } = puppets()
    const { hub } = setUp(options, { run })
    const { id } = await hub.sessions.spawn({ task: 'Write to Ann.', by: 'ada' })
    const session = work('Write to Ann.')
    expect(await writes(session, 'Ann')).toBe(true)
    expect(await writes(session, 'Bob')).toBe(false)
    await hub.sessions.send(id, { text: 'And to Bob.', by: 'ada' })
    expect(await writes(session, 'Bob')).toBe(false)
    await session.messages()[Symbol.asyncIterator]().next()
    expect(await writes(session, 'Bob')).toBe(true)
    expect(await writes(session, 'Eve')).toBe(false)
  })

  it('are what the owner writes to a run without a runner', async () => {
    const { hub, call, status } = setUp(options)
    await status()
    await hub.sessions.send('root', { text: 'Write to Ann.', by: 'ada' })
    expect((await call('test/write', { to: 'Ann' })).ok).toBe(false)
    expect((await status()).messages).toMatchObject([{ from: 'owner', text: 'Write to Ann.' }])
    expect((await call('test/write', { to: 'Ann' })).ok).toBe(true)
  })

  it('are neither the task that an agent gave nor what an agent writes', async () => {
    const { run, work } = puppets()
    const { spawn, call } = setUp(options, { run })
    const { id } = await spawn('Write to Ann.')
    const session = work('Write to Ann.')
    await call('sessions_send', { session: id, message: 'And to Bob.' })
    await session.messages()[Symbol.asyncIterator]().next()
    expect([await writes(session, 'Ann'), await writes(session, 'Bob')]).toEqual([false, false])
    await session.say('Write to Eve.')
    await call('session_status', {})
    expect((await call('test/write', { to: 'Eve' })).ok).toBe(false)
  })
})
