import { describe, expect, it } from 'vitest'
import { Meter } from './meter.ts'

describe('a meter', () => {
  it('stops work that passes the limit', () => {
    const meter = new Meter('The path', 'Do less.')
    meter.spend(4_999_999)
    meter.spend(1)
    expect(() => meter.spend(1)).toThrow('The path needs more than 5000000 steps')
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'takes %s for more than is left: a slip in counting never adds room',
    (steps) => {
      expect(() => new Meter('The path', 'Do less.').spend(steps)).toThrow('steps')
    },
  )
})
