import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import type { HubOptions } from '../../../core/src/options.ts'
import { readEvents } from '../../../runtime/src/records/log/read-events.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { SessionWork } from './runner.ts'

const PATIENT = { timeout: 100_000, interval: 10 }

const hubs: TestHub[] = []
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

/** Sessions that run until they are stopped; `nest` begins another one first. */
function setUp(options: HubOptions = {}) {
  const signals = new Map<string, AbortSignal>()
  const run = async ({ task, call, signal }: SessionWork) => {
    signals.set(task, signal)
    if (task === 'nest') await call('core/session.spawn', { task: 'nested', label: 'nested' })
    return new Promise<string>(() => {})
  }
  const store = createMemoryStore()
  const hub = testHub({ store, sessions: { runners: { default: { run } } }, ...options }) as TestHub
  hubs.push(hub)
  const spawn = async (task: string, more: object = {}, how: object = {}) => {
    const result = await hub.callDynamic('core/session.spawn', { task, label: task, ...more }, { run: 'root', ...how })
    await expect.poll(() => signals.has(task === 'nest' ? 'nested' : task), PATIENT).toBe(true)
    return result
  }
  const look = async (name: string) => (await hub.sessions.find(name)).session
  return { hub, store, spawn, look, signals }
}

describe('the end of a session', () => {
  it('by the owner ends what it began, tells why, and is on record', async () => {
    const { hub, spawn, look, signals } = setUp()
    await spawn('nest')
    expect(await hub.sessions.end('nest', { by: 'ada', reason: 'enough' })).toBe(true)
    expect(await look('nest')).toMatchObject({ state: 'ended', reason: 'It was ended by ada: enough.' })
    expect(await look('nested')).toMatchObject({ state: 'ended', reason: expect.stringContaining('started it') })
    expect([...signals.values()].every(({ aborted }) => aborted)).toBe(true)
    expect(await hub.sessions.end('nest', { by: 'ada' })).toBe(false)
    const changes = []
    for await (const event of readEvents(`${hub.folder}/runs/${hub.run}`)) changes.push(event)
    expect(changes).toContainEqual(expect.objectContaining({ type: 'hub-changed', change: 'session-ended', by: 'ada' }))
  })

  it('comes with the end of the run that began it', async () => {
    const { hub, spawn, look } = setUp()
    await spawn('nest')
    await hub.endRun('root')
    for (const name of ['nest', 'nested', 'root']) expect((await look(name)).state).toBe('ended')
    expect((await hub.callDynamic('core/session.status', {}, { run: 'root' })).data).toMatchObject({
      session: { state: 'running' },
    })
  })

  it('comes when the call that waits for it is stopped, not when its wait is over', async () => {
    const { hub, spawn, look } = setUp()
    expect((await spawn('one', { waitMs: 1 })).data).toMatchObject({ session: { state: 'running' } })
    const stop = new AbortController()
    const waiting = hub.callDynamic(
      'core/session.spawn',
      { task: 'two', label: 'two', waitMs: 60_000 },
      { run: 'root', signal: stop.signal },
    )
    await expect.poll(async () => (await hub.sessions.list({ state: 'running' })).sessions.length, PATIENT).toBe(3)
    stop.abort()
    expect((await waiting).status).toBe('aborted')
    expect(await look('two')).toMatchObject({ state: 'ended', reason: 'The call that started it was stopped.' })
    expect((await look('one')).state).toBe('running')
  })

  it('comes with the end of its hub, and ends every wait', async () => {
    const { hub, store, spawn } = setUp()
    await spawn('nest')
    const waiting = hub.callDynamic(
      'core/session.send',
      { session: 'nest', message: 'x', waitMs: 60_000 },
      { run: 'root' },
    )
    await expect.poll(async () => (await hub.sessions.find('nest')).unread, PATIENT).toBe(1)
    await hub.close()
    expect((await waiting).ok).toBe(false)
    const states = (await store.sessions.list({})).map(({ label, state }) => `${label} ${state}`)
    expect(states.toSorted()).toEqual(['nest failed', 'nested failed', 'undefined ended'])
  })

  it('that another hub with the same store brings is heard', async () => {
    const { store, spawn, signals } = setUp()
    const other = testHub({ store }) as TestHub
    hubs.push(other)
    await spawn('one')
    expect((await other.sessions.list()).sessions[0]).toMatchObject({ label: 'one', state: 'running' })
    expect(await other.sessions.end('one', { by: 'ada' })).toBe(true)
    await expect.poll(() => signals.get('one')?.aborted, PATIENT).toBe(true)
    expect((await other.sessions.find('one')).session).toMatchObject({ state: 'ended' })
  })
})

describe('the owner', () => {
  it('begins a session, writes to it and gets its answer', async () => {
    const run = async ({ messages, call }: SessionWork) => {
      for await (const { id, from, text } of messages()) {
        const reply = { session: from, message: `${text}, ${from}!`, replyTo: id }
        await call('core/session.send', reply)
        return 'bye'
      }
      return 'nobody wrote'
    }
    const { hub } = setUp({ sessions: { runners: { default: { run } } } })
    const { id } = await hub.sessions.spawn({ task: 'Greet.', by: 'ada' })
    const sent = await hub.sessions.send(id, { text: 'Hello', by: 'ada', waitMs: 60_000 })
    expect(sent).toMatchObject({ status: 'replied', reply: { text: 'Hello, owner!', from: id, to: 'owner' } })
    await expect.poll(async () => (await hub.sessions.find(id)).session.result, PATIENT).toBe('bye')
    const { entries } = await hub.sessions.history(id)
    const told = entries.map((entry) =>
      entry.type === 'call' ? entry.tool : `${entry.message.from} ${entry.message.text}`,
    )
    expect(told).toEqual(['owner Hello', `${id} Hello, owner!`, 'core/session.send'])
    await expect(hub.sessions.find('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('cannot be played by a run of this name', async () => {
    const { hub } = setUp()
    const result = await hub.callDynamic('core/session.status', {}, { run: 'owner' })
    expect(result.error?.code).toBe('NOT_FOUND')
  })

  it('reads a history in pages, in both directions, and misses nothing', async () => {
    const { hub } = setUp()
    for (let n = 0; n < 7; n++) {
      await hub.callDynamic('core/util.time.now', {}, { run: 'root' })
      if (n % 2 === 0)
        await hub.callDynamic('core/session.send', { session: 'owner', message: `m${n}` }, { run: 'root' })
    }
    const whole = await hub.sessions.history('root', { limit: 200 })
    expect(whole.entries).toHaveLength(7 + 4 + 4)
    const back = []
    for (let before: string | undefined; ; ) {
      const page = await hub.sessions.history('root', { limit: 2, before })
      back.unshift(...page.entries)
      if (page.earlier === undefined) break
      before = page.earlier
    }
    expect(back).toEqual(whole.entries)
    const on = []
    for (let after = '0.0'; ; ) {
      const page = await hub.sessions.history('root', { limit: 4, after })
      if (page.entries.length === 0) break
      on.push(...page.entries)
      after = page.later
    }
    expect(on).toEqual(whole.entries)
    await hub.callDynamic('core/util.time.now', {}, { run: 'root' })
    const { entries } = await hub.sessions.history('root', { after: whole.later })
    expect(entries).toMatchObject([{ type: 'call', tool: 'core/util.time.now' }])
    for (const before of ['x', '1', '1.2x', 'x1.2', '1.2.3'])
      await expect(hub.sessions.history('root', { before })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('lists runs that never asked about sessions, page by page', async () => {
    const { hub, store } = setUp()
    const call = { tool: 't', caller: 'c', status: 'ok', seq: 1 }
    const calls = ['a', 'b', 'c'].map((run, n) => ({ ...call, callId: run, run, startedAt: n + 1 }))
    await store.calls.put({ calls, runs: calls.map(({ run }) => ({ run, bytes: 1, at: 9 })) })
    await hub.callDynamic('core/session.status', {}, { run: 'b' })
    const seen: string[] = []
    for (let before: string | undefined; ; ) {
      const { sessions, next } = await hub.sessions.list({ limit: 1, before })
      seen.push(...sessions.map(({ id, state }) => `${id} ${state}`))
      if (next === undefined) break
      before = next
    }
    expect(seen).toEqual(['b running', 'c ended', 'a ended'])
    expect((await hub.sessions.find('c')).session).toMatchObject({ id: 'c', state: 'ended' })
    await expect(hub.sessions.end('c', { by: 'ada' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it.each([
    [{ runners: { 'a b': { run: async () => '' } } }, 'letters'],
    [{ runners: { x: { type: 'url', url: 'ftp://x' } } }, 'http'],
    [{ runners: { x: { type: 'url', url: 'http://x', secret: '' } } }, 'environment variable'],
    [{ runners: { x: { type: 'command', argv: [] } } }, 'argv'],
    [{ maxDepth: 11 }, 'maxDepth'],
  ])('learns what is wrong with %j', async (sessions, message) => {
    const { hub } = setUp({ sessions: sessions as HubOptions['sessions'] })
    await expect(hub.sessions.runners()).rejects.toThrow(message)
  })
})
