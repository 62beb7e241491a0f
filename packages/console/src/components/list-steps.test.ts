import { describe, expect, it } from 'vitest'
import { neighbourOf, stepFrom } from './list-steps.ts'

describe('the steps through a list', () => {
  const list = [{ id: 'b' }, { id: 'q' }, { id: 'a' }]

  it('moves on to the next when one is done, and back at the end', () => {
    expect(['b', 'q', 'a', 'gone'].map((id) => neighbourOf(list, id))).toEqual(['q', 'a', 'q', 'b'])
    expect(neighbourOf(list.slice(0, 1), 'b')).toBeUndefined()
  })

  it('moves by keys within the list', () => {
    expect([
      stepFrom(list, undefined, 1),
      stepFrom(list, 'b', 1),
      stepFrom(list, 'b', -1),
      stepFrom(list, 'a', 1),
    ]).toEqual(['b', 'q', 'b', 'a'])
    expect(stepFrom([], undefined, 1)).toBeUndefined()
  })
})
