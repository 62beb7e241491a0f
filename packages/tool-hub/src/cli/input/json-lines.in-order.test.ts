import { describe, expect, it } from 'vitest'
import { inOrder } from './json-lines.ts'

describe('inOrder', () => {
  it('gives results in the order of the items, whichever is ready first', async () => {
    const gates = [0, 1, 2].map(() => gate())
    const results = collect(inOrder(from([0, 1, 2]), (item) => gates[item]!.opened.then(() => item), 3))
    for (const { open } of gates.reverse()) open()
    expect(await results).toEqual([0, 1, 2])
  })

  it('never works on more items than it may, nor keeps more results', async () => {
    let underWay = 0
    let most = 0
    const work = async (item: number) => {
      most = Math.max(most, ++underWay)
      await null
      underWay--
      return item
    }
    expect(await collect(inOrder(from(Array.from({ length: 100 }, (_, item) => item)), work, 8))).toHaveLength(100)
    expect(most).toBeLessThanOrEqual(8)
  })

  it('gives a result before the next item has come', async () => {
    const second = gate()
    async function* items() {
      yield 1
      await second.opened
      yield 2
    }
    const results = inOrder(items(), async (item) => item, 8)
    expect((await results.next()).value).toBe(1)
    second.open()
    expect((await results.next()).value).toBe(2)
    expect((await results.next()).done).toBe(true)
  })

  it('tells a failure to read after the results of what was read', async () => {
    async function* items() {
      yield 1
      throw new Error('unreadable')
    }
    const results = inOrder(items(), async (item) => item, 8)
    expect((await results.next()).value).toBe(1)
    await expect(results.next()).rejects.toThrow('unreadable')
  })
})

async function* from<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const result of results) all.push(result)
  return all
}

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
