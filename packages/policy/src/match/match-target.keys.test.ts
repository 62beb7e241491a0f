import { describe, expect, it } from 'vitest'
import { compilePattern, readTarget, targetAsPattern } from './match-target.ts'
import type { PlainKind } from './target.ts'

const PLACE = { base: '/base', home: '/home/ann' }
const deep = (count: number) => Array.from({ length: count }, (_, index) => `/d${index}`).join('')

/** A pattern is found only under its key, so a target must have the key of every pattern that matches it. */
describe('the key that a pattern is filed under', () => {
  it.each<[PlainKind, string, string]>([
    ['path', '/a/b', '/a/b'],
    ['path', '/a/b/**', '/a/b'],
    ['path', '/a/*.ts', '/a'],
    ['path', '/a/*/b', '/a'],
    ['path', 'a/b', '/base/a/b'],
    ['path', './a', '/base/a'],
    ['path', '../a', '/a'],
    ['path', '~', '/home/ann'],
    ['path', '~/a', '/home/ann/a'],
    ['path', deep(30), deep(24)],
    ['path', '**/.env', '.env'],
    ['path', '**/a\\*', 'a*'],
    ['path', '**/*.ts', '*.ts'],
    ['path', '**/*.d.ts', '*.ts'],
    ['path', '**/x*.ts', ''],
    ['path', '**/*.ts*', ''],
    ['path', '**/*.t?', ''],
    ['path', '**/*', ''],
    ['path', '**', ''],
    ['path', '**/{a,b}/c', ''],
    ['path', '**/[ab]/c', ''],
    ['url', 'https://x.org', 'x.org'],
    ['url', 'x.org', 'x.org'],
    ['url', '*.x.org', '*.x.org'],
    ['url', '*', ''],
    ['url', 'https://*/a', ''],
    ['url', 'https://x.org/a', 'x.org/a'],
    ['url', 'https://x.org/a/b', 'x.org/a/b'],
    ['url', 'https://x.org/a/*/b', 'x.org/a'],
    ['url', 'https://x.org/*', 'x.org'],
    ['url', 'https://x.org//a', 'x.org'],
    ['url', 'https://*.x.org/a', '*.x.org'],
    ['url', `https://x.org${deep(30)}`, `x.org${deep(24)}`],
    ['text', 'a', 'a'],
    ['text', 'a\\*', 'a*'],
    ['text', 'a/*', 'a'],
    ['text', 'a*', ''],
    ['text', '*/a', ''],
    ['text', '/*', ''],
    ['text', './*', ''],
    ['text', 'a\\b/*', ''],
  ])('of the %s pattern %s is %j', (kind, pattern, key) => {
    expect(compilePattern(kind, pattern, PLACE)).toMatchObject({ key })
  })

  it.each<[PlainKind, string, string[]]>([
    ['path', '/', ['', '/', '']],
    ['path', '/a', ['', '/a', 'a']],
    ['path', '/a/b.c.d', ['', '/a', 'a', '/a/b.c.d', 'b.c.d', '*.d']],
    ['path', '/a/b/', ['', '/a', 'a', '/a/b', 'b']],
    ['path', '/a/a', ['', '/a', 'a', '/a/a', 'a']],
    ['url', 'https://a.b.org/x/y', ['', 'a.b.org', '*.b.org', '*.org', 'a.b.org/x', 'a.b.org/x/y']],
    ['url', 'https://x.org', ['', 'x.org', '*.org', 'x.org/']],
    ['url', 'https://x.org/a/', ['', 'x.org', '*.org', 'x.org/a', 'x.org/a/']],
    ['url', 'not a url', ['']],
    ['text', 'a', ['', 'a']],
    ['text', 'a/b', ['', 'a/b', 'a']],
  ])('of a pattern that matches the %s %s is one of %j', (kind, target, keys) => {
    expect(readTarget(kind, target).keys).toEqual(keys)
  })

  it('names at most 24 folders', () => {
    const folders = readTarget('path', deep(30)).keys.filter((key) => key.startsWith('/'))
    expect(folders).toHaveLength(24)
    expect(folders.at(-1)).toBe(deep(24))
    expect(readTarget('url', `https://x.org${deep(30)}`).keys.at(-1)).toBe(`x.org${deep(24)}`)
  })

  it('comes once for a path with more than 32 of them', () => {
    expect(readTarget('path', '/a'.repeat(40)).keys).toHaveLength(1 + 24 + 1)
    expect(readTarget('path', '/a'.repeat(16)).keys).toHaveLength(1 + 16 + 1)
    expect(readTarget('path', `${'/a'.repeat(15)}.b`).keys).toHaveLength(1 + 2 * 15 + 1)
  })
})

describe('a pattern for one target', () => {
  it.each<[PlainKind, string, string | undefined]>([
    ['path', '/a/[b]*', '/a/\\[b\\]\\*'],
    ['text', 'a{b}?', 'a\\{b\\}\\?'],
    ['text', '', undefined],
    ['url', 'https://ann@x.org:8080/a*?b#c', 'https://x.org:8080/a\\*'],
    ['url', 'https://x.org', 'https://x.org/'],
    ['url', 'x.org', undefined],
  ])('of the %s %j is %j', (kind, target, pattern) => {
    expect(targetAsPattern(kind, target)).toBe(pattern)
  })
})

it.each<[PlainKind, string, string]>([
  ['path', '', 'a path pattern needs a text without NUL'],
  ['path', 'a\0b', 'a path pattern needs a text without NUL'],
  ['path', '~bob/x', '~user is not supported, write the folder'],
  ['path', '/..', '.. leaves a part that is not a plain folder'],
  ['path', '/a/*/../b', '.. leaves a part that is not a plain folder'],
  ['path', `/${'a'.repeat(16_384)}`, 'it has 16387 characters, the limit is 16384'],
  ['url', 'x.org/a', 'a pattern with a path begins with https://'],
  ['url', 'x.org?a', 'a pattern with a path begins with https://'],
  ['url', 'https://a*.org', 'a*.org is not a host; a * stands alone or for whole labels in front: *.github.com'],
  ['url', 'https://', 'it is neither a URL like https://host/path/** nor a host like *.github.com'],
  ['text', '', 'a pattern needs a text'],
])('the %s pattern %j is refused: %s', (kind, pattern, broken) => {
  expect(compilePattern(kind, pattern, PLACE)).toEqual({ broken })
})

it('a pattern of 16,384 characters is accepted', () => {
  expect(compilePattern('path', `/${'a'.repeat(16_381)}`, PLACE)).not.toHaveProperty('broken')
})

it('~ is refused where the home folder is not known', () => {
  expect(compilePattern('path', '~/a', { base: '/base' })).toEqual({
    broken: '~ cannot be resolved, the home folder is not known here',
  })
})

it.each([
  ['https://x.org/a', 'https://x.org/a', true],
  ['https://x.org/a', 'https://x.org/a?b', true],
  ['https://x.org/a', 'https://x.org/ab', false],
  ['https://x.org/a', 'http://x.org/a', false],
  ['https://x.org/a', 'https://x.org:8443/a', false],
  ['https://x.org:443/a', 'https://x.org/a', true],
  ['http://x.org:80/a', 'http://x.org/a', true],
  ['https://x.org:80/a', 'https://x.org/a', false],
  ['http://x.org:443/a', 'http://x.org/a', false],
  ['https://x.org:080/a', 'https://x.org:80/a', true],
  ['*://x.org/a', 'ftp://x.org:2121/a', true],
  ['x.org', 'http://x.org:8080/a', true],
  ['x.org:8080', 'http://x.org:8080/a', true],
  ['x.org:8080', 'http://x.org/a', false],
  ['*.x.org', 'https://a.x.org/', true],
  ['*.x.org', 'https://a.b.x.org/', true],
  ['*.x.org', 'https://x.org/', false],
  ['*.x.org', 'https://ax.org/', false],
  ['X.org', 'https://x.org/', true],
  ['x.org.', 'https://x.org/', true],
  ['x.org', 'https://x.org./', true],
  ['x.org', 'https://user@x.org/', true],
  ['x.org', 'https://y.org/@x.org', false],
  ['https://x.org/a/', 'https://x.org/a/b/c', true],
  ['https://x.org/a/', 'https://x.org/ab', false],
  ['https://x.org/a/?q', 'https://x.org/a/b?q', false],
  ['https://x.org/a?b=*', 'https://x.org/a?b=1', true],
  ['https://x.org/a?b=*', 'https://x.org/a?c=1', false],
  ['https://x.org/a?b', 'https://x.org/a', false],
  ['https://x.org?b', 'https://x.org/?b', true],
  ['https://x.org/a?b?c', 'https://x.org/a?b?c', true],
  ['https://x.org/%61', 'https://x.org/a', true],
  ['https://x.org/a', 'https://x.org/%61', true],
  ['https://x.org/%2D%2e%30%41%5f%7E', 'https://x.org/-.0A_~', true],
  ['https://x.org/%2f', 'https://x.org//', false],
  ['https://x.org/ä', 'https://x.org/%C3%A4', true],
  ['https://x.org/a b', 'https://x.org/a%20b', true],
  ['https://x.org/\ud800', 'https://x.org/%EF%BF%BD', true],
  ['[::1]:80', 'http://[::1]:80/', true],
  ['https://x.org/**', 'https://x.org/', true],
  ['https://x.org/a', 'nonsense', false],
  ['x.org', 'https://x.org:80a/', false],
  ['x.org', 'see https://x.org/', false],
])('the pattern %s matches %s: %s', (pattern, url, expected) => {
  const compiled = compilePattern('url', pattern, PLACE)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const target = readTarget('url', url)
  expect(compiled.matches(target, false)).toBe(expected)
  if (expected) expect(target.keys).toContain(compiled.key)
})
