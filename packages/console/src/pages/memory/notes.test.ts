import { expect, it } from 'vitest'
import { findDuplicates, readTags, saysTheSame } from './notes.ts'

const note = (id: string, content: string, key = 'shared') => ({ id, key, content })

it('marks what says the same as an older one, and leaves the older one unmarked', () => {
  const newestFirst = [
    note('d', 'releases are\n on Thursdays. '),
    note('c', 'Something else'),
    note('b', 'Releases are on Thursdays.', 'agent:token:ci'),
    note('a', 'Releases are on Thursdays.'),
  ]
  expect([...findDuplicates(newestFirst)]).toEqual(['d'])
})

it('compares words, not case and spaces', () => {
  expect(saysTheSame('A  b', 'a B')).toBe(true)
  expect(saysTheSame('A b', 'A c')).toBe(false)
})

it('reads tags as people write them, each once', () => {
  expect(readTags(' deploy, #ci ,, deploy,two words')).toEqual(['deploy', 'ci', 'two words'])
  expect(readTags('')).toEqual([])
})
