import { describe, expect, it } from 'vitest'
import { dataOf, PATIENT, puppets, TOOLS, useSessions } from '../../../../test/support/session-hub.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { SessionWork } from './runner.ts'

const setUp = useSessions()

describe('a session that an agent begins', () => {
  it('works on its task with its own run, and gives its result', async () => {
    const { spawn, call, hub } = setUp(
      { tools: TOOLS },
      {
        run: async (work) => {
          const result = await work.call('test_note', {})
          return `${work.task} ${work.label} ${result.data} ${work.tools.some(({ name }) => name === 'test_note')}`
        },
      },
    )
    const session = await spawn('Note.', { label: 'helper', waitMs: 60_000 })
    expect(session).toMatchObject({
      state: 'ended',
      result: 'Note. helper noted true',
      runner: 'default',
      parent: 'root',
    })
    const history = await call('sessions_history', { session: 'helper' })
    expect(dataOf<{ entries: object[] }>(history).entries).toMatchObject([
      { type: 'call', tool: 'test/note', status: 'ok' },
    ])
    const list = dataOf<{ own: string; sessions: { id: string }[] }>(await call('sessions_list', {}))
    expect(list).toMatchObject({ own: 'root', sessions: [{ id: session.id }, { id: 'root', state: 'running' }] })
    expect((await hub.sessions.list()).sessions.map(({ id }) => id)).toEqual([session.id, 'root'])
  })

  it('is asked about by default, and a rule of the owner can be about its runner', async () => {
    const asked: string[] = []
    const approve: HubOptions['approve'] = ({ tool, targets }) => {
      asked.push(`${tool} ${targets.join()}`)
      return { decision: 'deny', by: 'ada' }
    }
    const run = async () => 'done'
    const sessions = { runners: { default: { run }, researcher: { run } } }
    const { call } = setUp({ approve, sessions })
    expect((await call('sessions_spawn', { task: 'x' })).error?.code).toBe('APPROVAL_DENIED')
    expect(asked).toEqual(['core/session.spawn session runner:default'])
    const ruled = setUp({ approve, sessions, policy: [{ allow: 'core/session.spawn', on: 'runner:researcher' }] })
    expect((await ruled.call('sessions_spawn', { task: 'x', runner: 'researcher', waitMs: 60_000 })).ok).toBe(true)
    expect((await ruled.call('sessions_spawn', { task: 'x' })).error?.code).toBe('APPROVAL_DENIED')
  })

  it('says how to add a runner when there is none, and names those there are', async () => {
    const none = setUp({ sessions: { runners: {} } })
    const result = await none.call('sessions_spawn', { task: 'x' })
    expect(result.error).toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'sessions.runners' } })
    const one = setUp()
    expect((await one.call('sessions_spawn', { task: 'x', runner: 'defualt' })).error).toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'Did you mean default?' },
    })
  })

  it.each([
    [{ task: ' ' }, 'INPUT_SCHEMA_INVALID'],
    [{ task: 'x', label: 'owner' }, 'INPUT_SCHEMA_INVALID'],
    [{ task: 'x', label: 'two words' }, 'INPUT_SCHEMA_INVALID'],
    [{ task: 'x', runner: 'constructor' }, 'NOT_FOUND'],
    [{ task: 'x', limits: { calls: 0 } }, 'INPUT_SCHEMA_INVALID'],
  ])('is refused with %j', async (input, code) => {
    const { call } = setUp()
    expect((await call('sessions_spawn', input)).error?.code).toBe(code)
  })

  it('fails with its runner, with a reason', async () => {
    const { spawn } = setUp({}, { run: async () => Promise.reject(new Error('no model today')) })
    expect(await spawn('x', { waitMs: 60_000 })).toMatchObject({ state: 'failed', reason: 'no model today' })
  })

  it('fails when it is not done in time, though its code does not heed that', async () => {
    const clock = fakeClock()
    const { spawn, status } = setUp({ clock }, { run: () => new Promise(() => {}) })
    const { id } = await spawn('x', { limits: { wallMs: 1_000 } })
    await clock.advance(1_001)
    expect((await status(id)).session).toMatchObject({ state: 'failed', reason: 'It was not done after 1000 ms.' })
  })

  it('may lie so deep and no deeper, and so many may run concurrently', async () => {
    const { run, work } = puppets()
    const { spawn, call } = setUp({ sessions: { maxDepth: 2, maxRunning: 2, runners: { default: { run } } } })
    await spawn('one')
    const nested = await work('one').call('core/session.spawn', { task: 'two' })
    expect(nested.ok).toBe(true)
    expect((await call('sessions_spawn', { task: 'three' })).error).toMatchObject({ code: 'RATE_LIMITED' })
    const deeper = await work('two').call('core/session.spawn', { task: 'three' })
    expect(deeper.error).toMatchObject({ code: 'BUDGET_EXCEEDED', fix: { key: 'sessions.maxDepth' } })
  })
})

describe('the rights of a session', () => {
  it('are at most those of its creator, and less if its runner has lower ones', async () => {
    const seen: (string | undefined)[] = []
    const run = async ({ call }: SessionWork) => {
      for (const tool of ['test/note', 'test/send', 'test/fetch', 'core/util.time.now'])
        seen.push((await call(tool, {})).error?.code)
      return 'done'
    }
    const policy = [{ allow: 'core/session.spawn' }]
    const { hub } = setUp({
      tools: TOOLS,
      policy,
      sessions: { runners: { default: { run, tools: ['test/note', 'test/send', 'test/fetch'] } } },
    })
    const ci = hub.as({
      name: 'token:ci',
      policy: [{ deny: 'send' }],
      visibility: { deny: ['test/fetch'] },
    })
    const spawned = await ci.callDynamic('core/session.spawn', { task: 'x', waitMs: 60_000 })
    expect(spawned.data).toMatchObject({
      session: { state: 'ended', principal: expect.stringMatching(/^token:ci\/session-/) },
    })
    expect(seen).toEqual([undefined, 'POLICY_DENIED', 'TOOL_DISABLED', 'TOOL_DISABLED'])
  })

  it('keep to the capabilities that its beginner was granted', async () => {
    const seen: (string | undefined)[] = []
    const run = async ({ call }: SessionWork) => {
      seen.push((await call('test/send', {})).error?.code)
      return 'done'
    }
    const { spawn } = setUp({ tools: TOOLS }, { run })
    await spawn('x', { waitMs: 60_000 }, { grants: ['session'] })
    expect(seen).toEqual(['POLICY_DENIED'])
  })

  it('have a budget of their own, which comes out of that of the run above and of its session', async () => {
    const codes: (string | undefined)[] = []
    const run = async ({ call }: SessionWork) => {
      for (let n = 0; n < 3; n++) codes.push((await call('test/note', {})).error?.code)
      return 'done'
    }
    const { spawn, call, status } = setUp({ tools: TOOLS, limits: { run: { calls: 6 } } }, { run })
    const { id } = await spawn('x', { limits: { calls: 2 }, waitMs: 60_000 })
    expect(codes).toEqual([undefined, undefined, 'BUDGET_EXCEEDED'])
    expect((await status(id)).budget).toMatchObject({ used: { calls: 2 }, limits: { calls: 2 } })
    for (let n = 0; n < 2; n++) await call('test/note', {})
    expect((await call('test/note', {})).error).toMatchObject({ code: 'BUDGET_EXCEEDED' })
    const other = setUp({ tools: TOOLS, limits: { session: { calls: 3 } } }, { run })
    codes.length = 0
    await other.spawn('x', { waitMs: 60_000 }, { session: 'chat' })
    expect(codes).toEqual([undefined, undefined, 'BUDGET_EXCEEDED'])
  })

  it('are counted by its run if it has no limits, from its first call on', async () => {
    const run = async ({ task, call }: SessionWork) => {
      for (let n = 0; n < Number(task); n++) await call('test/note', {})
      return 'done'
    }
    const { spawn, status } = setUp({ tools: TOOLS, limits: { run: { calls: 9 } } }, { run })
    const used = async (calls: string) => (await status((await spawn(calls, { waitMs: 60_000 })).id)).budget?.used.calls
    expect([await used('0'), await used('1'), await used('2')]).toEqual([undefined, 1, 2])
  })

  it('are counted with those of the principal that it works for', async () => {
    const codes: (string | undefined)[] = []
    const run = async ({ call }: SessionWork) => {
      for (let n = 0; n < 3; n++) codes.push((await call('test/note', {})).error?.code)
      return 'done'
    }
    const { hub } = setUp({ tools: TOOLS }, { run })
    const ci = hub.as({ name: 'token:ci', budget: { calls: 3 } })
    await ci.callDynamic('core/session.spawn', { task: 'x', waitMs: 60_000 })
    expect(codes).toEqual([undefined, undefined, 'BUDGET_EXCEEDED'])
    expect((await ci.callDynamic('test/note', {})).error?.code).toBe('BUDGET_EXCEEDED')
  })

  it('end when its principal no longer exists', async () => {
    let isGone = false
    const { run, work } = puppets()
    const { hub } = setUp({ tools: TOOLS, principals: (known) => (isGone ? undefined : known) }, { run })
    const ci = hub.as({ name: 'token:ci' })
    const spawned = await ci.callDynamic('core/session.spawn', { task: 'x' })
    const { id } = dataOf<{ session: { id: string } }>(spawned).session
    expect((await work('x').call('test/note', {})).ok).toBe(true)
    isGone = true
    await expect(work('x').call('test/note', {})).rejects.toMatchObject({ code: 'ABORTED' })
    await expect.poll(async () => (await hub.sessions.find(id)).session.state, PATIENT).toBe('failed')
  })
})

describe('what a session sees', () => {
  it('is what it began and what it came from, and of others not even that they exist', async () => {
    const { run, work } = puppets()
    const { spawn, call } = setUp({ sessions: { runners: { default: { run } } } })
    const a = await spawn('a', { label: 'a' })
    await spawn('b', { label: 'b' })
    await work('a').call('core/session.spawn', { task: 'aa', label: 'aa' })
    const list = async (task: string) =>
      dataOf<{ sessions: { label?: string; id: string }[] }>(await work(task).call('core/session.list', {}))
        .sessions.map(({ label, id }) => label ?? id)
        .toSorted()
    expect(await list('aa')).toEqual(['a', 'aa', 'root'])
    expect(await list('b')).toEqual(['b', 'root'])
    expect(dataOf<{ sessions: object[] }>(await call('sessions_list', {})).sessions).toHaveLength(4)
    for (const tool of ['status', 'history', 'send']) {
      for (const session of ['a', a.id, 'nobody']) {
        const input = tool === 'send' ? { session, message: 'x' } : { session }
        const { error } = await work('b').call(`core/session.${tool}`, input)
        expect(error).toMatchObject({ code: 'NOT_FOUND', message: `Session "${session}" not found.` })
      }
    }
    const stranger = await call('session_status', { session: a.id }, { run: 'stranger' })
    expect(stranger.error?.code).toBe('NOT_FOUND')
  })

  it('is all of its principal where the owner says so, and never that of another one', async () => {
    const { hub, call } = setUp({ sessions: { visibility: 'principal' } })
    await call('session_status', {})
    expect((await call('session_status', { session: 'root' }, { run: 'other' })).ok).toBe(true)
    const ci = hub.as({ name: 'token:ci' })
    expect((await ci.callDynamic('core/session.status', { session: 'root' }, { run: 'mine' })).error?.code).toBe(
      'NOT_FOUND',
    )
  })

  it('is not the session of another principal that used a run of this name before', async () => {
    const { hub } = setUp({ runs: false })
    const ask = (name: string) => hub.as({ name }).callDynamic('core/session.status', {}, { run: 'same' })
    expect((await ask('token:a')).error).toBeUndefined()
    await hub.as({ name: 'token:a' }).endRun('same')
    expect((await ask('token:b')).error?.code).toBe('NOT_FOUND')
  })

  it('is held to rules about the id and about the label, by whichever it is called', async () => {
    const { run } = puppets()
    const sessions = { runners: { default: { run } } }
    const { spawn, call } = setUp({ sessions, policy: [{ deny: 'session', on: 'secret' }] })
    const { id } = await spawn('x', { label: 'secret' })
    for (const session of [id, 'secret']) {
      expect((await call('session_status', { session })).error?.code).toBe('POLICY_DENIED')
    }
    const asking = setUp({ sessions, policy: [{ ask: 'core/session.send' }] })
    await asking.spawn('x', { label: 'helper' })
    expect((await asking.call('sessions_send', { session: 'helper', message: 'x' })).ok).toBe(true)
  })

  it('is named by a label only while that means one', async () => {
    const { run, end } = puppets()
    const { spawn, call, status } = setUp({ sessions: { runners: { default: { run } } } })
    const first = await spawn('a', { label: 'twin' })
    const second = await spawn('b', { label: 'twin' })
    expect((await call('session_status', { session: 'twin' })).error).toMatchObject({
      code: 'CONFLICT',
      fix: { hint: expect.stringContaining(first.id) },
    })
    end('b').resolve('done')
    await expect.poll(async () => (await status(second.id)).session.state, PATIENT).toBe('ended')
    expect((await status('twin')).session.id).toBe(first.id)
  })

  it('comes in pages', async () => {
    const { spawn, call } = setUp()
    for (const task of ['a', 'b', 'c']) await spawn(task, { waitMs: 60_000, label: task })
    const page = async (input: object) =>
      dataOf<{ sessions: { label?: string }[]; next?: string }>(await call('sessions_list', input))
    const first = await page({ limit: 3 })
    expect(first.sessions.map(({ label }) => label)).toEqual(['c', 'b', 'a'])
    expect((await page({ limit: 3, before: first.next })).sessions).toMatchObject([{ id: 'root' }])
    expect((await call('sessions_list', { before: 'x' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })
})
