import { describe, expect, it } from 'vitest'
import { assertToolName, toWireName } from '../../core/src/names.ts'
import { toToolName } from './server-tools.ts'

describe('the name of a tool of a server', () => {
  it('keeps a plain name', () => {
    expect(toToolName('github', 'create_issue', ['github'])).toBe('mcp/github.create_issue')
  })

  it('gives a changed name a hash, so that two never share one', () => {
    const names = ['read.file', 'read/file', 'read file', 'read_file', 'lire📄', '', 'x'.repeat(200), 'x'.repeat(201)]
    const given = names.map((name) => toToolName('files', name, ['files']))
    for (const name of given) expect(() => assertToolName(name)).not.toThrow()
    expect(new Set(given.map(toWireName)).size).toBe(names.length)
    expect(given[0]).toMatch(/^mcp\/files\.read_file-[0-9a-f]{16}$/)
  })

  it('is never one that another tool was given', () => {
    const changed = toToolName('files', 'read file', ['files'])
    const alias = changed.slice('mcp/files.'.length)
    expect(toToolName('files', alias, ['files'])).not.toBe(changed)
    expect(toToolName('files', 'add-4f', ['files'])).toBe('mcp/files.add-4f')
    const hash = '0123456789abcdef'
    expect(toToolName('files', `add-${hash}`, ['files'])).toMatch(/^mcp\/files\.add-0123456789abcdef-[0-9a-f]{16}$/)
    for (const plain of [`add-${hash}s`, `add-${hash.slice(1)}`, `add_${hash}`]) {
      expect(toToolName('files', plain, ['files'])).toBe(`mcp/files.${plain}`)
    }
    for (const odd of ['.add', 'add.'])
      expect(toToolName('files', odd, ['files'])).toMatch(/^mcp\/files\._?add_?-[0-9a-f]{16}$/)
  })

  it('fits into 64 characters with the longest server name', () => {
    const name = toToolName('s'.repeat(32), 'a'.repeat(100), [])
    expect(name).toHaveLength(64)
    expect(() => assertToolName(name)).not.toThrow()
  })

  it('keeps a name with which it has exactly 64 characters, and shortens a longer one', () => {
    const fits = 'a'.repeat(64 - 'mcp/s.'.length)
    expect(toToolName('s', fits, ['s'])).toBe(`mcp/s.${fits}`)
    expect(toToolName('s', `${fits}a`, ['s'])).toMatch(/^mcp\/s\.a{41}-[0-9a-f]{16}$/)
  })

  it('tells apart what two servers would call the same on the wire', () => {
    const servers = ['a', 'a_b']
    expect(toToolName('a_b', 'c', servers)).toBe('mcp/a_b.c')
    expect(toToolName('a', 'b_c', servers)).toMatch(/^mcp\/a\.b_c-/)
    expect(toToolName('a', 'b', servers)).toBe('mcp/a.b')
    expect(toToolName('a', 'b_c', ['a', 'b_c', 'x_b'])).toBe('mcp/a.b_c')
    // A server name of the same length counts as the same.
    expect(toToolName('a', '_c', ['a', 'b'])).toBe('mcp/a._c')
  })

  it('takes names that every object has', () => {
    expect(toToolName('s', '__proto__', ['s'])).toBe('mcp/s.__proto__')
    expect(toToolName('s', 'constructor', ['s'])).toBe('mcp/s.constructor')
  })
})
