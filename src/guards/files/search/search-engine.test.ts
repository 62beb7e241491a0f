import { expect, it } from 'vitest'
import { searchEngine } from './search-engine.ts'

it('names the ripgrep that comes along', async () => {
  expect(await searchEngine()).toEqual({ engine: 'ripgrep', detail: expect.stringMatching(/^ripgrep \d+\./) })
})

it('says why it is the built-in search, and what brings ripgrep', async () => {
  expect(await searchEngine(async () => undefined)).toEqual({
    engine: 'built-in',
    detail: expect.stringMatching(/not installed.*npm install/),
  })
  expect(await searchEngine(async () => '/nowhere/rg')).toMatchObject({
    engine: 'built-in',
    detail: expect.stringContaining('ENOENT'),
  })
})
