import { describe, expect, it } from 'vitest'
import { useBareSessions } from '../../../../test/support/bare-sessions.ts'

const open = useBareSessions()

describe('a running session', () => {
  it('works with its own run and rights, and ends with its result', async () => {
    const { as, service, works, ends, called, ended } = await open()
    const { id } = await as().spawn({ task: 'Do hunter2.', label: 'helper' })
    const work = works.get('Do hunter2.')!
    expect(work).toMatchObject({ id, label: 'helper', tools: [{ name: 't' }] })
    expect((await service.find(id)).session).toMatchObject({ task: 'Do [redacted].', state: 'running', parent: 'root' })
    await work.call('t', { a: 1 })
    expect(called).toMatchObject([
      { tool: 't', input: { a: 1 }, how: { run: id, session: 'chat' }, rights: { caller: 'session:helper' } },
    ])
    expect((called[0] as { how: object }).how).not.toHaveProperty('untrusted')
    ends.get('Do hunter2.')!.resolve(`${'x'.repeat(50_000)}y`)
    await expect.poll(async () => (await service.find(id)).session.state).toBe('ended')
    expect((await service.find(id)).session.result).toBe(`${'x'.repeat(50_000)}\n[1 characters were cut]`)
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
      const { service, clock } = await open({ runners: { default: runner } })
      const { id } = await service.spawn({ task: 'x', by: 'ada', limits })
      await clock.advance(ms - 1)
      expect((await service.find(id)).session.state).toBe('running')
      await clock.advance(1)
      await expect
        .poll(async () => (await service.find(id)).session)
        .toMatchObject({
          ...{ state: 'failed', reason: `It was not done after ${ms} ms.` },
        })
    }
  })

  it('fails with a reason of up to 2,000 characters, without secrets', async () => {
    const { as, service, ends } = await open()
    const { id } = await as().spawn({ task: 'x' })
    ends.get('x')!.reject(new Error(`hunter2${'x'.repeat(2_000)}`))
    await expect
      .poll(async () => (await service.find(id)).session.reason)
      .toBe(`[redacted]${'x'.repeat(1_990)}\n[10 characters were cut]`)
  })

  it('is one of 16 of its root, of five levels, and of 256 in the process', async () => {
    const { as } = await open()
    for (let n = 0; n < 16; n++) await as().spawn({ task: `t${n}` })
    await expect(as().spawn({ task: 'one more' })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: '16 sessions are already running below this root, which is the limit.',
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
      '16 sessions are already running in this process',
    )
  })

  it('writes to the one that began it, or to the owner', async () => {
    const { as, service, works } = await open()
    await as().spawn({ task: 'child' })
    await works.get('child')!.say('Hi')
    expect((await as().status()).messages).toMatchObject([{ text: 'Hi', isUntrusted: false }])
    const { id } = await service.spawn({ task: 'top', by: 'ada' })
    await works.get('top')!.say('Hello')
    const { entries } = await service.history(id)
    expect(entries).toMatchObject([{ message: { from: id, to: 'owner', text: 'Hello' } }])
  })
})

describe('the end of a session', () => {
  it('comes when its principal no longer exists', async () => {
    const gone = new Set<string>()
    const { as, service, works } = await open(
      {},
      { principalNow: (known) => (gone.has(known.name) ? undefined : known) },
    )
    const rights = { caller: 'me', principal: { name: 'token:ci' } }
    const { id } = await as({ principal: 'token:ci', rights }).spawn({ task: 'x' })
    await works.get('x')!.call('t', {})
    gone.add('token:ci')
    await expect(works.get('x')!.call('t', {})).rejects.toMatchObject({ code: 'ABORTED' })
    await expect
      .poll(async () => (await service.find(id)).session)
      .toMatchObject({
        ...{ state: 'failed', reason: 'The principal that it worked for no longer exists.' },
      })
  })

  it('ends what it began, as does the end of its run, and it begins nothing more', async () => {
    const { feature, as, service } = await open()
    const { id } = await as().spawn({ task: 'x' })
    const below = await as({ run: id, principal: `owner/${id}` }).spawn({ task: 'y' })
    await service.end(id, { by: 'ada', reason: 'hunter2' })
    expect((await service.find(id)).session.reason).toBe('It was ended by ada: [redacted].')
    expect((await service.find(below.id)).session).toMatchObject({
      ...{ state: 'ended', reason: `The session that started it, ${id}, is over.` },
    })
    await expect(as({ run: id, principal: `owner/${id}` }).spawn({ task: 'z' })).rejects.toMatchObject({
      ...{ code: 'CONFLICT', message: `The session ${id} is over, so it cannot start another one.` },
    })
    const other = await as().spawn({ task: 'other' })
    await feature.endRun!('root')
    expect((await service.find('root')).session).toMatchObject({ state: 'ended', reason: 'Its run was ended.' })
    expect((await service.find(other.id)).session.state).toBe('ended')
  })

  it('comes with that of the hub', async () => {
    const { feature, as, store, works } = await open()
    const { id } = await as().spawn({ task: 'x' })
    feature.calm!()
    expect(works.get('x')!.signal.aborted).toBe(true)
    await expect(as().spawn({ task: 'y' })).rejects.toThrow('The hub was closed before it was done.')
    await feature.close()
    expect(await store.sessions.find(id)).toMatchObject({
      state: 'failed',
      reason: 'The hub was closed before it was done.',
    })
    expect(await store.sessions.find('root')).toMatchObject({ state: 'ended' })
  })
})

describe('content from outside', () => {
  it('in the task or in a message taints the calls of a session', async () => {
    const { as, called, works, store } = await open()
    await as({ isTainted: true }).spawn({ task: 'tainted' })
    await works.get('tainted')!.call('t', {})
    expect(called.at(-1)).toMatchObject({ how: { untrusted: true } })
    const { id } = await as({ run: 'clean' }).spawn({ task: 'clean' })
    const next = async () => (await works.get('clean')!.messages()[Symbol.asyncIterator]().next()).value
    await as({ run: 'clean' }).send(id, { text: 'fine' })
    expect(await next()).toMatchObject({ text: 'fine', isUntrusted: false })
    await works.get('clean')!.call('t', {})
    expect((called.at(-1) as { how: object }).how).not.toHaveProperty('untrusted')
    await as({ run: 'clean', isTainted: true }).send(id, { text: 'strange' })
    expect(await next()).toMatchObject({ text: 'strange', isUntrusted: true })
    await works.get('clean')!.call('t', {})
    expect(called.at(-1)).toMatchObject({ how: { untrusted: true } })
    expect(await store.sessions.find(id)).toMatchObject({ isTainted: true })
  })

  it('is the label that a tainted session gives to its own, and not one that the caller gave', async () => {
    const { as, marks, store } = await open()
    const { id } = await as({ isTainted: true }).spawn({ task: 'one', label: 'mine' })
    await as().list({})
    expect(marks).toEqual([])
    const principal = (await store.sessions.find(id))?.principal
    await as({ run: id, principal, isTainted: true }).spawn({ task: 'two', label: 'SEND-ALL' })
    expect((await as().list({})).sessions.map(({ label }) => label)).toContain('SEND-ALL')
    expect(marks).toHaveLength(1)
  })

  it('is what a tainted session shows, says and gives', async () => {
    const { as, works, ends, marks } = await open()
    const spawning = as({ isTainted: true }).spawn({ task: 'x', label: 'helper', waitMs: 60_000 })
    await expect.poll(() => ends.has('x')).toBe(true)
    await works.get('x')!.say('Hi')
    ends.get('x')!.resolve('done')
    expect(await spawning).toMatchObject({ state: 'ended', result: 'done', isTainted: true })
    const counts = [marks.length]
    for (const look of [() => as().status('helper'), () => as().history('helper', {}), () => as().status()]) {
      await look()
      counts.push(marks.length)
    }
    expect(counts).toEqual([1, 2, 4, 5])
  })
})
