import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../test/support/holding-clock.ts'
import { noJail } from '../../../../test/support/made-jails.ts'
import { JailPool } from './jail-pool.ts'
import type { OpenJail } from './open-jail.ts'

/** A pool whose sandboxes are only counted. */
function poolOf(bounds: { mostKinds: number; enough: number; atOnce: number }) {
  const clock = holdingClock()
  const made: { key: string; stops: number; end: () => void; jail: OpenJail; hasFailed: boolean }[] = []
  const pool = new JailPool({
    ...bounds,
    clock,
    keyOf: ({ key }) => key,
    open({ key }) {
      let end = () => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const entry = { key, stops: 0, end, hasFailed: false, jail: undefined as unknown as OpenJail }
      entry.jail = {
        ended,
        get hasFailed() {
          return entry.hasFailed
        },
        async stop() {
          entry.stops += 1
        },
      } as unknown as OpenJail
      made.push(entry)
      return entry.jail
    },
  })
  const jail = (key: string) => ({ ...noJail(), key })
  const living = () => made.filter(({ stops }) => stops === 0).map(({ key }) => key)
  return {
    clock,
    made,
    living,
    fill: (key: string) => pool.fill(jail(key)),
    take: (key: string) => pool.take(jail(key)),
  }
}

describe('a pool of sandboxes', () => {
  it('makes some at once, until there are enough', () => {
    const { fill, made, take } = poolOf({ mostKinds: 9, enough: 3, atOnce: 2 })
    fill('a')
    expect(made).toHaveLength(2)
    fill('a')
    expect(made).toHaveLength(4)
    fill('a')
    expect(made).toHaveLength(4)
    take('a')
    fill('a')
    expect(made).toHaveLength(4)
    take('a')
    fill('a')
    expect(made).toHaveLength(6)
  })

  it('gives each to one command, the oldest first, and none that has failed or ended', async () => {
    const { fill, made, take } = poolOf({ mostKinds: 9, enough: 1, atOnce: 4 })
    fill('a')
    expect(take('b')).toBeUndefined()
    made[0]!.hasFailed = true
    made[1]!.end()
    await new Promise(setImmediate)
    expect([take('a'), take('a'), take('a')]).toEqual([made[2]!.jail, made[3]!.jail, undefined])
  })

  it('ends one that nobody needed for 30 seconds, by a timer that keeps no process alive', async () => {
    const { clock, fill, made, living, take } = poolOf({ mostKinds: 9, enough: 1, atOnce: 2 })
    fill('a')
    const taken = take('a')
    await clock.advance(29_999)
    expect(living()).toEqual(['a', 'a'])
    await clock.advance(1)
    expect(made.map(({ jail, stops }) => [jail === taken, stops])).toEqual([
      [true, 0],
      [false, 1],
    ])
    expect([take('a'), clock.waiting, clock.holding]).toEqual([undefined, 0, 0])
  })

  it('keeps so many kinds, those that were used last', () => {
    const { clock, fill, living } = poolOf({ mostKinds: 2, enough: 1, atOnce: 1 })
    for (const key of ['a', 'b', 'a', 'c']) fill(key)
    expect(living()).toEqual(['a', 'c'])
    expect(clock.waiting).toBe(2)
  })
})
