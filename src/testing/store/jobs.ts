import { newOwner } from '../../lib/process-owner.ts'
import type { StoreTests } from './suite-runner.ts'

const OWNER = newOwner()

/** Jobs and slots. */
export function jobsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the jobs and slots of ${name}`, () => {
    const take = (now: number) => store().jobs.take({ kind: 'hook', owner: OWNER, now, leaseMs: 100 })

    it('give the job that is due first to one at a time, and again when the lease ran out', async () => {
      for (const [id, dueAt] of [
        ['late', 20],
        ['early', 10],
        ['future', 900],
      ] as const)
        await store().jobs.add({ id, kind: 'hook', body: '{}', dueAt })
      await store().jobs.add({ id: 'early', kind: 'hook', body: '"twice"', dueAt: 1 })
      await store().jobs.add({ id: 'cron', kind: 'schedule', body: '{}', dueAt: 0 })
      expect(await take(9)).toBeUndefined()
      expect(await take(30)).toEqual({ id: 'early', kind: 'hook', body: '{}', dueAt: 10, attempts: 1 })
      expect(await take(30)).toMatchObject({ id: 'late' })
      expect(await take(30)).toBeUndefined()
      await store().jobs.finish('late')
      expect(await take(129)).toBeUndefined()
      expect(await take(130)).toMatchObject({ id: 'early', attempts: 2 })
      expect((await store().jobs.list({ kind: 'hook' })).map(({ id }) => id)).toEqual(['early', 'future'])
      expect(await store().jobs.list({ kind: 'hook', limit: 1 })).toHaveLength(1)
    })

    it('put a job that failed off until later', async () => {
      await store().jobs.add({ id: 'j', kind: 'hook', body: '{}', dueAt: 0 })
      await take(0)
      await store().jobs.retry('j', 50)
      expect(await take(49)).toBeUndefined()
      expect(await take(50)).toMatchObject({ id: 'j', dueAt: 50, attempts: 2 })
      await store().jobs.retry('nothing', 50)
      await store().jobs.retry('j', 0)
      expect(await take(0)).toEqual({ id: 'j', kind: 'hook', body: '{}', dueAt: 0, attempts: 3 })
    })

    it('give jobs of one moment by their id', async () => {
      for (const id of ['b', 'c', 'a']) await store().jobs.add({ id, kind: 'hook', body: '', dueAt: 5 })
      expect((await store().jobs.list({ kind: 'hook' })).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
      expect(await take(5)).toMatchObject({ id: 'a' })
    })

    it('lease a slot to one owner at a time', async () => {
      const lease = (owner: string, now: number) => store().slots.lease('minute', { owner, now, until: now + 100 })
      expect(await lease('a', 0)).toBe(true)
      expect(await lease('b', 99)).toBe(false)
      expect(await lease('a', 50)).toBe(true)
      expect(await lease('b', 149)).toBe(false)
      expect(await lease('b', 150)).toBe(true)
      await store().slots.release('minute', 'a')
      await store().sweep(200)
      expect(await lease('a', 200)).toBe(false)
      await store().slots.release('minute', 'b')
      expect(await lease('a', 200)).toBe(true)
    })
  })
}
