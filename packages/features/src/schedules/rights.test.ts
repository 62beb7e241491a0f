import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { everyMinutes, MINUTE, START, scheduleWorld } from '../../../../test/support/schedule-world.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import type { Principal } from '../../../core/src/principal.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { SchedulesOptions } from './types.ts'

const ci: Principal = { name: 'token:ci' }
/** Has a capability, so that rules can be about it; what it does is irrelevant. */
const far = defineTool({
  name: 'far',
  description: 'Does something far away, for tests.',
  input: z.strictObject({}),
  capabilities: ['schedule'],
  targets: () => ({ schedule: 'far' }),
  execute: () => 'done',
})
const addJob = { action: 'add', name: 'job', every: '10m', calls: [{ tool: 'note', input: { text: 'hi' } }] }

/** A world in which `principals` knows only those of the list. */
function guarded(list: Map<string, Principal>, options: Omit<HubOptions, 'clock'> = {}) {
  return scheduleWorld({ principals: ({ name }) => list.get(name), tools: [far], ...options })
}

describe('a schedule of a principal', () => {
  it('is its own: no other sees it, the owner does', async () => {
    const { hub, service } = scheduleWorld()
    const [mine, yours] = [hub.as(ci), hub.as({ name: 'token:other' })]
    expect((await mine.callDynamic('cron', addJob)).ok).toBe(true)
    expect((await yours.callDynamic('cron', { action: 'list' })).data).toMatchObject({ schedules: [] })
    for (const action of ['remove', 'run', 'runs', 'update'])
      expect((await yours.callDynamic('cron', { action, name: 'job' })).error?.code).toBe('NOT_FOUND')
    expect((await yours.callDynamic('cron', addJob)).ok).toBe(true)
    expect((await service.list()).map(({ principal }) => principal)).toEqual(['token:ci', 'token:other'])
    await expect(service.find('job')).rejects.toMatchObject({ code: 'CONFLICT' })
    const [first] = await service.list({ principal: 'token:ci' })
    expect(await service.find(first!.id)).toMatchObject({ principal: 'token:ci' })
    await hub.close()
  })

  it('is switched off when the principal is gone, and says why', async () => {
    const list = new Map([[ci.name, ci]])
    const { hub, service, clock, idle, notes } = guarded(list)
    await hub.as(ci).callDynamic('cron', addJob)
    await service.start()
    list.clear()
    await clock.advance(10 * MINUTE)
    await idle()
    expect(notes).toEqual([])
    expect(await service.find('job')).toMatchObject({
      enabled: false,
      disabledBecause: expect.stringContaining('token:ci'),
    })
    expect((await service.runs('job')).runs).toMatchObject([
      { status: 'denied', error: expect.stringContaining('no longer exists') },
    ])
    await hub.close()
  })

  it('does no more than the principal may now, and no more than it might then', async () => {
    const list = new Map<string, Principal>()
    const asked: string[] = []
    const { hub, service } = guarded(list, {
      policy: [{ allow: 'far' }, { allow: 'core/cron' }],
      approve: ({ tool }) => {
        asked.push(tool)
        return { decision: 'deny' }
      },
    })
    const add = (policy: Principal['policy']) =>
      hub.as({ ...ci, policy }).callDynamic('cron', { ...addJob, calls: [{ tool: 'far' }] })
    expect((await add([{ deny: 'far' }])).error).toMatchObject({
      code: 'POLICY_DENIED',
      message: expect.stringContaining('Call 1 would fail'),
    })
    await add([])
    list.set(ci.name, { ...ci, policy: [{ deny: 'far' }] })
    expect(await service.run('job')).toMatchObject({
      status: 'denied',
      error: expect.stringContaining('POLICY_DENIED'),
    })
    list.set(ci.name, { ...ci, policy: [] })
    expect(await service.run('job')).toMatchObject({ status: 'ok' })
    await service.remove('job')
    await add([{ ask: 'far' }])
    expect(asked).toEqual([])
    expect(await service.run('job')).toMatchObject({
      status: 'denied',
      error: expect.stringContaining('APPROVAL_DENIED'),
    })
    expect(asked).toEqual(['far'])
    await hub.close()
  })

  it('within another is held to what that one might then, too, and to its folders', async () => {
    const then = { ...ci, policy: [{ ask: 'far' }] }
    const list = new Map<string, Principal>([[ci.name, then]])
    const { hub, service } = guarded(list, {
      policy: [{ allow: 'far' }, { allow: 'core/cron' }],
      approve: () => ({ decision: 'deny' }),
    })
    const child = hub.as({ name: 'token:ci/child', within: then })
    expect((await child.callDynamic('cron', { ...addJob, calls: [{ tool: 'far' }] })).ok).toBe(true)
    list.set(ci.name, ci)
    expect(await service.run('job')).toMatchObject({
      status: 'denied',
      error: expect.stringContaining('APPROVAL_DENIED'),
    })
    list.set(ci.name, { ...ci, roots: [{ path: hub.folder, mode: 'read' }] })
    expect(await service.run('job')).toMatchObject({ status: 'denied', error: expect.stringContaining('folders') })
    await hub.close()
  })

  it('is refused while its folders are others', async () => {
    const list = new Map<string, Principal>([[ci.name, ci]])
    const { hub, service, notes } = guarded(list)
    await hub.as(ci).callDynamic('cron', addJob)
    list.set(ci.name, { ...ci, roots: [{ path: hub.folder, mode: 'read' }] })
    expect(await service.run('job')).toMatchObject({ status: 'denied', error: expect.stringContaining('folders') })
    list.set(ci.name, ci)
    expect(await service.run('job')).toMatchObject({ status: 'ok' })
    expect(notes).toHaveLength(1)
    await hub.close()
  })

  it('is paid from its budget, once, also when that is another one now', async () => {
    const list = new Map<string, Principal>([[ci.name, { ...ci, budget: { calls: 3 } }]])
    const { hub, service } = guarded(list)
    await hub.as(list.get(ci.name)!).callDynamic('cron', addJob)
    list.set(ci.name, { ...ci, budget: { calls: 4 } })
    const statuses: string[] = []
    for (let n = 0; n < 4; n++) statuses.push((await service.run('job')).status)
    // Making it was the first of the four.
    expect(statuses).toEqual(['ok', 'ok', 'ok', 'error'])
    expect((await service.runs('job')).runs[0]).toMatchObject({ error: expect.stringContaining('BUDGET_EXCEEDED') })
    await hub.close()
  })
})

describe('a change', () => {
  it('of the times leaves the calls their rights; new calls have those of who says them', async () => {
    const { hub, service, store } = scheduleWorld({ tools: [far], policy: [{ allow: 'far' }, { allow: 'core/cron' }] })
    const calls = [{ tool: 'note', input: { text: 'hi' } }]
    await hub.callDynamic('cron', { ...addJob, calls }, { grants: ['schedule'], callerKind: 'script' })
    const update = (change: object, options?: object) =>
      hub.callDynamic('cron', { action: 'update', name: 'job', ...change }, options)
    await update({ every: '20m' })
    const [row] = await hub.schedules.list()
    expect(await rightsOf(row!.id)).toMatchObject({ grants: ['schedule'], callerKind: 'script' })
    await update({ calls: [{ tool: 'far' }] })
    expect(await rightsOf(row!.id)).not.toHaveProperty('grants')
    expect(await service.run('job')).toMatchObject({ status: 'ok' })
    await hub.close()

    async function rightsOf(id: string) {
      return JSON.parse((await store.schedules.find(id))!.body).rights
    }
  })
})

it('a change by one who has read content from outside shows, even if others change it at the same time', async () => {
  const { hub, service } = scheduleWorld()
  await hub.callDynamic('cron', addJob)
  const update = (change: object, options: object) =>
    hub.callDynamic('cron', { action: 'update', name: 'job', ...change }, options)
  // The calls are tried first, so that this one comes last, and knows nothing of the other.
  const calls = Array(3).fill({ tool: 'note', input: { text: 'bye' } })
  const [dirty, clean] = await Promise.all([
    update({ every: '20m' }, { run: 'outside', untrusted: true }),
    update({ calls }, { run: 'inside' }),
  ])
  expect([dirty.ok, clean.ok]).toEqual([true, true])
  const createdBy = { run: 'inside', tainted: true }
  expect(await service.find('job')).toMatchObject({ when: { everyMs: 1_200_000 }, calls, createdBy })
  await hub.close()
})

describe('the rules when a schedule runs', () => {
  it('are those of that moment: denied then is denied, and recorded', async () => {
    const { hub, service } = scheduleWorld({ tools: [far], policy: [{ allow: 'far' }] })
    await service.add(everyMinutes(10, { calls: [{ tool: 'far' }] }))
    expect(await service.run('job')).toMatchObject({ status: 'ok' })
    hub.setPolicy([{ deny: 'far', reason: 'not today' }])
    expect(await service.run('job')).toMatchObject({
      status: 'denied',
      error: expect.stringContaining('POLICY_DENIED'),
    })
    expect(await service.find('job')).toMatchObject({ enabled: true, lastStatus: 'denied' })
    await hub.close()
  })

  it('ask a person where there is one, and fail immediately without one', async () => {
    const asked: (string | undefined)[] = []
    const some = scheduleWorld({
      tools: [far],
      policy: [{ ask: 'far' }],
      approve: ({ purpose }) => {
        asked.push(purpose)
        return { decision: 'allow' }
      },
    })
    await some.service.add(everyMinutes(10, { calls: [{ tool: 'far' }] }))
    expect(await some.service.run('job')).toMatchObject({ status: 'ok' })
    expect(asked).toEqual(['schedule job'])
    const none = scheduleWorld({ tools: [far], policy: [{ ask: 'far' }], approve: undefined })
    await none.service.add(everyMinutes(10, { calls: [{ tool: 'far' }] }))
    expect(await none.service.run('job')).toMatchObject({ status: 'approval_required' })
    await Promise.all([some.hub.close(), none.hub.close()])
  })

  it('let what waits in the inbox wait no longer than the run may take', async () => {
    const { hub, service, clock, busy, store } = scheduleWorld({
      ...{ tools: [far], policy: [{ ask: 'far' }], approve: undefined },
      approvals: { inbox: true, timeoutMs: 86_400_000 },
    })
    await service.add(everyMinutes(0, { when: { every: '1d' }, calls: [{ tool: 'far' }], timeoutMs: 60_000 }))
    const run = service.run('job')
    await busy(1)
    await expect.poll(async () => (await store.approvals.list({ state: 'waiting' })).length).toBe(1)
    await clock.advance(60_000)
    expect(await run).toMatchObject({ status: 'timeout' })
    await hub.close()
  })

  it('see a tainted run where the one who made it had read content from outside, also after a change', async () => {
    const { hub, service } = scheduleWorld({
      tools: [far],
      policy: [{ allow: 'far' }, { allow: 'core/cron' }, { deny: 'far', when: { tainted: true } }],
    })
    await hub.callDynamic('cron', { ...addJob, name: 'clean', calls: [{ tool: 'far' }] })
    const outside = { untrusted: true, run: 'outside' }
    await hub.callDynamic('cron', { ...addJob, name: 'dirty' }, outside)
    expect(await service.find('dirty')).toMatchObject({ createdBy: { tainted: true, run: 'outside' } })
    expect(await service.run('clean')).toMatchObject({ status: 'ok', untrusted: false })
    expect(await service.run('dirty')).toMatchObject({ status: 'ok', untrusted: true })
    // Changed by one who has read nothing from outside, it is what it was.
    const change = { action: 'update', name: 'dirty', calls: [{ tool: 'far' }] }
    expect((await hub.callDynamic('cron', change, { run: 'inside' })).ok).toBe(true)
    expect(await service.run('dirty')).toMatchObject({ status: 'denied' })
    // Whoever looks at it has read it.
    const seen = await hub.callDynamic('cron', { action: 'list' }, { run: 'looks' })
    expect(seen.meta.labels).toEqual(['untrusted'])
    await hub.close()
  })
})

describe('the owner', () => {
  it('adds in the name of somebody, with the rights of that one only', async () => {
    const list = new Map([[ci.name, ci]])
    const { hub, service } = guarded(list)
    expect(await service.add(everyMinutes(10), { by: 'token:ci', as: ci })).toMatchObject({
      principal: 'token:ci',
    })
    await expect(service.add(everyMinutes(10), { as: { name: 'token:gone' } })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    await hub.close()
  })

  it('adds for one whom no list knows with all that this one is held to', async () => {
    const { hub, service } = scheduleWorld({ tools: [far], policy: [{ allow: 'far' }] })
    const ada = { name: 'https://id.example ada', policy: [{ deny: 'far' }] }
    const wish = everyMinutes(10, { calls: [{ tool: 'far' }] })
    await expect(service.add(wish, { as: ada })).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    await hub.close()
  })

  it('keeps what the config says: added, changed, removed, and only run by others', async () => {
    const { hub, service, store, clock, idle, notes } = scheduleWorld(
      {},
      {
        entries: { a: everyMinutes(10), b: everyMinutes(10), bad: everyMinutes(10, { when: { cron: '61 * * * *' } }) },
      },
    )
    await service.start()
    expect((await service.list()).map(({ name, isFromConfig }) => [name, isFromConfig])).toEqual([
      ['config:a', true],
      ['config:b', true],
    ])
    expect((await service.status()).problems).toEqual([
      expect.stringMatching(/^schedules\.entries\.bad: .*field 1 \(minute\)/),
    ])
    await expect(service.update('config:a', { maxRuns: 1 })).rejects.toThrow('defined in the config')
    await expect(service.remove('config:a')).rejects.toMatchObject({ code: 'CONFLICT' })
    expect((await hub.callDynamic('cron', { action: 'remove', name: 'config:a' })).error?.code).toBe('CONFLICT')
    await clock.advance(5 * MINUTE)
    const entries = { a: everyMinutes(10), b: everyMinutes(20) }
    const next = scheduleWorld({ clock, store }, { entries })
    await next.service.start()
    expect((await service.list()).map(({ name, nextAt }) => [name, nextAt])).toEqual([
      ['config:a', START + 10 * MINUTE],
      ['config:b', START + 25 * MINUTE],
    ])
    await scheduleWorldWith(store, clock, {})
    expect(await service.list()).toHaveLength(2)
    await scheduleWorldWith(store, clock, { entries: { a: { ...everyMinutes(10), enabled: false } } })
    expect((await service.list()).map(({ name, enabled }) => [name, enabled])).toEqual([['config:a', false]])
    await idle()
    expect(notes).toEqual([])
    await Promise.all([hub.close(), next.hub.close()])
  })
})

/** Starts a hub with other entries on the same store, and ends it. */
async function scheduleWorldWith(
  store: NonNullable<HubOptions['store']>,
  clock: ReturnType<typeof scheduleWorld>['clock'],
  schedules: NonNullable<HubOptions['schedules']>,
): Promise<void> {
  const { hub, service } = scheduleWorld({ store, clock }, schedules)
  await service.start()
  await hub.close()
}

it.each([
  [{ entires: {} }, 'entires'],
  [{ shortestMs: 10 }, 'schedules.shortestMs'],
  [{ parallel: 0 }, 'schedules.parallel'],
  [{ timeZone: 'Mars/Phobos' }, 'schedules.timeZone'],
])('options %j are refused', async (options, message) => {
  const { hub, service } = scheduleWorld({}, options as SchedulesOptions)
  await expect(service.list()).rejects.toThrow(message)
  await hub.close()
})
