import { ToolError } from '@tool-hub/core/errors'
import type { FeatureCall } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import { useBareSessions } from '../../../../test/support/bare-sessions.ts'
import { toBrief, toEntry } from './describe-session.ts'
import { permitAll } from './session-handle.ts'

const open = useBareSessions()

describe('the owner of sessions', () => {
  it('begins, writes to and ends them, on record', async () => {
    const { service, recorded, works } = await open()
    const { id } = await service.spawn({ task: 'x', by: 'ada' })
    expect(await service.send(id, { text: 'Hi', by: 'ada' })).toMatchObject({
      session: id,
      status: 'sent',
      state: 'running',
    })
    expect(await service.end(id, { by: 'ada' })).toBe(true)
    expect((await service.find(id)).session).toMatchObject({ state: 'ended', reason: 'It was ended by ada.' })
    expect(await service.end(id, { by: 'ada' })).toBe(false)
    expect(recorded).toEqual([
      { by: 'ada', change: 'session-begun', subject: id },
      { by: 'ada', change: 'message-sent', subject: `session ${id}` },
      { by: 'ada', change: 'session-ended', subject: id },
    ])
    expect(works.get('x')!.signal.aborted).toBe(true)
    expect(await service.runners()).toEqual([{ name: 'default' }])
  })

  it('lists 50 without a limit, 200 at most, newest first, in pages that miss nothing', async () => {
    const { service, store, clock } = await open()
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
      const { sessions, next } = await service.list(wish)
      return [sessions.length, sessions[0]?.id, sessions.at(-1)?.id, next]
    }
    expect(await page()).toEqual([50, 's200', 's151', '1152'])
    expect(await page({ limit: 999 })).toEqual([200, 's200', 's1', '1002'])
    expect(await page({ limit: 999, before: '1002' })).toEqual([1, 's0', 's0', undefined])
    expect(await page({ limit: 0 })).toEqual([1, 's200', 's200', '1201'])
    expect(await page({ state: 'running' })).toEqual([0, undefined, undefined, undefined])
    expect(await page({ state: 'failed' })).toEqual([0, undefined, undefined, undefined])
  })

  it('sees runs among the sessions, in the order of time', async () => {
    const { service, store } = await open()
    const call = { tool: 't', caller: 'c', status: 'ok', seq: 1 }
    const calls = [1, 3].map((at) => ({ ...call, callId: `c${at}`, run: `run${at}`, startedAt: at }))
    await store.calls.put({ calls, runs: calls.map(({ run }) => ({ run, bytes: 1, at: 9 })) })
    for (const createdAt of [2, 4])
      await store.sessions.add({
        ...{
          id: `s${createdAt}`,
          root: 'x',
          depth: 0,
          rootPrincipal: 'owner',
          isTainted: false,
          createdAt,
          owner: 'x',
        },
      })
    const ids = async (wish?: object) => (await service.list(wish)).sessions.map(({ id }) => id)
    expect(await ids()).toEqual(['s4', 'run3', 's2', 'run1'])
    expect(await ids({ state: 'failed' })).toEqual([])
    expect((await service.find('run1')).session).toMatchObject({
      ...{
        id: 'run1',
        root: 'run1',
        state: 'ended',
        principal: 'c',
        isTainted: false,
        createdAt: '1970-01-01T00:00:00.001Z',
      },
    })
    await expect(service.end('run1', { by: 'ada' })).rejects.toThrow('run1 is a run without a session.')
  })

  it('gets those of one millisecond in one page', async () => {
    const { service, store } = await open()
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
    const { sessions, next } = await service.list({ limit: 1 })
    expect([sessions.map(({ id }) => id), next]).toEqual([['s2', 's1'], '2'])
    expect((await service.list({ limit: 1, before: next })).sessions.map(({ id }) => id)).toEqual(['s0'])
  })
})

describe('a call that waits', () => {
  it('has the answer, or the end of the other session, when it comes', async () => {
    const { as, service, works } = await open()
    const { id } = await as().spawn({ task: 'x' })
    const ask = () => as().send(id, { text: 'Well?', waitMs: 60_000 })
    const first = ask()
    const { value } = await works.get('x')!.messages()[Symbol.asyncIterator]().next()
    await works.get('x')!.say('Yes.', { replyTo: value!.id })
    expect(await first).toMatchObject({
      status: 'replied',
      reply: { text: 'Yes.', replyTo: value!.id },
      state: 'running',
    })
    const second = ask()
    await expect.poll(async () => (await service.find(id)).unread).toBe(1)
    await service.end(id, { by: 'ada' })
    expect(await second).toMatchObject({ status: 'ended', state: 'ended', reason: 'It was ended by ada.' })
  })

  it('stops the session that it began when it is stopped', async () => {
    const { as, service, ends } = await open()
    const stop = new AbortController()
    const spawning = as({ signal: () => stop.signal }).spawn({ task: 'x', label: 'helper', waitMs: 60_000 })
    spawning.catch(() => {})
    await expect.poll(() => ends.has('x')).toBe(true)
    stop.abort(new ToolError('ABORTED', 'enough'))
    await expect(spawning).rejects.toThrow('enough')
    expect((await service.find('helper')).session).toMatchObject({
      state: 'ended',
      reason: 'The call that started it was stopped.',
    })
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
      permitAll({ permits() {}, allows: () => answer, isApproved } as unknown as FeatureCall, 'helper', {
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
