import { expect, it } from 'vitest'
import { lostWords } from './lost-words.ts'

it('says who was first, how and by which way', () => {
  const answered = { by: 'user:bob', via: 'cli', at: '2026-11-15T10:00:00Z', decision: 'deny' }
  expect(lostWords('core/fs.edit', answered)).toMatchObject({
    title: 'user:bob was first',
    description: 'core/fs.edit was denied via cli; your answer does not count.',
  })
  expect(lostWords('core/fs.edit', undefined).title).toBe('Too late')
})
