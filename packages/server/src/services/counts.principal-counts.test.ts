import { expect, it } from 'vitest'
import { PrincipalCounts } from './counts.ts'

it('counts for each principal by itself, down to none', () => {
  const counts = new PrincipalCounts()
  const seen: number[][] = []
  const note = () => seen.push([counts.of('ada'), counts.of('bob')])
  note()
  for (const name of ['ada', 'bob', 'ada', 'ada']) counts.add(name)
  note()
  for (let left = 3; left > 0; left--) {
    counts.remove('ada')
    note()
  }
  counts.add('ada')
  note()
  expect(seen).toEqual([
    [0, 0],
    [3, 1],
    [2, 1],
    [1, 1],
    [0, 1],
    [1, 1],
  ])
})
