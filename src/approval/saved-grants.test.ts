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

it.each([
  ['hash', 128],
  ['principal', 200],
  ['by', 200],
  ['reason', 2_000],
])('reads a grant whose %s has up to %i characters, and tells of one that is longer', async (name, most) => {
  const { grants } = createMemoryStore()
  const { id, tool, createdAt: _, ...body } = grantOf(0)
  const read = async (value: string) => {
    await grants.put({ id, tool, body: JSON.stringify({ ...body, [name]: value }), createdAt: 0 })
    return new SavedGrants(grants, fakeClock()).list()
  }
  expect(await read('x'.repeat(most))).toMatchObject([{ id, [name]: 'x'.repeat(most) }])
  await expect(read('x'.repeat(most + 1))).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    fix: { hint: expect.stringContaining(`tool-hub grants revoke ${id}`) },
  })
})

it('leaves out a grant from the moment at which it ends', async () => {
  const clock = fakeClock(1_000)
  const { grants } = createMemoryStore({ now: () => 0 })
  const { id, tool, createdAt: _, ...body } = grantOf(0)
  await grants.put({ id, tool, body: JSON.stringify(body), createdAt: 0, expiresAt: 2_000 })
  const saved = new SavedGrants(grants, clock)
  await clock.advance(999)
  expect(await saved.list()).toHaveLength(1)
  await clock.advance(1)
  expect(await saved.list()).toEqual([])
})
