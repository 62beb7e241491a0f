import { describe, expect, it } from 'vitest'
import type { KeptChange } from '../../../../core/src/change.ts'
import { parseChange } from './read-history.ts'

const state = { sha256: 'a'.repeat(64), bytes: 3, mode: 0o644 }
const changes: KeptChange[] = [
  { op: 'create', path: '/a', after: state },
  { op: 'replace', path: '/a', before: { ...state, sha256: '' }, after: state, notUndoable: 'too large' },
  { op: 'remove', path: '/a', before: state },
  { op: 'make-folder', path: '/a' },
  { op: 'remove-folder', path: '/a', mode: 0o755 },
  { op: 'create-tree', path: '/a', digest: 'd' },
  { op: 'remove-tree', path: '/a', digest: 'd', bytes: 1, tree: 'tree-1-0123456789abcdef' },
  { op: 'move', path: '/a', to: '/b', digest: 'd' },
]

describe('parseChange', () => {
  it.each(changes)('reads a change as it was written: $op', (change) => {
    const line = JSON.parse(JSON.stringify({ type: 'file-changing', callId: 'c', tool: 't', ...change }))
    expect(parseChange(line)).toEqual(change)
  })

  it.each(changes)('refuses a change that lacks one of its fields: $op', (change) => {
    const { notUndoable: _, tree: __, ...fields } = change as unknown as Record<string, unknown>
    for (const field of Object.keys(fields)) {
      expect(parseChange({ ...change, [field]: undefined })).toBeUndefined()
      expect(parseChange({ ...change, [field]: field === 'path' || field === 'to' ? 'relative' : [] })).toBeUndefined()
    }
    expect(parseChange({ ...change, tree: 7 })).toBeUndefined()
    expect(parseChange({ ...change, other: 1 })).toEqual(change)
  })

  it('takes every mode and size that there is', () => {
    for (const more of [{ mode: 0 }, { mode: 0o7777 }, { bytes: 0 }, { bytes: Number.MAX_SAFE_INTEGER }]) {
      const change = { op: 'create', path: '/a', after: { ...state, ...more } }
      expect(parseChange(change)).toEqual(change)
    }
    for (const more of [{ mode: -1 }, { mode: 1.5 }, { bytes: 1.5 }, { bytes: '1' }, { sha256: 1 }, { sha256: 'a' }])
      expect(parseChange({ op: 'create', path: '/a', after: { ...state, ...more } })).toBeUndefined()
  })

  it.each([
    { op: 'constructor', path: '/a' },
    { op: 'create', path: 'a', after: state },
    { op: 'create', path: '/a\0', after: state },
    { op: 'create', path: '/a' },
    { op: 'create', path: '/a', after: { ...state, sha256: '../../etc/passwd' } },
    { op: 'create', path: '/a', after: { ...state, mode: 0o10000 } },
    { op: 'create', path: '/a', after: { ...state, bytes: -1 } },
    { op: 'remove-tree', path: '/a', digest: 'd', bytes: 1, tree: '../other' },
    { op: 'move', path: '/a', to: '../b', digest: 'd' },
    { op: 'make-folder', path: '/a', notUndoable: 1 },
  ])('refuses what we never write: %j', (event) => {
    expect(parseChange(event)).toBeUndefined()
  })
})
