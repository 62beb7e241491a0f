import { expect, it } from 'vitest'
import { FoldedValues, plainWriting } from './folded-values.ts'

it('finds a value that is the only one, broken by a line end', () => {
  const values = new FoldedValues(['opensesame-42'], plainWriting(false))
  expect(values.hide('it is open\nsesame-42.', () => '*')).toBe('it is *.')
})

it('finds nothing where there is no value to look for', () => {
  expect(new FoldedValues([], plainWriting(false)).places('it is opensesame-42.')).toEqual([])
})
