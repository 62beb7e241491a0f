import type { FeatureHost } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { LeaseKeeper } from './schedule-runner.ts'

/** A keeper for an owner who has work while `isNeeded`; a store that fails where told. */
function keeping() {
  const clock = fakeClock(0)
  const state = { isNeeded: true, isBroken: false }
  const renewed: unknown[] = []
  const background: unknown[] = []
  const renew = async (owner: string, until: number) => {
    renewed.push([owner, until])
    if (state.isBroken) throw new Error('The store is away.')
  }
  const host = {
    store: { schedules: { renew } },
    clock: {
      ...{ now: clock.now },
      after: (ms: number, callback: () => void, options: unknown) => {
        background.push(options)
        return clock.after(ms, callback)
      },
    },
  } as unknown as FeatureHost
  const keeper = new LeaseKeeper(host, 'me', () => state.isNeeded)
  return { keeper, clock, state, renewed, background }
}

describe('the lease of a process', () => {
  it('holds for 30 s, and is renewed every 10 s in the background, by one timer', async () => {
    const { keeper, clock, renewed, background } = keeping()
    expect(keeper.until).toBe(30_000)
    keeper.keep()
    keeper.keep()
    expect(clock.waiting).toBe(1)
    await clock.advance(9_999)
    expect(renewed).toEqual([])
    await clock.advance(10_001)
    expect(renewed).toEqual([
      ['me', 40_000],
      ['me', 50_000],
    ])
    expect(background).toEqual(Array(3).fill({ background: true }))
  })

  it('runs out when there is nothing to do any more, until there is', async () => {
    const { keeper, clock, state, renewed } = keeping()
    keeper.keep()
    state.isNeeded = false
    await clock.advance(30_000)
    expect([renewed, clock.waiting]).toEqual([[], 0])
    state.isNeeded = true
    keeper.keep()
    await clock.advance(10_000)
    expect(renewed).toHaveLength(1)
  })

  it('is tried again when the store was away', async () => {
    const { keeper, clock, state, renewed } = keeping()
    state.isBroken = true
    keeper.keep()
    await clock.advance(20_000)
    expect(renewed).toHaveLength(2)
  })

  it('is not renewed after the end', async () => {
    const { keeper, clock } = keeping()
    keeper.keep()
    keeper.close()
    expect(clock.waiting).toBe(0)
    keeper.keep()
    expect(clock.waiting).toBe(0)
    const unused = keeping()
    unused.keeper.close()
    unused.keeper.keep()
    expect(unused.clock.waiting).toBe(0)
  })
})
