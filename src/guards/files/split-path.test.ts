import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitPath } from './split-path.ts'

const namesOf = (path: string) => splitPath(path).names

describe('splitPath', () => {
  it('takes a path literally: no tilde, variable, percent, glob or backslash means anything', () => {
    for (const name of ['~', '$HOME', '..%2f..%2fetc', '*.txt', '..\\..\\x', 'foo..', '...', '__proto__', ' ']) {
      expect(namesOf(name)).toEqual([name])
    }
  })

  it('drops empty names and dots, and keeps `..` for whoever knows the root', () => {
    expect(splitPath('//a/./b/../c')).toEqual({ isAbsolute: true, names: ['a', 'b', '..', 'c'], saysFolder: false })
  })

  it('knows a spelling that can only mean a folder', () => {
    for (const path of ['a/', 'a/.', 'a/..', '.', '/']) expect(splitPath(path).saysFolder).toBe(true)
  })

  it('refuses what no file can be called, with the numbers', () => {
    const bad: [unknown, RegExp][] = [
      ['', /empty/],
      ['a\0b', /NUL/],
      ['a\ud800b', /surrogate/],
      ['x'.repeat(256), /256 bytes, the limit is 255/],
      ['é'.repeat(128), /256 bytes, the limit is 255/],
      ['a/'.repeat(2048), /4096 bytes, the limit is 4095/],
      [null, /not null/],
      [{ toString: () => 'a' }, /not object/],
    ]
    for (const [path, message] of bad) {
      expect(() => splitPath(path as string)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
      expect(() => splitPath(path as string)).toThrow(message)
    }
    expect(namesOf('é'.repeat(127))).toHaveLength(1)
  })

  it('never gives a name with a slash, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '~', 'é', '\\') }), (path) => {
        if (path === '') return
        for (const name of namesOf(path)) expect(name).toMatch(/^[^/]+$/)
      }),
    )
  })
})
