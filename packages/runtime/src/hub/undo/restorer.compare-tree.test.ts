import type { FoundEntry } from '@tool-hub/sandbox/files'
import { expect, it } from 'vitest'
import { compareTree } from './restorer.ts'

/** A folder as an object, a file as its text, a link as a list with where it leads. */
type Content = string | readonly [string] | { readonly [name: string]: Content }

const treeOf = (content: Content | undefined) => ({ path: 'top', look: async (path: string) => look(content, path) })

function look(content: Content | undefined, path: string): FoundEntry {
  let at = content
  for (const name of path.split('/').slice(1)) {
    at = typeof at === 'object' && !Array.isArray(at) ? (at as Record<string, Content>)[name] : undefined
  }
  if (at === undefined) return { type: 'absent' }
  if (typeof at === 'string') return { type: 'file', sha256: at, mode: 0o644 }
  return Array.isArray(at) ? { type: 'link', to: at[0] } : { type: 'folder', names: Object.keys(at) }
}

const KEPT = { a: 'a', l: ['a'] as const, d: { e: { x: 'x' }, y: 'y' } }

it.each<[string, Content | undefined]>([
  ['whole', KEPT],
  ['part', {}],
  ['part', undefined],
  ['part', { d: { e: {} } }],
  ['part', { ...KEPT, d: { y: 'y' } }],
  ['other', { ...KEPT, a: 'b' }],
  ['other', { ...KEPT, l: ['b'] }],
  ['other', { ...KEPT, l: 'a' }],
  ['other', { d: { e: { x: 'x', new: '' } } }],
  ['other', { d: { e: 'a file now' } }],
  ['other', 'a file now'],
])('finds %s of a kept tree in %j', async (rest, now) => {
  expect(await compareTree(treeOf(now), treeOf(KEPT))).toBe(rest)
})

it('takes nothing for a part of a tree that has been deleted', async () => {
  expect(await compareTree(treeOf({}), treeOf(undefined))).toBe('other')
})
