import { expect, it } from 'vitest'
import { answerEach, choiceProblem, firstChoice, listChanges, lostWords, toAnswer } from './answers.ts'

const now = Date.parse('2026-11-15T10:00:30Z')
const choice = firstChoice(now)

it('remembers nothing unless it is chosen, and then the very call', () => {
  expect(toAnswer(choice)).toEqual({ remember: 'once' })
  expect(toAnswer({ ...choice, remember: 'always' })).toEqual({ remember: 'always', covers: 'exact' })
  expect(toAnswer({ ...choice, remember: 'session', covers: 'targets' })).toEqual({
    remember: 'session',
    covers: 'targets',
  })
})

it('proposes a time an hour ahead, and refuses one that is over or none', () => {
  const until = { ...choice, remember: 'until' as const }
  expect(toAnswer(until).remember).toEqual({ until: '2026-11-15T11:00:00.000Z' })
  expect(choiceProblem(until, now)).toBeUndefined()
  expect(choiceProblem(until, now + 3_600_000)).toMatch('past')
  expect(choiceProblem({ ...until, until: '' }, now)).toMatch('Choose')
  expect(choiceProblem({ ...choice, until: '' }, now)).toBeUndefined()
})

it('denies each once, and says which were answered before and which failed', async () => {
  const sent: string[] = []
  const at = '2026-11-15T10:00:00Z'
  const send = async (id: string) => {
    sent.push(id)
    if (id === 'broken') throw new Error('The store cannot be written.')
    const answered = { by: 'ada', via: 'cli', at, decision: 'allow' }
    return id === 'late' ? { won: false, approval: { answered } } : { won: true, approval: {} }
  }
  const asked = ['a', 'broken', 'late', 'a', 'b'].map((id) => ({ id, tool: `tool-${id}` }))
  expect(await answerEach(asked, send)).toEqual([
    { id: 'a', tool: 'tool-a', outcome: 'done' },
    { id: 'broken', tool: 'tool-broken', outcome: 'failed', words: 'The store cannot be written.' },
    { id: 'late', tool: 'tool-late', outcome: 'late', words: 'ada was first' },
    { id: 'b', tool: 'tool-b', outcome: 'done' },
  ])
  expect(sent).toEqual(['a', 'broken', 'late', 'b'])
})

it('says who was first, how and by which way', () => {
  const answered = { by: 'user:bob', via: 'cli', at: '2026-11-15T10:00:00Z', decision: 'deny' }
  expect(lostWords('core/fs.edit', answered)).toMatchObject({
    title: 'user:bob was first',
    description: 'core/fs.edit was denied via cli; your answer was ignored.',
  })
  expect(lostWords('core/fs.edit', undefined).title).toBe('Too late')
})

it('says where two values differ, by path', () => {
  const before = { path: 'a', edits: [{ old: 'x' }, { old: 'y' }], gone: 1, same: { deep: [1, 2] } }
  const after = { path: 'b', edits: [{ old: 'x' }, { old: 'z' }], same: { deep: [1, 2] }, more: null }
  expect(listChanges(before, after)).toEqual([
    { path: 'path', before: 'a', after: 'b' },
    { path: 'edits[1].old', before: 'y', after: 'z' },
    { path: 'gone', before: 1, after: undefined },
    { path: 'more', before: undefined, after: null },
  ])
})

it('takes a value of another kind for one change', () => {
  expect(listChanges({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: 'a', before: [1], after: { 0: 1 } }])
  expect(listChanges({ a: 1 }, 'a')).toEqual([{ path: '', before: { a: 1 }, after: 'a' }])
  expect(listChanges({ a: 1 }, { a: 1 })).toEqual([])
})

it('does not take what every object has for a key', () => {
  expect(listChanges({}, JSON.parse('{"constructor": 1}'))).toEqual([
    { path: 'constructor', before: undefined, after: 1 },
  ])
})
