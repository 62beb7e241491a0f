import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type Grant, SavedGrants } from './grants.ts'

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
    message: 'The store holds 10000 grants already.',
    fix: { hint: 'Revoke some: tool-hub grants.' },
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
    message: expect.stringContaining(`The saved grant ${id} cannot be used: `),
    fix: {
      hint: `Revoke it: tool-hub grants revoke ${id}. Until then, grants allow no call of ${tool}.`,
    },
  })
})

const pattern = { on: ['fs/*'], shown: 'all files' }
const texts = (count: number, chars = 1) => Array.from({ length: count }, () => 'x'.repeat(chars))
it.each<[string, object, object]>([
  ['a hash', { hash: 'h' }, { hash: '' }],
  ['10,000 targets', { targets: texts(10_000) }, { targets: texts(10_001) }],
  ['a target of 10,000 characters', { targets: texts(1, 10_000) }, { targets: texts(1, 10_001) }],
  ['a target that is not empty', { targets: texts(1) }, { targets: [''] }],
  ['one pattern', { pattern }, { pattern: { ...pattern, on: [] } }],
  ['100 patterns', { pattern: { ...pattern, on: texts(100) } }, { pattern: { ...pattern, on: texts(101) } }],
  ['the tools of a pattern', { pattern: { ...pattern, tools: 'mcp/files/' } }, { pattern: { ...pattern, tools: '' } }],
  ['a pattern that people can read', { pattern }, { pattern: { on: ['fs/*'] } }],
  ['a time', { until: '2026-01-02T00:00:00.000Z' }, { until: 'tomorrow' }],
  ['a no', { effect: 'deny' }, { effect: 'ask' }],
  ['the targets as what it covers', { covers: 'targets' }, { covers: '*' }],
  ['a pattern as what it covers', { covers: 'pattern' }, { covers: undefined }],
  ['a principal without a name', { principal: '' }, { principal: null }],
  ['somebody without a name', { by: '' }, { by: undefined }],
  ['no reason', { reason: '' }, { reason: 1 }],
  ['nothing that nobody knows', {}, { everything: true }],
])('reads a grant with %s, and tells of one that cannot be used', async (_, good, bad) => {
  const { grants } = createMemoryStore()
  const { id, tool, createdAt, ...body } = grantOf(0)
  const read = async (change: object) => {
    await grants.put({ id, tool, body: JSON.stringify({ ...body, ...change }), createdAt: Date.parse(createdAt) })
    return new SavedGrants(grants, fakeClock()).list()
  }
  expect(await read(good)).toEqual([{ ...grantOf(0), ...good }])
  await expect(read(bad)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
})

it('keeps a grant with its time, without the session, in the place of those that say the same', async () => {
  const { grants } = createMemoryStore()
  const saved = new SavedGrants(grants, fakeClock())
  const until = '2026-01-01T01:00:00.000Z'
  const [first, second, third] = ['a', 'b', 'c'].map((id) => ({ ...grantOf(0), id, until }))
  const other = { ...grantOf(1), id: 'of another tool' }
  for (const grant of [first!, second!, other]) await saved.put({ ...grant, session: 's1' }, () => false)
  expect(await saved.list()).toEqual([first, second, other])
  expect(await grants.list({ tool: 'x.tool0' })).toMatchObject(
    ['a', 'b'].map((id) => ({ id, createdAt: Date.UTC(2026, 0, 1), expiresAt: Date.parse(until) })),
  )
  const asked: string[] = []
  const isSame = ({ id }: Grant) => asked.push(id) > 0 && id === 'b'
  await saved.put(third!, isSame)
  expect(asked).toEqual(['a', 'b'])
  expect((await saved.list()).map(({ id }) => id).sort()).toEqual(['a', 'c', 'of another tool'])
  expect(await saved.list({ tool: 'x.tool1' })).toEqual([other])
  expect(await saved.remove('a')).toBe(true)
  expect(await saved.remove('a')).toBe(false)
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

it('does not store a grant that could not be read back', async () => {
  const { grants } = createMemoryStore()
  const scripts = Array.from({ length: 1_001 }, (_, index) => ({ name: `/ws/${index}.sh`, hash: 'h' }))
  const saved = new SavedGrants(grants, fakeClock())
  await expect(saved.put({ ...grantOf(0), scripts }, () => false)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(await saved.list()).toEqual([])
})
