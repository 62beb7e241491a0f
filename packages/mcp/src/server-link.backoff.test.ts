import { describe, expect, it } from 'vitest'
import { Backoff } from './server-link.ts'

describe('the backoff of a server', () => {
  it('waits twice as long each time and gives up after five quick failures', () => {
    const backoff = new Backoff(() => 1)
    expect([1, 2, 3, 4, 5, 6].map(() => backoff.afterFailure(10))).toEqual([
      500,
      1000,
      2000,
      4000,
      undefined,
      undefined,
    ])
  })

  it('begins anew when a server lived for a while', () => {
    const backoff = new Backoff(() => 1)
    for (let failure = 0; failure < 4; failure++) backoff.afterFailure(10)
    expect(backoff.afterFailure(30_000)).toBe(500)
    for (let failure = 0; failure < 3; failure++) backoff.afterFailure(29_999)
    expect(backoff.afterFailure(29_999)).toBeUndefined()
  })

  it('spreads those who failed together', () => {
    expect(new Backoff(() => 0).afterFailure(0)).toBe(250)
  })
})
