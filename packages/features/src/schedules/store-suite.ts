import type { StoreTests } from '@tool-hub/core'
import type { NewScheduleRun, Overlap, StoredSchedule } from './store-types.ts'

const SKIP: Overlap = { policy: 'skip', maxActive: 3 }
const QUEUE: Overlap = { policy: 'queue', maxActive: 3 }
const MAX_COUNT = { most: 2 }
const BEGUN = { id: '1', owner: 'me', runId: 'run-1', startedAt: 13, leasedUntil: 200, isAlone: true }

/** Schedules and their runs. */
export function schedulesSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the schedules of ${name}`, () => {
    const add = (id: string, more: Partial<StoredSchedule> = {}) =>
      store().schedules.add(scheduleOf(id, more), { most: more.principal === undefined ? 100 : MAX_COUNT.most })
    const run = (id: string, more: Partial<NewScheduleRun> = {}): NewScheduleRun => {
      const common = { schedule: 'a', dueAt: 10, status: 'waiting', missed: 0, owner: 'me', leasedUntil: 100 } as const
      return { id, ...common, ...more }
    }
    const fire = (runs: readonly NewScheduleRun[], version: number, overlap = QUEUE) =>
      store().schedules.fire({ id: 'a', version, state: 'on', dueAt: 20, nextAt: 21, at: 12, runs, overlap })
    const begin = (id: string, owner = 'me') => {
      const begun = { id, owner, runId: `run-${id}`, startedAt: 13, leasedUntil: 200, isAlone: true }
      return store().schedules.begin(begun)
    }
    const end = (id: string, status: 'ok' | 'interrupted' = 'ok', keep = 200) =>
      store().schedules.end({ id, owner: 'me', status, endedAt: 15, summary: 'done', keep })

    it('keep one of a name a principal, and no more than the most, where those that are done make room', async () => {
      await add('a', { principal: 'p', createdAt: 2 })
      await expect(async () => add('again', { principal: 'p', name: 'a' })).rejects.toMatchObject({ code: 'CONFLICT' })
      await add('a2', { principal: 'q', name: 'a' })
      await add('b', { principal: 'p', state: 'done', createdAt: 1 })
      await add('c', { principal: 'p' })
      await expect(async () => add('d', { principal: 'p' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
      const { schedules } = store()
      expect((await schedules.list({ principal: 'p' })).map(({ id }) => id)).toEqual(['a', 'c'])
      expect((await schedules.list({ name: 'a' })).map(({ principal }) => principal)).toEqual(['p', 'q'])
      expect(await schedules.list({ limit: 1 })).toHaveLength(1)
      expect(await schedules.find('b')).toBeUndefined()
      expect(await schedules.find('a')).toEqual(scheduleOf('a', { principal: 'p', createdAt: 2 }))
      expect(await schedules.remove('a')).toBe(true)
      expect(await schedules.remove('a')).toBe(false)
    })

    it('that are done stay while there is room, then the oldest of them goes', async () => {
      const { schedules } = store()
      const ids = async () => (await schedules.list()).map(({ id }) => id).join(' ')
      for (const [id, createdAt] of [
        ['d', 3],
        ['c', 1],
        ['b', 2],
      ] as const)
        await schedules.add(scheduleOf(id, { state: 'done', createdAt }), { most: 4 })
      await schedules.add(scheduleOf('a', {}), { most: 4 })
      expect(await ids()).toBe('a b c d')
      await schedules.add(scheduleOf('e', {}), { most: 4 })
      expect(await ids()).toBe('a b d e')
    })

    it('keep all that is said of the end of a run, by its owner', async () => {
      const { schedules } = store()
      await add('a', { nextAt: 10, dueAt: 10 })
      await fire([run('1', { missed: 2 })], 0)
      expect(await schedules.begin({ ...BEGUN, id: 'none' })).toBe('gone')
      expect(await schedules.begin(BEGUN)).toBe('begun')
      const failed = { id: '1', owner: 'me', status: 'error', endedAt: 15, error: 'TIMEOUT', keep: 9 } as const
      expect(await schedules.end({ ...failed, owner: 'other' })).toBe(false)
      expect(await schedules.end({ ...failed, id: 'none' })).toBe(false)
      expect(await schedules.end({ ...failed, untrusted: true })).toBe(true)
      expect(await schedules.findRun('1')).toEqual({
        ...run('1', { missed: 2 }),
        ...{ seq: expect.any(Number), status: 'error', untrusted: true, error: 'TIMEOUT' },
        ...{ runId: 'run-1', startedAt: 13, endedAt: 15, leasedUntil: 200 },
      })
      expect(await schedules.find('a')).toMatchObject({ lastStatus: 'error', lastAt: 12 })
      expect(await schedules.findRun('none')).toBeUndefined()
    })

    it('forget no run that is not over', async () => {
      await add('a', { nextAt: 10, dueAt: 10 })
      await fire([run('1'), run('2'), run('3')], 0)
      await begin('1')
      await end('1')
      await begin('2')
      await store().schedules.begin({ ...BEGUN, id: '3', isAlone: false })
      await end('3', 'ok', 1)
      expect((await store().schedules.runs({ schedule: 'a', limit: 9 })).map(({ id }) => id)).toEqual(['3', '2'])
    })

    it('that are done make no room while a run of theirs is not over', async () => {
      const { schedules } = store()
      await add('a', { principal: 'p' })
      await fire([run('r1')], 0)
      await schedules.save({ ...(await schedules.find('a'))!, state: 'done' })
      await add('b', { principal: 'p' })
      await expect(async () => add('c', { principal: 'p' })).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
      await end('r1')
      await add('c', { principal: 'p' })
      expect((await schedules.list({ principal: 'p' })).map(({ id }) => id)).toEqual(['b', 'c'])
    })

    it('are due in the order of their times, and save only what was read last', async () => {
      const { schedules } = store()
      expect(await schedules.nextAt()).toBeUndefined()
      await add('late', { nextAt: 30, dueAt: 30 })
      await add('early', { nextAt: 10, dueAt: 9 })
      await add('never', { state: 'off', reason: 'tired' })
      expect(await schedules.nextAt()).toBe(10)
      expect(await schedules.due(9, 10)).toEqual([])
      expect((await schedules.due(30, 10)).map(({ id }) => id)).toEqual(['early', 'late'])
      expect(await schedules.due(30, 1)).toHaveLength(1)
      const [early] = await schedules.due(30, 1)
      const { dueAt: _, nextAt: __, ...off } = { ...early!, state: 'off' as const, reason: 'x', body: '{"b":1}' }
      expect(await schedules.save(off)).toBe(true)
      expect(await schedules.save(off)).toBe(false)
      expect(await schedules.find('early')).toEqual({ ...off, version: 1 })
      expect(await schedules.nextAt()).toBe(30)
    })

    it('fire each time once, and count it', async () => {
      await add('a', { nextAt: 10, dueAt: 10 })
      const fired = await fire([run('1', { missed: 4 })], 0)
      expect(fired).toMatchObject([
        { id: '1', status: 'waiting', missed: 4, untrusted: false, seq: expect.any(Number) },
      ])
      expect(await fire([run('2')], 0)).toBeUndefined()
      expect(await store().schedules.find('a')).toMatchObject({
        version: 1,
        dueAt: 20,
        nextAt: 21,
        lastAt: 12,
        runs: 1,
      })
      expect(await store().schedules.runs({ schedule: 'a', limit: 10 })).toHaveLength(1)
    })

    it('leave a run out, or let it wait, while the one before is not over', async () => {
      await add('a', { nextAt: 10, dueAt: 10 })
      await fire([run('1'), run('2')], 0)
      expect(await begin('2')).toBe('wait')
      expect(await begin('1', 'other')).toBe('gone')
      expect(await begin('1')).toBe('begun')
      expect(await begin('1')).toBe('gone')
      expect(await fire([run('3')], 1, SKIP)).toMatchObject([{ status: 'skipped' }])
      expect(await store().schedules.find('a')).toMatchObject({ lastStatus: 'skipped' })
      expect(await fire([run('4'), run('5')], 2)).toMatchObject([{ status: 'waiting' }, { status: 'skipped' }])
      expect((await store().schedules.active(10)).map(({ id }) => id)).toEqual(['1', '2', '4'])
      expect(await end('1')).toBe(true)
      expect(await end('1')).toBe(false)
      expect(await store().schedules.findRun('1')).toMatchObject({
        status: 'ok',
        runId: 'run-1',
        endedAt: 15,
        startedAt: 13,
      })
      expect(await begin('4')).toBe('wait')
      expect(await begin('2')).toBe('begun')
      const alone = { id: '4', owner: 'me', runId: 'r', startedAt: 1, leasedUntil: 2, isAlone: false }
      expect(await store().schedules.begin(alone)).toBe('begun')
      expect(await store().schedules.addRun(run('6'), SKIP)).toMatchObject({ status: 'skipped' })
      await expect(async () => store().schedules.addRun(run('7', { schedule: 'none' }), SKIP)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'The schedule no longer exists.',
      })
    })

    it('give a waiting run of one who is gone to another, and let the truth replace an interruption', async () => {
      const { schedules } = store()
      await add('a', { nextAt: 10, dueAt: 10 })
      await fire([run('1'), run('2')], 0)
      await begin('1')
      await schedules.renew('me', 500)
      expect((await schedules.active(10)).map(({ leasedUntil }) => leasedUntil)).toEqual([500, 500])
      expect(await schedules.takeOver('1', 'me', { owner: 'you', leasedUntil: 9 })).toBe(false)
      expect(await schedules.takeOver('2', 'me', { owner: 'you', leasedUntil: 9 })).toBe(true)
      expect(await schedules.takeOver('2', 'me', { owner: 'you', leasedUntil: 9 })).toBe(false)
      expect(await schedules.findRun('2')).toMatchObject({ owner: 'you', leasedUntil: 9 })
      await schedules.renew('me', 700)
      expect((await schedules.active(10)).map(({ leasedUntil }) => leasedUntil)).toEqual([700, 9])
      expect(await schedules.active(1)).toHaveLength(1)
      expect(await end('1', 'interrupted')).toBe(true)
      await schedules.renew('me', 900)
      expect(await schedules.findRun('1')).toMatchObject({ leasedUntil: 700 })
      expect(await end('1', 'ok')).toBe(true)
      expect(await schedules.findRun('1')).toMatchObject({ status: 'ok' })
    })

    it('remember the last runs, page by page, and nothing of a schedule that is gone', async () => {
      const { schedules } = store()
      await add('a', { nextAt: 10, dueAt: 10 })
      for (let n = 0; n < 5; n++) {
        await fire([run(`r${n}`)], n, SKIP)
        await begin(`r${n}`)
        await end(`r${n}`, 'ok', 3)
      }
      const page = await schedules.runs({ schedule: 'a', limit: 2 })
      expect(page.map(({ id }) => id)).toEqual(['r4', 'r3'])
      const rest = await schedules.runs({ schedule: 'a', limit: 9, before: page[1]!.seq })
      expect(rest.map(({ id }) => id)).toEqual(['r2'])
      expect(await fire([run('m', { status: 'missed', missed: 2 })], 5)).toMatchObject([{ status: 'missed' }])
      expect(await schedules.find('a')).toMatchObject({ runs: 5, lastStatus: 'missed' })
      await schedules.remove('a')
      expect(await schedules.runs({ schedule: 'a', limit: 9 })).toEqual([])
    })
  })
}

function scheduleOf(id: string, more: Partial<StoredSchedule>): StoredSchedule {
  return { id, principal: '', name: id, body: '{}', state: 'on', version: 0, createdAt: 1, runs: 0, ...more }
}
