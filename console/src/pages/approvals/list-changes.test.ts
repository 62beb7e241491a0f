import { expect, it } from 'vitest'
import { listChanges } from './list-changes.ts'

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
