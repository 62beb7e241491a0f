import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { everyMinutes, MINUTE, START, scheduleWorld } from '../../../../test/support/schedule-world.ts'
import { newOwner, retireOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { Definition } from './definition.ts'
import { planFiring } from './ticker.ts'
import type { MissedPolicy, OverlapPolicy } from './types.ts'

describe('a schedule', () => {
  it('makes its calls in a run of its own, with records, at its time', async () => {
    const { hub, service, clock, notes, idle } = scheduleWorld({ runs: undefined })
    const calls = ['one', 'two'].map((text) => ({ tool: 'note', input: { text } }))
    const added = await service.add(everyMinutes(10, { calls }), { by: 'anna' })
    expect(added).toMatchObject({
      enabled: true,
      nextAt: START + 10 * MINUTE,
      createdBy: { by: 'anna', tainted: false },
    })
    const told: string[] = []
    await service.onRun(({ status }) => told.push(status))
    const lines: string[] = []
    hub.onRecord(({ run, event }) => void (run.startsWith('cron-') && lines.push(event.type)))
    await service.start()
    await clock.advance(10 * MINUTE - 1)
    expect(notes).toEqual([])
    await clock.advance(1)
    await idle()
    expect(notes.map(({ text, at }) => [text, at])).toEqual(['one', 'two'].map((text) => [text, 10 * MINUTE]))
    const { runs } = await service.runs('job')
    const at = START + 10 * MINUTE
    expect(runs).toMatchObject([{ status: 'ok', dueAt: at, startedAt: at, missed: 0, untrusted: false }])
    expect(runs[0]!.runId).toMatch(/^cron-job-20260101-001000-[0-9a-f]{6}$/)
    expect(notes[0]!.run).toBe(runs[0]!.runId)
    expect(told).toEqual(['running', 'ok'])
    expect(lines.filter((type) => type === 'call-ended')).toHaveLength(2)
    expect(await service.find('job')).toMatchObject({ lastStatus: 'ok', runs: 1, nextAt: START + 20 * MINUTE })
    await hub.close()
  })

  it('stops at the first call that fails, unless it is to go on', async () => {
    const { hub, service, notes } = scheduleWorld()
    const calls = ['a', 'fail', 'b'].map((text) => ({ tool: 'note', input: { text } }))
    await service.add(everyMinutes(10, { calls }))
    expect(await service.run('job')).toMatchObject({ status: 'error', error: expect.stringContaining('TOOL_FAILED') })
    expect(notes.map(({ text }) => text)).toEqual(['a', 'fail'])
    await service.update('job', { continueOnError: true })
    expect(await service.run('job')).toMatchObject({ status: 'error' })
    expect(notes.map(({ text }) => text)).toEqual(['a', 'fail', 'a', 'fail', 'b'])
    await hub.close()
  })

  it('of one time runs once, and one with maxRuns so often', async () => {
    const { hub, service, clock, idle, statuses } = scheduleWorld()
    await service.add(everyMinutes(0, { name: 'once', when: { at: '2026-01-01T00:05' } }))
    await service.add(everyMinutes(1, { name: 'twice', maxRuns: 2 }))
    await service.add(everyMinutes(1, { name: 'brief', until: '2026-01-01T00:01:30' }))
    await service.start()
    for (let minute = 0; minute < 8; minute++) {
      await clock.advance(MINUTE)
      await idle()
    }
    for (const [name, count] of Object.entries({ once: 1, twice: 2, brief: 1 })) {
      expect(await statuses(name)).toEqual(Array(count).fill('ok'))
      expect(await service.find(name)).toMatchObject({ enabled: false, runs: count })
    }
    await expect(service.update('twice', { enabled: true })).rejects.toThrow('It has no future time')
    expect(await service.update('twice', { maxRuns: 3 })).toMatchObject({ enabled: true, nextAt: START + 9 * MINUTE })
    await hub.close()
  })

  it('is stopped when it takes too long, and goes no further when it is switched off or removed', async () => {
    const { hub, service, clock, busy, idle, hold, release, statuses, notes } = scheduleWorld()
    const calls = ['a', 'b'].map((text) => ({ tool: 'note', input: { text } }))
    await service.add(everyMinutes(0, { name: 'slow', when: { every: '1h' }, calls, timeoutMs: 5_000 }))
    for (const name of ['off', 'gone']) await service.add(everyMinutes(10, { name, calls }))
    hold()
    const slow = service.run('slow')
    await busy(1)
    await clock.advance(5_000)
    expect(await slow).toMatchObject({ status: 'timeout', error: expect.stringContaining('5000 ms') })
    await service.start()
    await clock.advance(10 * MINUTE)
    await busy(2)
    await service.update('off', { enabled: false })
    await service.remove('gone')
    release()
    await idle()
    await expect.poll(() => statuses('off')).toEqual(['aborted'])
    expect(notes.map(({ text }) => text)).toEqual(['a', 'a', 'a'])
    await expect(service.find('gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await hub.close()
  })

  it('puts each time off by a part of its jitter, and never by more', async () => {
    const { hub, service } = scheduleWorld()
    const offsets: number[] = []
    for (let n = 0; n < 60; n++) {
      const { nextAt } = await service.add(everyMinutes(10, { name: `j${n}`, jitterMs: 1_000 }))
      offsets.push(nextAt! - START - 10 * MINUTE)
    }
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...offsets)).toBeLessThanOrEqual(1_000)
    expect(new Set(offsets).size).toBeGreaterThan(20)
    await hub.close()
  })
})

describe('times that were missed while nothing ran', () => {
  const cases: readonly [MissedPolicy, lateMs: number, ran: number[], left: number, status?: string][] = [
    ['skip', 5_000, [40], 3],
    ['skip', 9 * MINUTE, [], 4, 'missed'],
    ['once', 9 * MINUTE, [40], 3],
    ['all', 9 * MINUTE, [10, 20, 30, 40], 0],
  ]
  it.each(cases)('%s, %i ms late: the runs at %j, %i missed', async (missed, lateMs, ran, left, status = 'ok') => {
    const { hub, service, clock, idle, notes } = scheduleWorld()
    await service.add(everyMinutes(10, { missed }))
    await clock.advance(40 * MINUTE + lateMs)
    await service.start()
    await idle()
    const { runs } = await service.runs('job')
    expect(runs.map(({ dueAt }) => (dueAt - START) / MINUTE).reverse()).toEqual(ran.length > 0 ? ran : [40])
    expect(runs.at(-1)).toMatchObject({ status, missed: left })
    expect(notes).toHaveLength(ran.length)
    expect(await service.find('job')).toMatchObject({ nextAt: START + 50 * MINUTE })
    await hub.close()
  })

  it('are at most the last hundred with all', () => {
    const timing = { when: { everyMs: MINUTE }, timeZone: 'UTC', since: START, missed: 'all', jitterMs: 0 }
    const { times, last, next } = planFiring(timing as unknown as Definition, START + MINUTE, START + 1_000 * MINUTE)
    expect([times.length, times[0], last, next]).toEqual([
      100,
      ...[901, 1_000, 1_001].map((minute) => START + minute * MINUTE),
    ])
  })
})

describe('a time at which the run before is not over', () => {
  const cases: readonly [OverlapPolicy, during: [number, number], after: string[]][] = [
    ['skip', [1, 0], ['ok', 'skipped', 'skipped']],
    ['queue', [1, 2], ['ok', 'ok', 'ok']],
    ['parallel', [3, 0], ['ok', 'ok', 'ok']],
  ]
  it.each(cases)('%s: %j running and waiting, then %j', async (overlap, during, after) => {
    const { hub, service, clock, busy, idle, hold, release, statuses } = scheduleWorld()
    await service.add(everyMinutes(10, { overlap }))
    await service.start()
    hold()
    for (let time = 0; time < 3; time++) {
      await clock.advance(10 * MINUTE)
      await busy(
        ...(time === 0
          ? ([1, 0] as const)
          : ([overlap === 'parallel' ? time + 1 : 1, overlap === 'queue' ? time : 0] as const)),
      )
    }
    await busy(...during)
    if (overlap === 'skip') await expect(service.run('job')).rejects.toMatchObject({ code: 'CONFLICT' })
    release()
    await idle()
    expect((await statuses('job')).slice(0, 3)).toEqual(after)
    await hub.close()
  })

  it('with missed all runs those one after the other', async () => {
    const { hub, service, clock, busy, idle, hold, release, notes } = scheduleWorld()
    await service.add(everyMinutes(10, { missed: 'all' }))
    await clock.advance(30 * MINUTE)
    hold()
    await service.start()
    await busy(1, 2)
    release()
    await idle()
    expect(notes).toHaveLength(3)
    await hub.close()
  })

  it('leaves half of the places to others, however long those of one principal take', async () => {
    const { hub, service, notes, clock, busy, idle, hold, release } = scheduleWorld({}, { parallel: 2 })
    const [greedy, other] = [hub.as({ name: 'token:greedy' }), hub.as({ name: 'token:other' })]
    const add = (name: string, every: string, text: string) => {
      const calls = [{ tool: 'note', input: { text } }]
      return { action: 'add', name, every, overlap: 'parallel', calls }
    }
    await greedy.callDynamic('cron', add('a', '1m', 'greedy'))
    await greedy.callDynamic('cron', add('b', '1m', 'greedy'))
    await other.callDynamic('cron', add('c', '3m', 'other'))
    await service.start()
    hold()
    for (let minute = 0; minute < 2; minute++) await clock.advance(MINUTE)
    await busy(1, 3)
    await clock.advance(MINUTE)
    await busy(2, 5)
    expect(notes.map(({ text }) => text)).toEqual(['greedy', 'other'])
    release()
    await idle()
    expect(notes).toHaveLength(7)
    await hub.close()
  })

  it('is kept from running by nothing that is wrong with another one', async () => {
    const down = new Set<string>()
    const principals = (known: { name: string }) => {
      if (down.has(known.name)) throw new Error('The list cannot be read.')
      return known
    }
    const { hub, service, notes, clock, busy, idle } = scheduleWorld({ principals })
    const add = { action: 'add', name: 'a', every: '1m', maxRuns: 1, calls: [{ tool: 'note', input: { text: 'ci' } }] }
    await hub.as({ name: 'token:ci' }).callDynamic('cron', add)
    await service.add(everyMinutes(1, { name: 'b', maxRuns: 1 }))
    down.add('token:ci')
    await service.start()
    await clock.advance(MINUTE)
    await busy(0, 1)
    expect(notes.map(({ text }) => text)).toEqual(['hi'])
    down.clear()
    await clock.advance(5_000)
    await idle()
    expect(notes.map(({ text }) => text)).toEqual(['hi', 'ci'])
    await hub.close()
  })

  it('limits how many run concurrently', async () => {
    const { hub, service, clock, busy, idle, hold, release, notes } = scheduleWorld({}, { parallel: 2 })
    for (const name of ['a', 'b', 'c', 'd']) await service.add(everyMinutes(10, { name }))
    await service.start()
    hold()
    await clock.advance(10 * MINUTE)
    await busy(2, 2)
    release()
    await idle()
    expect(notes).toHaveLength(4)
    await hub.close()
  })
})

describe('a clock that jumps', () => {
  it('backwards fires nothing twice, and forwards as if that time had been missed', async () => {
    const clock = fakeClock(START)
    let offset = 0
    const jumping = { ...clock, now: () => clock.now() + offset, advance: clock.advance, waiting: 0 }
    const { hub, service, idle, statuses } = scheduleWorld({ clock: jumping })
    await service.add(everyMinutes(10, { missed: 'all' }))
    await service.start()
    await clock.advance(10 * MINUTE)
    await idle()
    offset = -9 * MINUTE
    await clock.advance(9 * MINUTE)
    await idle()
    expect(await statuses('job')).toEqual(['ok'])
    offset = 21 * MINUTE
    await clock.advance(5_000)
    await idle()
    expect(await statuses('job')).toEqual(['ok', 'ok', 'ok', 'ok'])
    await hub.close()
  })
})

describe('several hubs with one store', () => {
  it('fire each time once', async () => {
    const clock = fakeClock(START)
    const store = createMemoryStore({ now: () => clock.now() })
    const [one, two] = [scheduleWorld({ clock, store }), scheduleWorld({ clock, store })]
    for (let n = 0; n < 6; n++) await one.service.add(everyMinutes(1, { name: `j${n}` }))
    await Promise.all([one.service.start(), two.service.start()])
    expect(await one.service.status()).toMatchObject({ isTicking: true, isTickingHere: true, enabled: 6 })
    for (let minute = 0; minute < 3; minute++) {
      await clock.advance(MINUTE)
      await one.idle()
    }
    expect(one.notes.length + two.notes.length).toBe(18)
    await one.service.stop()
    await two.service.stop()
    expect(await two.service.status()).toMatchObject({ isTicking: false })
    await one.hub.close()
    await two.hub.close()
  })

  it('see what one that is gone had begun as interrupted, and make what it had not', async () => {
    const { hub, service, store, clock, idle, notes } = scheduleWorld()
    const gone = newOwner()
    retireOwner(gone)
    const left = async (name: string, missed: MissedPolicy, hasBegun: boolean) => {
      const { id } = await service.add(everyMinutes(10, { name, missed }))
      const run = { id: `r-${name}`, schedule: id, dueAt: START, missed: 0, owner: gone, leasedUntil: START + MINUTE }
      await store.schedules.addRun({ ...run, status: 'waiting' }, { policy: 'skip', maxActive: 9 })
      const begun = {
        id: run.id,
        owner: gone,
        runId: 'x',
        startedAt: START,
        leasedUntil: START + MINUTE,
        isAlone: true,
      }
      if (hasBegun) await store.schedules.begin(begun)
    }
    await left('begun', 'all', true)
    await left('claimed', 'once', false)
    await left('late', 'skip', false)
    await service.start()
    await clock.advance(1)
    await idle()
    for (const [name, status] of Object.entries({ begun: 'interrupted', claimed: 'ok', late: 'missed' }))
      expect((await service.runs(name)).runs).toMatchObject([{ status }])
    expect(notes).toHaveLength(1)
    await hub.close()
  })

  it('learn of a schedule that another process adds, long before their next check', async () => {
    const clock = fakeClock(START)
    const store = createMemoryStore({ now: () => clock.now() })
    const [one, two] = [scheduleWorld({ clock, store }), scheduleWorld({ clock, store })]
    await one.service.start()
    await two.service.add(everyMinutes(0, { when: { at: new Date(START + 1_000).toISOString() } }))
    await clock.advance(1_000)
    await one.idle()
    expect(one.notes).toMatchObject([{ at: 1_000 }])
    await one.hub.close()
    await two.hub.close()
  })
})

describe('a hub that is closed', () => {
  it('stops what is under way, says so, and leaves what waits to others', async () => {
    const clock = fakeClock(START)
    const store = createMemoryStore({ now: () => clock.now() })
    const first = scheduleWorld({ clock, store })
    await first.service.add(
      everyMinutes(10, { overlap: 'queue', calls: Array(2).fill({ tool: 'note', input: { text: 'x' } }) }),
    )
    await first.service.start()
    first.hold()
    await clock.advance(10 * MINUTE)
    await first.busy(1)
    await clock.advance(10 * MINUTE)
    await first.busy(1, 1)
    await first.hub.close({ abort: true })
    const second = scheduleWorld({ clock, store })
    expect((await second.service.runs('job')).runs.map(({ status }) => status)).toEqual(['waiting', 'aborted'])
    await second.service.start()
    await second.idle()
    expect(second.notes).toHaveLength(2)
    await second.hub.close()
  })
})
