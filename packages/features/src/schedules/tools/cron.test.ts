import { afterAll, describe, expect, it } from 'vitest'
import { MINUTE, START, scheduleWorld } from '../../../../../test/support/schedule-world.ts'

const calls = [{ tool: 'note', input: { text: 'hi' } }]
const job = { action: 'add', name: 'job', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', calls }

const refusing = scheduleWorld()
afterAll(() => refusing.hub.close())

describe('core/cron', () => {
  it('adds, lists, changes, runs, tells of and removes schedules', async () => {
    const { hub } = scheduleWorld()
    const ask = async (input: object) => {
      const { data, content } = await hub.callDynamic('cron', input)
      return { data, text: content[0]?.type === 'text' ? content[0].text : '' }
    }
    const added = await hub.callDynamic('core/cron', job)
    expect(added.data).toMatchObject({
      action: 'add',
      schedule: { name: 'job', when: '0 9 * * 1-5', nextAt: '2026-01-01T08:00:00.000Z', calls, enabled: true, runs: 0 },
    })
    expect(added.meta.notices).toEqual([expect.stringContaining('No process runs schedules')])
    expect(added.evidence).toHaveLength(1)
    expect((await ask({ action: 'list' })).data).toMatchObject({ schedules: [{ calls: [{ tool: 'note' }] }] })
    const one = await ask({ action: 'list', name: 'job' })
    expect(one.text).toContain('"text": "hi"')
    expect((await ask({ action: 'update', name: 'job', every: '2h', enabled: false })).data).toMatchObject({
      schedule: { when: 'every 7200000 ms', enabled: false },
    })
    expect((await ask({ action: 'run', name: 'job' })).data).toMatchObject({ run: { status: 'ok', missed: 0 } })
    const runs = await ask({ action: 'runs', name: 'job' })
    expect(runs.data).toMatchObject({ runs: [{ status: 'ok', runId: expect.stringMatching(/^cron-job-/) }] })
    expect(runs.text).toMatch(/^2026-01-01T00:00:00.000Z {2}ok {2}cron-job-/)
    expect((await ask({ action: 'status' })).text).toContain('1 schedules, 0 enabled')
    expect((await ask({ action: 'remove', name: 'job' })).text).toBe('Removed job.')
    expect((await ask({ action: 'list' })).text).toBe('You have no schedules.')
    await hub.close()
  })

  it('asks by default to change something, with the name as target, and not to look', async () => {
    const { hub } = scheduleWorld({ approve: undefined, policy: [{ allow: 'schedule', on: ['report-*'] }] })
    for (const action of ['status', 'list']) expect((await hub.callDynamic('cron', { action })).ok).toBe(true)
    for (const input of [job, { action: 'wake', inMs: 60_000 }, { action: 'run', name: 'job' }])
      expect((await hub.callDynamic('cron', input)).status).toBe('approval_required')
    expect((await hub.callDynamic('cron', { ...job, name: 'report-1' })).ok).toBe(true)
    hub.setPolicy([{ deny: 'schedule', on: 'job' }])
    expect((await hub.callDynamic('cron', job)).error?.code).toBe('POLICY_DENIED')
    await hub.close()
  })

  it('wakes: one message to the console, in the name of who asked', async () => {
    const { hub, service, clock, idle, statuses } = scheduleWorld({ policy: [{ allow: 'core/cron' }] })
    await service.start()
    const { data, ok } = await hub.callDynamic(
      'cron',
      { action: 'wake', text: 'look again', inMs: 5 * MINUTE },
      { run: 'mine' },
    )
    expect(ok).toBe(true)
    const { name } = (data as { schedule: { name: string } }).schedule
    expect((await service.find(name)).calls).toEqual([
      { tool: 'core/message.send', input: { channel: 'console', title: 'Wake-up of mine', text: 'look again' } },
    ])
    await clock.advance(5 * MINUTE)
    await idle()
    await expect.poll(() => statuses(name)).toEqual(['ok'])
    expect((await hub.messages.inbox()).messages).toMatchObject([{ title: 'Wake-up of mine', text: 'look again' }])
    expect((await hub.callDynamic('cron', { action: 'wake' })).error?.message).toContain('at or inMs')
    await hub.close()
  })

  it.each([
    [{ action: 'add' }, 'cron add needs name'],
    [{ action: 'add', name: 'x', cron: '0 9 * * *' }, 'cron add needs calls'],
    [{ action: 'add', name: 'x', calls }, 'cron add needs cron, every or at'],
    [{ action: 'add', name: 'x', calls, every: '5m', at: '2027-01-01T00:00' }, 'every and at are given'],
    [{ action: 'add', name: 'x', calls, cron: '0 25 * * *' }, 'field 2 (hour), "25"'],
    [{ action: 'add', name: 'x y', calls, every: '5m' }, 'name: letters and digits of any language'],
    [{ action: 'add', name: '日\u202e报', calls, every: '5m' }, 'name: letters and digits of any language'],
    [{ action: 'add', name: 'config:x', calls, every: '5m' }, 'name: letters and digits of any language'],
    [{ action: 'add', name: 'wake', calls, every: '5m' }, 'The name wake is reserved for wake-ups'],
    [{ action: 'add', name: 'x', calls, every: '5s' }, 'the minimum time between two runs is 10000 ms'],
    [{ action: 'add', name: 'x', calls, cron: '*/5 * * * * *' }, 'It would run every 5000 ms'],
    [{ action: 'add', name: 'x', calls, at: '2025-01-01T00:00' }, 'is in the past'],
    [{ action: 'add', name: 'x', calls, cron: '0 0 30 2 *' }, 'It would never run'],
    [{ action: 'add', name: 'x', calls, every: '1m', until: '2026-01-01T00:00:30' }, 'It would never run'],
    [{ action: 'add', name: 'x', calls, every: '1m', jitterMs: 60_000 }, 'A jitter of 60000 ms'],
    [{ action: 'add', name: 'x', calls, every: '1m', timeZone: 'Mars/Phobos' }, 'Unknown time zone'],
    [{ action: 'add', name: 'x', calls: [{ tool: 'nothere' }], every: '1m' }, 'Call 1 would fail'],
    [{ action: 'add', name: 'x', calls: [{ tool: 'note', input: { txt: 1 } }], every: '1m' }, 'Call 1 would fail'],
    [
      { action: 'add', name: 'x', calls: [{ tool: 'note', input: { text: 'x'.repeat(70_000) } }], every: '1m' },
      'the limit is 64000',
    ],
    [{ action: 'add', name: 'x', calls: Array(21).fill(calls[0]), every: '1m' }, 'calls'],
    [{ action: 'remove', name: 'x' }, 'Schedule "x" not found'],
    [{ action: 'runs' }, 'cron runs needs name'],
    [{ action: 'dance' }, 'action'],
  ])('refuses %j', async (input, message) => {
    const { ok, error } = await refusing.hub.callDynamic('cron', input)
    expect({ ok, said: error?.message }).toEqual({ ok: false, said: expect.stringContaining(message) })
  })

  it('keeps to the most of one principal, where wake-ups that are over make room', async () => {
    const { hub, clock, service, idle } = scheduleWorld({}, { most: 2 })
    const add = (name: string, when: object) => hub.callDynamic('cron', { action: 'add', name, calls, ...when })
    await add('once', { at: '2026-01-01T00:01' })
    await add('often', { every: '1h' })
    expect((await add('more', { every: '1h' })).error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      fix: { key: 'schedules.most' },
    })
    expect((await hub.as({ name: 'token:x' }).callDynamic('cron', job)).ok).toBe(true)
    await service.start()
    await clock.advance(MINUTE)
    await idle()
    expect((await add('more', { every: '1h' })).ok).toBe(true)
    expect((await service.list({ principal: '' })).map(({ name }) => name)).toEqual(['more', 'often'])
    expect((await add('often', { every: '1h' })).error?.code).toBe('BUDGET_EXCEEDED')
    await hub.close()
  })

  it('leaves a run that takes long to itself, also when the call is stopped, and does not run schedules from schedules', async () => {
    const { hub, clock, busy, idle, hold, release, service } = scheduleWorld()
    await hub.callDynamic('cron', { ...job, timeZone: 'UTC' })
    hold()
    const late = hub.callDynamic('cron', { action: 'run', name: 'job' })
    await busy(1)
    await clock.advance(50_000)
    expect((await late).data).toMatchObject({ run: { status: 'running' } })
    expect((await hub.callDynamic('cron', { action: 'run', name: 'job' })).error?.code).toBe('CONFLICT')
    release()
    await idle()
    const { runs } = await service.runs('job')
    expect(runs).toMatchObject([{ status: 'skipped' }, { status: 'ok', startedAt: START, endedAt: START + 50_000 }])
    await hub.callDynamic('cron', {
      ...job,
      name: 'outer',
      calls: [{ tool: 'cron', input: { action: 'run', name: 'job' } }],
    })
    expect((await hub.callDynamic('cron', { action: 'run', name: 'outer' })).data).toMatchObject({
      run: { status: 'error', error: expect.stringContaining('A schedule cannot run other schedules') },
    })
    await hub.close()
  })

  it('changes nothing when the call was stopped before', async () => {
    const { hub, service } = scheduleWorld()
    expect((await hub.callDynamic('cron', job, { signal: AbortSignal.abort() })).status).toBe('aborted')
    expect(await service.list()).toEqual([])
    await hub.close()
  })
})
