import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findRuns } from './lines.ts'

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

it('begins at the given line and stops when it has enough', () => {
  expect(findRuns(['a', 'a', 'a', 'a'], ['a'], { from: 1, most: 2 })).toEqual([1, 2])
})

it('looks at a line a few times only, also when all are alike', () => {
  const lines = lookedAt(new Array<string>(20_000).fill('x'), 300_000)
  const run = lookedAt([...new Array<string>(10_000).fill('x'), 'y'], 300_000)
  expect(findRuns(lines, run)).toEqual([])
})

/** Lines that can be looked at so many times, all together. */
function lookedAt(lines: string[], times: number): string[] {
  let left = times
  return new Proxy(lines, {
    get(target, key) {
      if (--left < 0) throw new Error(`Looked at more than ${times} times.`)
      return Reflect.get(target, key)
    },
  })
}
