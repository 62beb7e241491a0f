import type { StoreTests } from '@tool-hub/core'
import type { NewProcess } from '../store/types.ts'

const PROCESS: NewProcess = {
  ...{ id: 'p1', kind: 'service', host: 'one', pid: 7, version: '1.0.0', labels: [], running: 0, isDraining: false },
  startedAt: 5,
}
const NO_STATE = { taintedBy: [], wasCleared: false }

/** Processes, the states of runs, and what all processes agree on. */
export function processesSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the processes of ${name}`, () => {
    const beat = (change: Partial<NewProcess> = {}) => store().processes.beat({ ...PROCESS, ...change })

    it('are alive with their heartbeats, as they describe themselves last, until they are removed', async () => {
      const { now } = await beat({ id: 'p2', startedAt: 9, kind: 'worker', labels: ['gpu', 'a"b'], concurrency: 4 })
      await beat()
      const change = { address: 'http://one:7700', running: 3, isDraining: true, policy: 'hash' }
      const { now: later } = await beat(change)
      expect(later >= now).toBe(true)
      const [first, second, ...others] = await store().processes.list()
      expect(others).toEqual([])
      expect(first).toEqual({ ...PROCESS, ...change, seenAt: first!.seenAt, isAlive: true })
      expect(second).toMatchObject({ id: 'p2', kind: 'worker', labels: ['gpu', 'a"b'], concurrency: 4, isAlive: true })
      expect(Object.keys(second!)).not.toContain('address')
      await store().processes.remove('p2')
      await store().processes.remove('nobody')
      expect((await store().processes.list()).map(({ id }) => id)).toEqual(['p1'])
    })
  })

  describe(`the states of runs of ${name}`, () => {
    const runs = () => store().runStates
    const alive = async (...ids: string[]) => {
      for (const id of ids) await store().processes.beat({ ...PROCESS, id })
    }
    const lease = (owner: string, principal?: string) => runs().lease('r', { owner, principal })

    it('are leased to one process at a time, in epochs that count its owners', async () => {
      await alive('a', 'b')
      expect(await runs().find('r')).toBeUndefined()
      const first = await lease('a', 'ada')
      const state = { run: 'r', principal: 'ada', owner: 'a', epoch: 1, leasedAt: first.leasedAt, ...NO_STATE }
      expect(first).toEqual(state)
      expect(await lease('b', 'bob')).toEqual(state)
      expect(await lease('a')).toMatchObject({ owner: 'a', epoch: 1, principal: 'ada' })
      await runs().release('r', { owner: 'a', epoch: 0 })
      await runs().release('r', { owner: 'b', epoch: 1 })
      expect(await runs().find('r')).toMatchObject({ owner: 'a', epoch: 1 })
      await runs().release('r', { owner: 'a', epoch: 1 })
      expect(await runs().find('r')).toEqual({ run: 'r', principal: 'ada', epoch: 1, ...NO_STATE })
      expect(await lease('b', 'bob')).toMatchObject({ owner: 'b', epoch: 2, principal: 'ada' })
    })

    it('are free when their process has ended, and its old lease is worth nothing then', async () => {
      await alive('a', 'b')
      await lease('a')
      await runs().taint('r', ['mail'], { owner: 'a', epoch: 1 })
      await store().processes.remove('a')
      expect(await runs().find('r')).toMatchObject({ owner: 'a' })
      expect(await lease('b')).toMatchObject({ owner: 'b', epoch: 2, taintedBy: ['mail'] })
      await alive('a')
      const old = { owner: 'a', epoch: 1 }
      expect(await runs().renew('r', old)).toBe(false)
      expect(await runs().taint('r', [], old)).toBe(false)
      await runs().release('r', old)
      expect(await runs().find('r')).toMatchObject({ owner: 'b', epoch: 2, taintedBy: ['mail'], wasCleared: false })
      expect(await runs().renew('r', { owner: 'b', epoch: 2 })).toBe(true)
      expect(await runs().renew('r', { owner: 'b', epoch: 1 })).toBe(false)
      expect(await runs().renew('none', old)).toBe(false)
    })

    it('say who left a run, which stays known as left until it was closed', async () => {
      await alive('a', 'b')
      expect(await lease('gone')).not.toHaveProperty('takenFrom')
      expect(await lease('a')).toMatchObject({ owner: 'a', epoch: 2, takenFrom: 'gone' })
      expect(await lease('a')).toMatchObject({ owner: 'a', epoch: 2, takenFrom: 'a' })
      await runs().release('r', { owner: 'a', epoch: 1 }, 'gone')
      expect(await runs().find('r')).toMatchObject({ owner: 'a' })
      await runs().release('r', { owner: 'a', epoch: 2 }, 'gone')
      expect(await runs().leases()).toMatchObject([{ run: 'r', owner: 'gone', epoch: 2 }])
      expect(await lease('b')).toMatchObject({ owner: 'b', epoch: 3, takenFrom: 'gone' })
      await runs().release('r', { owner: 'b', epoch: 3 })
      expect((await lease('a')).takenFrom).toBeUndefined()
    })

    it('move once when several processes take a run at the same time', async () => {
      await alive('a', 'b', 'c', 'd')
      await lease('gone')
      const taken = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => lease(owner)))
      const { owner } = (await runs().find('r'))!
      expect(taken.map((state) => [state.owner, state.epoch])).toEqual(taken.map(() => [owner, 2]))
    })

    it('keep the principal that came first, and none for a run of the owner', async () => {
      expect(await runs().own('r', 'ada')).toEqual({ run: 'r', principal: 'ada', epoch: 0, ...NO_STATE })
      expect(await runs().own('r', 'bob')).toMatchObject({ principal: 'ada' })
      await runs().taint('mine', ['x'])
      expect(Object.keys(await runs().own('mine', 'bob'))).not.toContain('principal')
      expect(await runs().lease('mine', { owner: 'a', principal: 'bob' })).toEqual({
        ...{ run: 'mine', owner: 'a', epoch: 1, taintedBy: ['x'], wasCleared: false },
        leasedAt: (await runs().find('mine'))!.leasedAt,
      })
    })

    it('remember what has tainted a run, and that it was cleared', async () => {
      expect(await runs().taint('r', [])).toBe(true)
      expect(await runs().find('r')).toEqual({ run: 'r', epoch: 0, ...NO_STATE })
      expect(await runs().taint('r', ['https://example.org', "it's", '[]'])).toBe(true)
      expect(await runs().find('r')).toMatchObject({ taintedBy: ['https://example.org', "it's", '[]'] })
      expect(await runs().taint('r', [])).toBe(true)
      expect(await runs().find('r')).toMatchObject({ taintedBy: [], wasCleared: true })
      expect(await runs().taint('r', ['again'])).toBe(true)
      expect(await runs().find('r')).toMatchObject({ taintedBy: ['again'], wasCleared: true })
      await runs().remove('r')
      expect(await runs().find('r')).toBeUndefined()
      expect(await runs().taint('r', ['x'], { owner: 'a', epoch: 1 })).toBe(false)
      expect(await runs().find('r')).toBeUndefined()
    })

    it('let a process that has lost the run finish a key without its result, if the store is shared', async () => {
      if (store().location !== 'network') return
      const finish = async (key: string, held: { owner: string; epoch: number }) => {
        await store().keys.claim(key, { argsHash: 'h', owner: 'o', now: 0 })
        await store().keys.finish(key, { owner: 'o', result: '"done"', expiresAt: 9, held: { run: 'r', ...held } })
        return store().keys.look(key)
      }
      await alive('b')
      await lease('gone')
      expect(await finish('k1', { owner: 'gone', epoch: 1 })).toMatchObject({ state: 'finished', result: '"done"' })
      await lease('b')
      const finished = { argsHash: 'h', state: 'finished', owner: 'o', expiresAt: 9 }
      expect(await finish('k2', { owner: 'gone', epoch: 1 })).toEqual(finished)
      expect(await finish('k3', { owner: 'b', epoch: 2 })).toMatchObject({ result: '"done"' })
    })

    it('are listed while they are leased', async () => {
      await alive('a', 'b')
      await runs().own('free', 'ada')
      for (const run of ['r1', 'r2']) await runs().lease(run, { owner: 'a' })
      await runs().lease('r3', { owner: 'b' })
      const listed = async (filter?: { owner?: string; limit?: number }) =>
        (await runs().leases(filter)).map(({ run }) => run).sort()
      expect(await listed()).toEqual(['r1', 'r2', 'r3'])
      expect(await listed({ owner: 'a' })).toEqual(['r1', 'r2'])
      expect(await listed({ limit: 1 })).toHaveLength(1)
      expect(await listed({ owner: 'nobody' })).toEqual([])
    })
  })

  describe(`the settings of ${name}`, () => {
    it('have one secret of each name, no matter which process asks first', async () => {
      const [first, second] = await Promise.all([store().settings.secret('key'), store().settings.secret('key')])
      expect(first).toHaveLength(32)
      expect(second).toEqual(first)
      expect(await store().settings.secret('other')).not.toEqual(first)
    })
  })
}
