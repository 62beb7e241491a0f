import { describe, expect, it } from 'vitest'
import { describeBudget } from './describe-budget.ts'

describe('the budget of an agent', () => {
  it('says what was used of what there is', () => {
    const used = { calls: 3, wallMs: 90_000, cost: 0.5 }
    expect(describeBudget({ used, limits: { calls: 50, wallMs: 3_600_000, cost: 2 } })).toBe(
      '3 of 50 calls, 1 min 30 s of 1 h, cost 0.5 of 2',
    )
  })

  it('leaves out what has no limit, and costs where nothing has one', () => {
    expect(describeBudget({ used: { calls: 1, wallMs: 0, cost: 0 }, limits: {} })).toBe('1 call, 0 ms')
  })
})
