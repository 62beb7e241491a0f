import { afterEach, describe, expect, it } from 'vitest'
import type { AbilityCall, AbilityHost } from '../../contracts/ability.ts'
import type { SessionsOptions, SessionWork } from '../../contracts/sessions.ts'
import type { Principal } from '../../principal.ts'
import { createMemoryStore } from '../../store/memory/create-memory-store.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { createSessions } from './create-sessions.ts'
import { permitAll } from './permit-all.ts'
import { toBrief, toEntry } from './to-entry.ts'

const closes: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

/** Sessions without a hub around them, whose runner does what a test tells it. */
async function open(options: SessionsOptions = {}, more: Partial<AbilityHost> = {}) {
  const clock = fakeClock(1_000)
  const store = createMemoryStore({ now: () => clock.now() })
  const works = new Map<string, SessionWork>()
  const ends = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>()
  const [recorded, called, ended, warned, marks]: [unknown[], unknown[], string[], string[], true[]] = [
    [],
    [],
    [],
    [],
    [],
  ]
  const run = (work: SessionWork) => {
    works.set(work.task, work)
    return new Promise<string>((resolve, reject) => ends.set(work.task, { resolve, reject }))
  }
  const host = {
    ...{ store, clock, redact: (text: string) => text.replaceAll('hunter2', '[redacted]') },
    ...{ isTainted: () => false, principalNow: (known: Principal) => known, pastCalls: async () => [] },
    warn: (text: string) => void warned.push(text),
    recordChange: async (change: unknown) => void recorded.push(change),
    tellChange: (ability: string, subject: string) =>
      void store.events.append({ topic: 'ability', body: JSON.stringify({ ability, subject }), at: 0 }),
    as: (rights: unknown) => ({
      listForLLM: () => [{ name: 't' }],
      call: async (tool: string, input: unknown, { signal: _, ...how }: { signal?: unknown }) => {
        called.push({ tool, input, how, rights })
        return { ok: true }
      },
      endRun: async (id: string) => void ended.push(id),
    }),
    ...more,
  } as unknown as AbilityHost
  const ability = await createSessions({ runners: { default: { run } }, ...options }, host)
  closes.push(() => ability.close())
  const as = (call: Partial<AbilityCall> = {}) =>
    ability.handle({
      ...{ run: 'root', session: 'chat', principal: undefined, rights: { caller: 'me' }, isTainted: false },
      ...{ permits() {}, allows: () => ({ ok: true }), beforeEffect: async () => {} },
      signal: () => new AbortController().signal,
      markUntrusted: () => void marks.push(true),
      ...call,
    } as unknown as AbilityCall)
  return { ability, as, desk: ability.desk, store, clock, works, ends, recorded, called, ended, warned, marks }
}

describe('a session that goes on', () => {
  it('works with its own run and rights, and ends with its result', async () => {
    const { as, desk, works, ends, called, ended } = await open()
    const { id } = await as().spawn({ task: 'Do hunter2.', label: 'helper' })
    const work = works.get('Do hunter2.')!
    expect(work).toMatchObject({ id, label: 'helper', tools: [{ name: 't' }] })
    expect((await desk.find(id)).session).toMatchObject({ task: 'Do [redacted].', state: 'running', parent: 'root' })
    await work.call('t', { a: 1 })
    expect(called).toMatchObject([
      { tool: 't', input: { a: 1 }, how: { run: id, session: 'chat' }, rights: { caller: 'session:helper' } },
    ])
    expect((called[0] as { how: object }).how).not.toHaveProperty('untrusted')
    ends.get('Do hunter2.')!.resolve(`${'x'.repeat(50_000)}y`)
    await expect.poll(async () => (await desk.find(id)).session.state).toBe('ended')
    expect((await desk.find(id)).session.result).toBe(`${'x'.repeat(50_000)}\n[1 characters were cut]`)
    expect(ended).toEqual([id])
    expect(work.signal.aborted).toBe(true)
    await expect(work.call('t', {})).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('lasts an hour, or as long as its runner and its limits say', async () => {
    const hang = () => new Promise<string>(() => {})
    for (const [runner, limits, ms] of [
      [{ run: hang }, {}, 3_600_000],
      [{ run: hang, timeoutMs: 500 }, {}, 500],
      [{ run: hang, timeoutMs: 500 }, { wallMs: 300 }, 300],
    ] as const) {
      const { desk, clock } = await open({ runners: { default: runner } })
      const { id } = await desk.spawn({ task: 'x', by: 'ada', limits })
      await clock.advance(ms - 1)
      expect((await desk.find(id)).session.state).toBe('running')
      await clock.advance(1)
      await expect
        .poll(async () => (await desk.find(id)).session)
        .toMatchObject({
          ...{ state: 'failed', reason: `It was not done after ${ms} ms.` },
        })
    }
  })

  it('fails with a reason of up to 2,000 characters, without secrets', async () => {
    const { as, desk, ends } = await open()
    const { id } = await as().spawn({ task: 'x' })
    ends.get('x')!.reject(new Error(`hunter2${'x'.repeat(2_000)}`))
    await expect
      .poll(async () => (await desk.find(id)).session.reason)
      .toBe(`[redacted]${'x'.repeat(1_990)}\n[10 characters were cut]`)
  })

  it('is one of 16 of its root, of five levels, and of 256 in the process', async () => {
    const { as } = await open()
    for (let n = 0; n < 16; n++) await as().spawn({ task: `t${n}` })
    await expect(as().spawn({ task: 'one more' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: '16 sessions go on already below this root, which is the limit.',
      fix: { key: 'sessions.maxRunning', hint: 'Wait until one has ended; core/session.list shows them.' },
    })
    const deep = await open()
    let run = 'root'
    for (let n = 0; n < 5; n++)
      run = (await deep.as({ run, principal: run === 'root' ? undefined : `owner/${run}` }).spawn({ task: `t${n}` })).id
    await expect(deep.as({ run, principal: `owner/${run}` }).spawn({ task: 'deeper' })).rejects.toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: '5 sessions lie above a new one, at most 5 may.',
      fix: { key: 'sessions.maxDepth', hint: 'Do it in this session, or have the owner raise sessions.maxDepth.' },
    })
    const small = await open({ maxRunning: 1 })
    for (let n = 0; n < 16; n++) await small.as({ run: `r${n}` }).spawn({ task: `t${n}` })
    await expect(small.as({ run: 'r16' }).spawn({ task: 'x' })).rejects.toThrow(
      '16 sessions go on already in this process',
    )
  })

  it('writes to the one that began it, or to the owner', async () => {
    const { as, desk, works } = await open()
    await as().spawn({ task: 'child' })
    await works.get('child')!.say('Hi')
    expect((await as().status()).messages).toMatchObject([{ text: 'Hi', isUntrusted: false }])
    const { id } = await desk.spawn({ task: 'top', by: 'ada' })
    await works.get('top')!.say('Hello')
    const { entries } = await desk.history(id)
    expect(entries).toMatchObject([{ message: { from: id, to: 'owner', text: 'Hello' } }])
  })
})

describe('the owner of sessions', () => {
  it('begins, writes to and ends them, on record', async () => {
    const { desk, recorded, works } = await open()
    const { id } = await desk.spawn({ task: 'x', by: 'ada' })
    expect(await desk.send(id, { text: 'Hi', by: 'ada' })).toMatchObject({
      session: id,
      status: 'sent',
      state: 'running',
    })
    expect(await desk.end(id, { by: 'ada' })).toBe(true)
    expect((await desk.find(id)).session).toMatchObject({ state: 'ended', reason: 'It was ended by ada.' })
    expect(await desk.end(id, { by: 'ada' })).toBe(false)
    expect(recorded).toEqual([
      { by: 'ada', change: 'session-begun', subject: id },
      { by: 'ada', change: 'message-sent', subject: `session ${id}` },
      { by: 'ada', change: 'session-ended', subject: id },
    ])
    expect(works.get('x')!.signal.aborted).toBe(true)
    expect(await desk.runners()).toEqual([{ name: 'default' }])
  })

  it('lists 50 without a limit, 200 at most, newest first, in pages that miss nothing', async () => {
    const { desk, store, clock } = await open()
    for (let n = 0; n < 201; n++) {
      await clock.advance(1)
      await store.sessions.add({
        ...{
          id: `s${n}`,
          root: `s${n}`,
          depth: 0,
          rootPrincipal: 'owner',
          isTainted: false,
          createdAt: clock.now(),
          owner: 'x',
        },
      })
      await store.sessions.end(`s${n}`, { state: 'ended', at: clock.now() })
    }
    const page = async (wish?: object) => {
      const { sessions, next } = await desk.list(wish)
      return [sessions.length, sessions[0]?.id, sessions.at(-1)?.id, next]
    }
    expect(await page()).toEqual([50, 's200', 's151', '1152'])
    expect(await page({ limit: 999 })).toEqual([200, 's200', 's1', '1002'])
    expect(await page({ limit: 999, before: '1002' })).toEqual([1, 's0', 's0', undefined])
    expect(await page({ limit: 0 })).toEqual([1, 's200', 's200', '1201'])
    expect(await page({ state: 'running' })).toEqual([0, undefined, undefined, undefined])
    expect(await page({ state: 'failed' })).toEqual([0, undefined, undefined, undefined])
  })

  it('gets those of one millisecond in one page', async () => {
    const { desk, store } = await open()
    for (let n = 0; n < 3; n++)
      await store.sessions.add({
        ...{
          id: `s${n}`,
          root: `s${n}`,
          depth: 0,
          rootPrincipal: 'owner',
          isTainted: false,
          createdAt: n < 1 ? 1 : 2,
          owner: 'x',
        },
      })
    const { sessions, next } = await desk.list({ limit: 1 })
    expect([sessions.map(({ id }) => id), next]).toEqual([['s2', 's1'], '2'])
    expect((await desk.list({ limit: 1, before: next })).sessions.map(({ id }) => id)).toEqual(['s0'])
  })
})

describe('a call that uses sessions', () => {
  it('does not write to itself', async () => {
    const { as } = await open()
    await expect(as().send('root', { text: 'x' })).rejects.toThrow('A session does not write to itself.')
  })

  it('writes to the owner, or to a session, without waiting', async () => {
    const { as } = await open()
    const { id } = await as().spawn({ task: 'x' })
    expect(await as().send('owner', { text: 'Hi' })).toEqual({
      ...{ message: expect.stringMatching(/^message-/), session: 'owner', status: 'sent', state: 'running' },
    })
    expect(await as().send(id, { text: 'Hi' })).toMatchObject({ session: id, status: 'sent', state: 'running' })
  })

  it('sees how a session is', async () => {
    const { as, marks } = await open()
    const { id } = await as().spawn({ task: 'x', label: 'helper', limits: { calls: 5 } })
    await as().send(id, { text: 'Hi' })
    expect(await as().status('helper')).toEqual({
      session: {
        ...{ id, label: 'helper', parent: 'root', runner: 'default', state: 'running', root: 'root', task: 'x' },
        ...{ principal: `owner/${id}`, isTainted: false, createdAt: '1970-01-01T00:00:01.000Z' },
      },
      budget: { used: { calls: 0, wallMs: 0, cost: 0 }, limits: { calls: 5 } },
      ...{ children: [], messages: [], unread: 1 },
    })
    expect(await as().status()).toMatchObject({ session: { id: 'root' }, children: [{ id }], messages: [], unread: 0 })
    expect(await as().status()).not.toHaveProperty('budget')
    expect(await as().list({})).toMatchObject({
      own: 'root',
      sessions: [{ id }, { id: 'root' }],
      runners: [{ name: 'default' }],
    })
    expect(await as().list({})).not.toHaveProperty('next')
    expect((await as().list({ limit: 1 })).next).toMatch(/^\d+$/)
    expect(marks).toEqual([])
  })

  it('is held to what the rules say of each name of a session', () => {
    const allow = (answer: object, isApproved = false) =>
      permitAll({ permits() {}, allows: () => answer, isApproved } as unknown as AbilityCall, 'helper', {
        id: 's1',
        label: 'helper',
      } as never)
    const denied = { ok: false, effect: 'deny', why: 'denied by rule 1' }
    expect(() => allow({ ok: true })).not.toThrow()
    expect(() => allow(denied)).toThrow(
      expect.objectContaining({
        code: 'POLICY_DENIED',
        message: 'The session helper is also s1, which is denied by rule 1.',
      }),
    )
    expect(() => allow(denied, true)).toThrow('denied by rule 1')
    expect(() => allow({ ...denied, effect: 'ask' })).toThrow(
      expect.objectContaining({ fix: { hint: 'Call it s1, so that a person can be asked.' } }),
    )
    expect(() => allow({ ...denied, effect: 'ask' }, true)).not.toThrow()
  })
})

it('a session is shown with what is known of it, and nothing else', () => {
  const row = {
    id: 's1',
    root: 's1',
    depth: 0,
    rootPrincipal: 'owner',
    isTainted: true,
    createdAt: 0,
    owner: 'x',
    seq: 1,
    state: 'running',
  } as const
  expect(toBrief(row)).toEqual({ id: 's1', state: 'running', createdAt: '1970-01-01T00:00:00.000Z' })
  const whole = {
    label: 'l',
    parent: 'p',
    runner: 'r',
    endedAt: 1,
    principal: 'n',
    task: 't',
    reason: 'w',
    result: 'd',
  }
  expect(toEntry({ ...row, ...whole, state: 'ended' }, false)).toEqual({
    ...{ ...whole, id: 's1', root: 's1', state: 'ended', isTainted: false },
    ...{ createdAt: '1970-01-01T00:00:00.000Z', endedAt: '1970-01-01T00:00:00.001Z' },
  })
  expect(toEntry(row)).toEqual({
    id: 's1',
    root: 's1',
    state: 'running',
    isTainted: true,
    createdAt: '1970-01-01T00:00:00.000Z',
  })
})
