import fc from 'fast-check'
import { expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { nearestNames } from './names.ts'

/** Every name compared letter by letter: what `nearestNames` must return, by a way that is too slow for many names. */
function nearestByAll(wanted: string, names: readonly string[], most: number): string[] {
  const target = wanted.slice(0, 128).toLowerCase()
  return names
    .flatMap((name) => likenesses(target, name.toLowerCase()).map((distance) => ({ name, distance })))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, most)
    .map(({ name }) => name)
}

/** How far the whole name and its last part are, if near enough; a last part counts as one letter further. */
function likenesses(wanted: string, name: string): number[] {
  const most = Math.floor((wanted.length + 1) / 3)
  const lastAt = Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1
  const whole = editDistance(wanted, name)
  const last = lastAt === 0 ? Number.POSITIVE_INFINITY : editDistance(wanted, name.slice(lastAt))
  const near = [whole <= most ? whole : undefined, last <= most ? last + 1 : undefined].filter(
    (one) => one !== undefined,
  )
  return near.length === 0 ? [] : [Math.min(...near)]
}

function editDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  )
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const change = table[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? table[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY
      table[i]![j] = Math.min(table[i - 1]![j]! + 1, table[i]![j - 1]! + 1, change, swap)
    }
  }
  return table[a.length]![b.length]!
}

it('finds the names that a comparison with all of them finds', () => {
  const part = fc.string({ unit: fc.constantFrom(...'abcdeX', ...'abcX', 'É'), maxLength: 18 })
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).chain((parts) => {
    return fc.constantFrom('.', '/', '').map((mark) => parts.join(mark))
  })
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), (wanted, names, most) => {
      expect(nearestNames(wanted, names, most)).toEqual(nearestByAll(wanted, names, most))
    }),
    { numRuns: 2_000 },
  )
})

it('compares names of any length', () => {
  const long = 'ab'.repeat(100)
  const names = [long, long.slice(0, 150), `${long.slice(0, 128)}x`, 'a', '']
  for (const wanted of [long, long.slice(0, 128), 'a', ''])
    expect(nearestNames(wanted, names)).toEqual(nearestByAll(wanted, names, 3))
})

it('looks through 10,000 names in a few milliseconds', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `acme/area${index}.doThing`)
  const search = () => expect(nearestNames('acme/area77.doThong', names)[0]).toBe('acme/area77.doThing')
  for (let count = 0; count < 5; count++) search()
  // 3 ms here; a comparison with all of them takes 100.
  expect(leastCpuMs(search, 30)).toBeLessThan(30)
})
