import { expect, it } from 'vitest'
import { readTags } from './read-tags.ts'

it('reads tags as people write them, each once', () => {
  expect(readTags(' deploy, #ci ,, deploy,two words')).toEqual(['deploy', 'ci', 'two words'])
  expect(readTags('')).toEqual([])
})
