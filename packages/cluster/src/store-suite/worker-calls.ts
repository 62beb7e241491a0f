import type { StoreTests } from '@tool-hub/core'

const ALIVE = {
  kind: 'service',
  host: 'one',
  pid: 7,
  version: '1.0.0',
  labels: [],
  running: 0,
  isDraining: false,
} as const

/** Calls that workers execute. */
export function workerCallsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the calls for workers of ${name}`, () => {
    const calls = () => store().workerCalls
    const add = (id: string, change: { queue?: string; queuedAt?: number } = {}) =>
      calls().add({ id, queue: 'worker:gpu', run: 'r', queuedAt: 1, ...change })
    const claim = async (id: string, worker: string) => (await calls().claim([id], { worker, now: 5 })).length === 1
    const result = async (id: string) => (await calls().results([id]))[0]

    it('are executed by the first worker that claims one, whose result stays until it is removed', async () => {
      await add('c')
      await add('c', { queue: 'worker:other' })
      expect(await calls().look(['c', 'unknown'])).toEqual([{ id: 'c', state: 'queued' }])
      expect(await calls().finish('c', { worker: 'w1', result: '1' })).toBe(false)
      expect(await claim('c', 'w1')).toBe(true)
      for (const worker of ['w1', 'w2']) expect(await claim('c', worker)).toBe(false)
      expect(await claim('unknown', 'w1')).toBe(false)
      expect(await calls().look(['c'])).toEqual([{ id: 'c', state: 'running', worker: 'w1' }])
      await calls().remove(['c'])
      expect(await result('c')).toBeUndefined()
      expect(await calls().finish('c', { worker: 'w2', result: '2' })).toBe(false)
      expect(await calls().finish('c', { worker: 'w1', result: '{"x":1}' })).toBe(true)
      expect(await calls().finish('c', { worker: 'w1', result: 'late' })).toBe(false)
      for (let reading = 0; reading < 2; reading++)
        expect(await result('c')).toEqual({ id: 'c', worker: 'w1', result: '{"x":1}' })
      await calls().remove(['c', 'unknown'])
      expect(await result('c')).toBeUndefined()
    })

    it('are stopped: one that waits is never executed, and a worker sees which of its own it should stop', async () => {
      for (const id of ['waits', 'runs', 'goes']) await add(id)
      for (const id of ['runs', 'goes']) await claim(id, 'w1')
      expect(await calls().stop('waits')).toBe('queued')
      expect(await claim('waits', 'w1')).toBe(false)
      expect(await calls().stopped(['runs', 'goes'], 'w1')).toEqual([])
      expect(await calls().stop('runs')).toBe('running')
      expect(await calls().stop('runs')).toBeUndefined()
      expect(await calls().stopped(['runs', 'goes', 'unknown'], 'w1')).toEqual(['runs', 'unknown'])
      expect(await calls().stopped(['goes'], 'w2')).toEqual(['goes'])
      expect(await calls().finish('runs', { worker: 'w1', result: '"stopped"' })).toBe(true)
      expect(await calls().stop('runs')).toBeUndefined()
    })

    it('are taken away from a worker that is gone, which can then finish nothing', async () => {
      await add('c')
      await claim('c', 'w1')
      expect(await calls().abandon('c', 'w2')).toBe(false)
      expect(await calls().abandon('c', 'w1')).toBe(true)
      expect(await calls().finish('c', { worker: 'w1', result: '1' })).toBe(false)
      expect(await claim('c', 'w2')).toBe(false)
      await add('ended')
      await claim('ended', 'w1')
      await calls().finish('ended', { worker: 'w1', result: '1' })
      expect(await calls().abandon('ended', 'w1')).toBe(false)
    })

    it('are not executed, and are stopped, once their run has moved to another process', async () => {
      for (const id of ['p1', 'p2']) await store().processes.beat({ ...ALIVE, id, startedAt: 1 })
      const { epoch } = await store().runStates.lease('r', { owner: 'p1' })
      for (const id of ['before', 'after'])
        await calls().add({ id, queue: 'worker', run: 'r', owner: 'p1', epoch, queuedAt: 1 })
      expect(await claim('before', 'w1')).toBe(true)
      expect(await calls().stopped(['before'], 'w1')).toEqual([])
      await store().processes.remove('p1')
      await store().runStates.lease('r', { owner: 'p2' })
      expect(await claim('after', 'w1')).toBe(false)
      expect(await calls().stopped(['before'], 'w1')).toEqual(['before'])
    })

    it('are not executed once the process that waits for them has ended', async () => {
      await store().processes.beat({ ...ALIVE, id: 'p1', startedAt: 1 })
      for (const id of ['before', 'after'])
        await calls().add({ id, queue: 'worker', run: 'r', owner: 'p1', queuedAt: 1 })
      expect(await claim('before', 'w1')).toBe(true)
      await store().processes.remove('p1')
      expect(await claim('after', 'w1')).toBe(false)
      expect(await calls().stopped(['before'], 'w1')).toEqual(['before'])
      expect(await calls().queues()).toEqual([])
    })

    it('are counted by queue, with the time of the one that waits longest', async () => {
      await add('1', { queuedAt: 30 })
      await add('2', { queuedAt: 20 })
      await add('3', { queue: 'worker', queuedAt: 10 })
      await add('4', { queue: 'worker' })
      for (const id of ['3', '4']) await claim(id, 'w1')
      await calls().finish('4', { worker: 'w1', result: '1' })
      expect(await calls().queues()).toEqual([
        { queue: 'worker', waiting: 0, running: 1 },
        { queue: 'worker:gpu', waiting: 2, running: 0, oldestAt: 20 },
      ])
    })

    it('are found among many', async () => {
      const ids = Array.from({ length: 1_200 }, (_, index) => `c${index}`)
      for (const id of ['c3', 'c1100']) await add(id)
      expect(await calls().claim([...ids, 'c3'], { worker: 'w1', now: 5 })).toHaveLength(2)
      expect((await calls().look(ids)).map(({ id }) => id)).toEqual(['c3', 'c1100'])
      expect(await calls().stopped(ids, 'w1')).toHaveLength(1_198)
    })
  })
}
