import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findRuns } from './find-runs.ts'

it('finds what a plain comparison finds, overlapping runs too', () => {
  const line = fc.constantFrom('a', 'b')
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.array(line, { minLength: 1, maxLength: 5 }), (lines, run) => {
      const wanted = lines.flatMap((_, at) => (run.every((own, index) => lines[at + index] === own) ? [at] : []))
      expect(findRuns(lines, run)).toEqual(wanted)
    }),
  )
})

it('leaves out runs that overlap when told', () => {
  expect(findRuns(['a', 'a', 'a', 'a', 'a'], ['a', 'a'], { mayOverlap: false })).toEqual([0, 2])
})

it('begins where it is told and stops when it has enough', () => {
  expect(findRuns(['a', 'a', 'a', 'a'], ['a'], { from: 1, most: 2 })).toEqual([1, 2])
})

it('takes no longer for lines that are all alike', () => {
  const lines = new Array<string>(200_000).fill('x')
  const run = [...new Array<string>(100_000).fill('x'), 'y']
  const started = performance.now()
  expect(findRuns(lines, run)).toEqual([])
  expect(performance.now() - started).toBeLessThan(1_000)
})
