import { expect, it } from 'vitest'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import type { Grant } from './grants.ts'
import { SavedGrants } from './saved-grants.ts'

const grantOf = (index: number): Grant => ({
  id: `grant-${index}`,
  effect: 'allow',
  tool: `x.tool${index}`,
  covers: 'exact',
  hash: 'h',
  targets: [],
  by: 'ada',
  createdAt: '2026-01-01T00:00:00.000Z',
})

it('keeps 10,000 grants and refuses one more, so that none is lost', async () => {
  const clock = fakeClock()
  const { grants } = createMemoryStore({ now: clock.now })
  const { tool: _, id: __, createdAt: ___, ...body } = grantOf(0)
  for (let index = 0; index < 9_999; index++)
    await grants.put({ id: `grant-${index}`, tool: `x.tool${index}`, body: JSON.stringify(body), createdAt: 0 })
  const saved = new SavedGrants(grants, clock)
  const put = (index: number) => saved.put(grantOf(index), () => false)
  await put(9_999)
  await expect(put(10_000)).rejects.toMatchObject({
    code: 'FILE_TOO_LARGE',
    message: expect.stringContaining('10000 grants'),
  })
  expect(await grants.list()).toHaveLength(10_000)
  expect(await grants.list({ tool: 'x.tool10000' })).toEqual([])
})
