import type { StoredEvent } from '../../core/store.ts'
import type { StoreTests } from './suite-runner.ts'

const DAY = 86_400_000

/** What processes tell each other. */
export function eventsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the events of ${name}`, () => {
    it('are heard once and in order by all who watch, from the moment they watch', async () => {
      const heard: StoredEvent[][] = [[], []]
      await store().events.append({ topic: 'before', body: '', at: 1 })
      const stop = store().events.watch((event) => heard[0]?.push(event))
      const first = await store().events.append({ topic: 'policy', body: '{"a":1}', at: 2 })
      const stopSecond = store().events.watch((event) => heard[1]?.push(event))
      const second = await store().events.append({ topic: 'policy', body: '{"a":2}', at: 3 })
      await Promise.resolve()
      stop()
      const third = await store().events.append({ topic: 'policy', body: '{"a":3}', at: 4 })
      await Promise.resolve()
      stopSecond()
      await store().events.append({ topic: 'after', body: '', at: 5 })
      await Promise.resolve()
      expect(heard[0]).toEqual([
        { seq: first, topic: 'policy', body: '{"a":1}', at: 2 },
        { seq: second, topic: 'policy', body: '{"a":2}', at: 3 },
      ])
      expect(heard[1]?.map(({ seq }) => seq)).toEqual([second, third])
      expect(first < second && second < third).toBe(true)
    })

    it('are heard by others when one listener fails', async () => {
      const heard: string[] = []
      store().events.watch(() => {
        throw new Error('deaf')
      })
      store().events.watch(({ topic }) => heard.push(topic))
      await store().events.append({ topic: 'a', body: '', at: 1 })
      await Promise.resolve()
      expect(heard).toEqual(['a'])
    })

    it('are given back in full, and are heard by one who watches again', async () => {
      const heard: StoredEvent[] = []
      const first = await store().events.append({ topic: 'a', body: 'x', at: 9 })
      store().events.watch(() => {})()
      await store().events.append({ topic: 'b', body: 'y', at: 8 })
      const stop = store().events.watch((event) => heard.push(event))
      const last = await store().events.append({ topic: 'c', body: 'z', at: 7 })
      await Promise.resolve()
      stop()
      expect(last).toBe(first + 2)
      expect(heard).toEqual([{ seq: last, topic: 'c', body: 'z', at: 7 }])
    })

    it('never reuse a number, also after all were swept', async () => {
      const seq = await store().events.append({ topic: 'a', body: '', at: 1 })
      await store().sweep(2 * DAY)
      expect(await store().events.append({ topic: 'b', body: '', at: 1 })).toBeGreaterThan(seq)
    })
  })
}
