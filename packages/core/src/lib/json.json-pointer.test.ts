import { describe, expect, it } from 'vitest'
import { pointerKeys, quotePointer, readablePath, toPointer, valueAt } from './json.ts'

describe('a JSON pointer', () => {
  it('comes back as the keys it was made of, whatever they hold', () => {
    for (const keys of [[], ['a', '0'], [''], ['a/b', 'm~n', '~1', '"']])
      expect(pointerKeys(toPointer(keys))).toEqual(keys)
  })

  it('is quoted and kept short in a message', () => {
    expect(quotePointer(['a', 'x"\n'])).toBe('"/a/x\\"\\n"')
    expect(quotePointer(['k'.repeat(50)])).toBe(`"/${'k'.repeat(39)}…"`)
    expect(quotePointer(Array(100).fill('key')).length).toBe(202)
  })
})

describe('the value at a path', () => {
  it('is found by own keys only', () => {
    const value = { list: [{ name: 'x' }], __proto__: { inherited: 1 } }
    expect(valueAt(value, ['list', 0, 'name'])).toBe('x')
    expect(valueAt(value, [])).toBe(value)
    for (const path of [['inherited'], ['constructor'], ['list', 1], ['list', 0, 'name', 'length']])
      expect(valueAt(value, path)).toBeUndefined()
  })
})

it('says a path as people write it', () => {
  expect(readablePath(['items', 0, 'user name', 'id'])).toBe('items[0]["user name"].id')
  expect(readablePath(['k'.repeat(100)])).toHaveLength(69)
})
