import { expect, it } from 'vitest'
import { mergeRuns } from './merge-runs.ts'

const run = (id: string, startedAt: number, calls = 1) => ({
  run: id,
  caller: 'a',
  startedAt,
  endedAt: startedAt,
  calls,
  failures: 0,
})

it('keeps what a page no longer has, newest first, and takes the newer of the same run', () => {
  const merged = mergeRuns([run('b', 2), run('a', 1)], [run('c', 3), run('b', 2, 5)])
  expect(merged.map(({ run: id, calls }) => [id, calls])).toEqual([
    ['c', 1],
    ['b', 5],
    ['a', 1],
  ])
})
