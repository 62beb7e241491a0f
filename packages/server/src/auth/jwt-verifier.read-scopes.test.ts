import type { Scope } from '@tool-hub/core/protocol/shapes'
import { expect, it } from 'vitest'
import { readScopes } from './jwt-verifier.ts'

type Map = Parameters<typeof readScopes>[1]['map']

it.each<[string, Record<string, unknown>, string, Map, Scope[]]>([
  ['words', { scope: 'call openid admin' }, 'scope', undefined, ['call', 'admin']],
  ['a list', { scope: ['read', 7, 'approve'] }, 'scope', undefined, ['approve', 'read']],
  ['an object within', { realm: { roles: ['read'] } }, 'realm.roles', undefined, ['read']],
  ['a claim whose name has dots', { 'a.b': 'call', a: { b: 'read' } }, 'a.b', undefined, ['call']],
  ['nothing', {}, 'realm.roles', undefined, []],
  ['an element of a list', { realm: ['read'] }, 'realm.0', undefined, []],
  ['a text within a text', { realm: 'read' }, 'realm.0', undefined, []],
  ['a map to one scope', { scope: 'ops call' }, 'scope', { ops: 'approve' }, ['approve']],
  [
    'a map to several',
    { scope: 'dev ops' },
    'scope',
    { ops: ['admin', 'call'], dev: 'read' },
    ['call', 'read', 'admin'],
  ],
])('come from %s', (_, claims, scopesClaim, map, scopes) => {
  expect(readScopes(claims, { scopesClaim, map })).toEqual(scopes)
})

it('each of the four words means itself', () => {
  for (const scope of ['call', 'approve', 'read', 'admin'])
    expect(readScopes({ scope }, { scopesClaim: 'scope', map: undefined })).toEqual([scope])
})

it('are looked for in the first 1,000 words', () => {
  const words = Array<string>(999).fill('other')
  const read = (scope: unknown) => readScopes({ scope }, { scopesClaim: 'scope', map: undefined })
  expect([read([...words, 'call']), read([...words, 'other', 'call'])]).toEqual([['call'], []])
  expect([read([...words, 'call'].join(' ')), read(['call', ...words, ...words])]).toEqual([['call'], ['call']])
})
