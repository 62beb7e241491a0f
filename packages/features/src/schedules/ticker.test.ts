import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { bareSchedules, MINUTE, noting, START } from '../../../../test/support/bare-schedules.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { newOwner, retireOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { ScheduleRunner } from './schedule-runner.ts'

const opened: ReturnType<typeof bareSchedules>[] = []
afterEach(async () => {
  for (const { release, feature } of opened.splice(0)) {
    release()
    await feature.close()
  }
})
function open(...parts: Parameters<typeof bareSchedules>) {
  const bare = bareSchedules(...parts)
  opened.push(bare)
  const counts = async () => {
    const { running, waiting } = await bare.service.status()
    return [running, waiting]
  }
  const busy = (...expected: number[]) => eventually(async () => expect(await counts()).toEqual(expected))
  return { ...bare, busy }
}

describe('what fires schedules', () => {
  it('makes all that is due, however many', async () => {
    const { service, clock, called } = open({ most: 500, parallel: 256 })
    for (let n = 0; n < 201; n++) await service.add(noting({ name: `j${n}` }))
    await service.start()
    await clock.advance(10 * MINUTE)
    await eventually(() => expect(called).toHaveLength(201))
  })

  it('runs eight concurrently without a limit of its own, and half of them for one principal', async () => {
    const { service, clock, hold, busy } = open()
    for (let n = 0; n < 9; n++) await service.add(noting({ name: `j${n}` }))
    await service.start()
    hold()
    await clock.advance(10 * MINUTE)
    await busy(8, 1)
    const other = open({ parallel: 3 })
    for (let n = 0; n < 3; n++) await other.service.add(noting({ name: `j${n}` }), { as: { name: 'token:a' } })
    await other.service.start()
    other.hold()
    await other.clock.advance(10 * MINUTE)
    await other.busy(2, 1)
  })

  it('begins nothing more when the hub becomes calm while rights are looked at', async () => {
    let answer = (_: { name: string }) => {}
    const { feature, service, store, called } = open(
      {},
      {
        principalNow: (known) =>
          known.name === 'token:slow' && called.length === 0 && isAsking
            ? new Promise((resolve) => {
                answer = resolve
              })
            : known,
      },
    )
    let isAsking = false
    await service.add(noting(), { as: { name: 'token:slow' } })
    isAsking = true
    await service.run('job', { wait: false })
    feature.calm!()
    answer({ name: 'token:slow' })
    await feature.close()
    const [row] = await store.schedules.list({})
    expect(await store.schedules.runs({ schedule: row!.id, limit: 9 })).toMatchObject([{ status: 'waiting' }])
    expect(called).toEqual([])
  })

  it('says for 15 s in the store that it is there', async () => {
    const store = createMemoryStore()
    const first = open({}, { store, clock: fakeClock(START) })
    await first.service.start()
    const seen = async (afterMs: number) =>
      (await open({}, { store, clock: fakeClock(START + afterMs) }).service.status()).isTicking
    expect(await seen(14_999)).toBe(true)
    expect(await seen(15_000)).toBe(false)
    const stopped = open()
    const other = open({}, { store: stopped.store })
    await stopped.service.start()
    expect((await other.service.status()).isTicking).toBe(true)
    await stopped.service.stop()
    expect((await other.service.status()).isTicking).toBe(false)
  })

  it('says every 5 s that it is there', async () => {
    const { service, store, clock } = open()
    const leased: number[] = []
    const { lease } = store.slots
    store.slots.lease = (slot, wish) => {
      leased.push(wish.until - START)
      return lease.call(store.slots, slot, wish)
    }
    await service.start()
    await clock.advance(4_999)
    expect(leased).toEqual([15_000])
    await clock.advance(1)
    await eventually(() => expect(leased).toEqual([15_000, 20_000]))
  })

  it('switches off what it cannot read, says why, and continues with the others', async () => {
    const { service, store, clock, called } = open()
    const { id } = await service.add(noting({ name: 'broken' }))
    await service.add(noting())
    const row = (await store.schedules.find(id))!
    await store.schedules.save({ ...row, body: `{"${'x'.repeat(600)}` })
    await service.start()
    await clock.advance(10 * MINUTE)
    await eventually(() => expect(called).toHaveLength(1))
    const after = (await store.schedules.find(id))!
    expect(after).toMatchObject({ state: 'off', reason: expect.stringContaining('JSON') })
    expect(after.reason!.length).toBeLessThanOrEqual(500)
    expect(after).not.toHaveProperty('nextAt')
  })

  it('warns when the store cannot be read, and looks again after 5 s', async () => {
    const { service, store, clock, warned, called } = open()
    await service.add(noting())
    const { due } = store.schedules
    store.schedules.due = async () => {
      throw new Error('The disk is away.')
    }
    await service.start()
    expect(warned).toEqual(['Schedules could not be checked: The disk is away.'])
    await clock.advance(4_999)
    expect(warned).toHaveLength(1)
    await clock.advance(1)
    expect(warned).toHaveLength(2)
    store.schedules.due = due
    await clock.advance(10 * MINUTE)
    await eventually(() => expect(called).toHaveLength(1))
  })

  it('looks at a change of another process after a tenth of a second, and at no other news', async () => {
    const { service, store, clock } = open()
    await service.start()
    let looks = 0
    const { due } = store.schedules
    store.schedules.due = async (...wish) => {
      looks++
      return due.apply(store.schedules, wish)
    }
    const tell = (topic: string, feature: string) =>
      store.events.append({ topic, body: JSON.stringify({ feature, subject: 'x' }), at: 0 })
    await tell('feature', 'messages')
    await tell('other', 'schedules')
    await clock.advance(200)
    expect(looks).toBe(0)
    await tell('feature', 'schedules')
    await tell('feature', 'schedules')
    await clock.advance(0)
    await clock.advance(99)
    expect(looks).toBe(0)
    await clock.advance(1)
    expect(looks).toBe(1)
    await service.stop()
    await tell('feature', 'schedules')
    await clock.advance(10_000)
    expect(looks).toBe(1)
  })

  it('settles what processes left behind that are gone, or that stopped renewing', async () => {
    const { service, store, clock } = open()
    const gone = newOwner()
    retireOwner(gone)
    const leave = async (name: string, owner: string, leasedUntil: number) => {
      const { id } = await service.add(noting({ name, missed: 'skip' }))
      const run = { id: `r-${name}`, schedule: id, dueAt: START, missed: 0, owner, leasedUntil }
      await store.schedules.addRun({ ...run, status: 'waiting' }, { policy: 'skip', maxActive: 9 })
    }
    const alive = newOwner()
    await leave('gone', gone, START + MINUTE)
    await leave('late', alive, START)
    await leave('alive', alive, START + 1)
    await service.start()
    const found = await Promise.all(['gone', 'late', 'alive'].map(async (name) => (await service.runs(name)).runs[0]))
    expect(found).toMatchObject([
      { status: 'missed', error: 'The process ended before it started the run.', endedAt: START },
      { status: 'missed' },
      { status: 'waiting' },
    ])
    // The news of what was settled brings one look; the one after it comes 5 s later.
    await clock.advance(5_200)
    await eventually(async () => expect((await service.runs('alive')).runs[0]).toMatchObject({ status: 'missed' }))
    retireOwner(alive)
  })

  it('can be started again after a stop, and not after the end', async () => {
    const { feature, service, clock, called } = open()
    await service.add(noting())
    await service.start()
    await service.stop()
    await clock.advance(10 * MINUTE)
    expect(called).toEqual([])
    await service.start()
    await eventually(() => expect(called).toHaveLength(1))
    await feature.close()
    await service.start()
    expect((await service.status()).isTickingHere).toBe(false)
  })
})

describe('the runs of one process', () => {
  it('keep their lease while they wait, even if none of them continues', async () => {
    let isDown = false
    const { service, store, clock, busy } = open(
      {},
      {
        principalNow: (known) => {
          if (isDown) throw new Error('The list cannot be read.')
          return known
        },
      },
    )
    await service.add(noting(), { as: { name: 'token:a' } })
    isDown = true
    const renewed: number[] = []
    store.schedules.renew = async (_, until) => void renewed.push(until - START)
    await service.run('job', { wait: false })
    await busy(0, 1)
    await clock.advance(10_000)
    expect(renewed).toEqual([40_000])
  })

  it('of the config go on where nothing was changed', async () => {
    const { service, store } = open({ entries: { a: noting(), b: noting({ enabled: false }) } })
    await service.start()
    let saves = 0
    const { save } = store.schedules
    store.schedules.save = (row) => {
      saves++
      return save.call(store.schedules, row)
    }
    await service.start()
    expect(saves).toBe(0)
    await service.start({ entries: { a: noting({ enabled: false }), b: noting({ enabled: false }) } })
    expect(saves).toBe(1)
  })

  it('are kept, leased and bounded', () => {
    const { host } = open()
    const runner = new ScheduleRunner(host, {} as never, {})
    expect(runner.keep).toBe(200)
    expect(new ScheduleRunner(host, {} as never, { keep: 5 }).keep).toBe(5)
    expect(runner.newRun('s1', 7, 2)).toEqual({
      ...{ id: expect.stringMatching(/^time-[\w-]{12}$/), schedule: 's1', dueAt: 7, missed: 2, status: 'waiting' },
      ...{ owner: runner.owner, leasedUntil: START + 30_000 },
    })
    runner.calm()
    const overlap = (principal: string) =>
      runner.overlapOf({ row: { principal }, definition: { overlap: 'queue' } } as never)
    const accept = (count: number, principal: string) => {
      const runs = Array.from({ length: count }, (_, n) => ({ id: `${principal}${n}`, status: 'waiting' }))
      runner.accept(runs as never, { principal })
    }
    accept(249, 'token:a')
    expect(overlap('token:a')).toEqual({ policy: 'queue', maxActive: 100 })
    accept(250, 'token:a')
    accept(250, '')
    expect(runner.counts).toEqual({ running: 0, waiting: 500 })
    expect(overlap('token:a')).toEqual({ policy: 'queue', maxActive: 0 })
    expect([overlap(''), overlap('token:b')].map(({ maxActive }) => maxActive)).toEqual([100, 100])
  })

  it('are named after their schedule, whatever that is called', async () => {
    const { service, called } = open({ entries: { ['a'.repeat(60)]: noting({ enabled: false }) } })
    await service.start()
    await service.run(`config:${'a'.repeat(60)}`)
    expect(called[0]!.run).toMatch(/^cron-config-a{25}-20260101-000000-[0-9a-f]{6}$/)
  })

  it('notify every listener, even if one fails', async () => {
    const { service } = open()
    await service.add(noting())
    const heard: string[] = []
    await service.onRun(() => {
      throw new Error('no ears')
    })
    const stop = await service.onRun(({ status }, { name }) => heard.push(`${name} ${status}`))
    await service.run('job')
    stop()
    await service.run('job')
    expect(heard).toEqual(['job running', 'job ok'])
  })
})

describe('a store that is away for a moment', () => {
  const LOST = new Error('The connection was lost.')
  /** Rejects once: instead of doing the work, or after it, as if the answer had been lost. */
  const failOnce = (store: ReturnType<typeof open>['store'], method: 'fire' | 'begin' | 'end', isDone: boolean) => {
    const work = store.schedules[method] as (...values: unknown[]) => unknown
    Object.assign(store.schedules, {
      async [method](...values: unknown[]) {
        Object.assign(store.schedules, { [method]: work })
        if (isDone) await work.apply(store.schedules, values)
        throw LOST
      },
    })
  }

  it.each([
    ['fire', true],
    ['fire', false],
    ['begin', true],
    ['begin', false],
    ['end', true],
    ['end', false],
  ] as const)(
    'makes the calls of a run once, and stores its end: %s fails, and was done: %s',
    async (method, isDone) => {
      const { service, store, clock, called, warned } = open()
      await service.add(noting({ when: { every: '10m' }, overlap: 'skip' }))
      await service.start()
      failOnce(store, method, isDone)
      await clock.advance(10 * MINUTE)
      await eventually(() => expect(warned).toEqual([expect.stringContaining(LOST.message)]))
      const statuses = async () => (await service.runs('job')).runs.map(({ status }) => status)
      for (let looks = 0; looks < 4; looks++) {
        await clock.advance(5_000)
        await new Promise(setImmediate)
      }
      await eventually(async () => expect(await statuses()).toEqual(['ok']))
      expect(called).toHaveLength(1)
      await clock.advance(10 * MINUTE)
      await eventually(async () => expect(await statuses()).toEqual(['ok', 'ok']))
      expect(called).toHaveLength(2)
    },
  )
})
