import { describe, expect, it } from 'vitest'
import { compileIgnoreGlob, compileIgnoreRules, readIgnoreLine, rebaseIgnoreRules } from './ignore-rules.ts'

describe('a line of an ignore file', () => {
  const line = (glob: string, marks: Partial<NonNullable<ReturnType<typeof readIgnoreLine>>> = {}) => ({
    glob,
    isKept: false,
    isFolderOnly: false,
    isAnchored: false,
    ...marks,
  })

  it.each([
    ['a', line('a')],
    ['a  \t', line('a')],
    ['a\r', line('a')],
    ['a\\ ', line('a\\ ')],
    [' a', line(' a')],
    ['!a', line('a', { isKept: true })],
    ['!!a', line('!a', { isKept: true })],
    ['\\!a', line('!a')],
    ['\\#a', line('#a')],
    ['a\\!', line('a\\!')],
    ['a\\#b', line('a\\#b')],
    ['a#', line('a#')],
    ['/a', line('a', { isAnchored: true })],
    ['!/a', line('a', { isAnchored: true, isKept: true })],
    ['a/b', line('a/b', { isAnchored: true })],
    ['a/', line('a', { isFolderOnly: true })],
    ['/a/', line('a', { isFolderOnly: true, isAnchored: true })],
    ['a/b/', line('a/b', { isFolderOnly: true, isAnchored: true })],
    ['', undefined],
    ['  ', undefined],
    ['# a', undefined],
  ])('%j is read', (text, expected) => {
    expect(readIgnoreLine(text)).toEqual(expected)
  })
})

describe('rules', () => {
  it.each<[string, string, boolean, 'ignore' | 'keep' | undefined]>([
    ['a', 'a', false, 'ignore'],
    ['a', 'd/a', false, 'ignore'],
    ['a', 'ab', false, undefined],
    ['/a', 'd/a', false, undefined],
    ['d/a', 'd/a', false, 'ignore'],
    ['d/a', 'e/d/a', false, undefined],
    ['a/', 'a', false, undefined],
    ['a/', 'a', true, 'ignore'],
    ['a/**', 'a', true, undefined],
    ['a/**', 'a/b', false, 'ignore'],
    ['a/**', 'a/b/c', false, 'ignore'],
    ['*.log\n!a.log', 'a.log', false, 'keep'],
    ['!a.log\n*.log', 'a.log', false, 'ignore'],
    ['\uFEFFa', 'a', false, 'ignore'],
    ['b\n\uFEFFa', 'a', false, undefined],
    ['b\uFEFFc', 'b\uFEFFc', false, 'ignore'],
    ['[broken\na', 'a', false, 'ignore'],
    ['[broken', '[broken', false, undefined],
    ['', 'a', false, undefined],
  ])('%j say of %j (a folder: %j): %j', (text, path, isFolder, verdict) => {
    expect(compileIgnoreRules(text)(path, isFolder)).toBe(verdict)
  })
})

describe('a glob', () => {
  it.each<[string, string, boolean]>([
    ['a', 'xa', false],
    ['a', 'ax', false],
    ['?', 'a', true],
    ['?', '/', false],
    ['?', 'ab', false],
    ['[!a]b', 'ab', false],
    ['[!a]b', 'cb', true],
    ['[^a]b', 'cb', true],
    ['[!]a]', ']', false],
    ['[!]a]', 'b', true],
    ['[!a', '!', false],
    ['[a-c]', 'b', true],
    ['[a-c]', 'c', true],
    ['[a-c]', 'd', false],
    ['[a-c]', '-', false],
    ['[a-a]', 'a', true],
    ['[a-cx-z]', 'y', true],
    ['[a-cx]', 'x', true],
    ['[-a]', '-', true],
    ['[a-]b', '-b', true],
    ['{a,b}c', 'bc', true],
    ['{a,b}c', 'a,bc', false],
    ['a,b', 'a,b', true],
    ['{a}{b}', 'ab', true],
    ['{a,b},c', 'a,c', true],
    ['a*b', 'ab', true],
    ['a*b', 'a/b', false],
    ['**/b', 'a/c/b', true],
    ['**/b', 'ab', false],
    ['**b', 'a/b', false],
    ['**b', 'aab', true],
    ['a/**', 'a/', true],
    ['a/**b', 'a/cb', true],
    ['a/**b', 'a/c/b', false],
    ['{**/a,b}', 'x/y/a', true],
    ['{b,**/a}', 'x/y/a', true],
    ['{b,**}', 'x/y', true],
    ['{**,b}', 'x/y', true],
    ['x{**}', 'xa/b', true],
    ['{a,b**}', 'bc/d', false],
    ['a**', 'a/b', false],
    [',**', ',a/b', false],
    ['**,', 'a/b,', false],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['a.b', 'axb', false],
    ['a+$^|()', 'a+$^|()', true],
    ['ä?', 'äb', true],
    ['09AZaz', '09AZaz', true],
  ])('%j matches %j: %j', (glob, path, expected) => {
    const matches = () => compileIgnoreGlob(glob)(path)
    if (glob === '[!a') expect(matches).toThrow('a [ is never closed')
    else expect(matches()).toBe(expected)
  })
})

it.each([
  ['*.log', 'a', '*.log'],
  ['!keep/', 'a', '!keep/'],
  ['# note\n\n', 'a', ''],
  ['/dist', 'a', ''],
  ['/a/dist', 'a', '/dist'],
  ['a/dist/', 'a', '/dist/'],
  ['!a/dist', 'a', '!/dist'],
  ['/packages/*/dist', 'packages/b', '/dist'],
  ['/packages/*/dist', 'packages', '/*/dist'],
  ['/other/*/dist', 'packages/b', ''],
  ['/a', 'a', ''],
  ['/a/b', 'a/b', ''],
  ['a/**', 'a/b', '/**'],
  ['**/x/y', 'a', '/**/x/y'],
  ['**/x/y', 'a/x', '/**/x/y\n/y'],
  ['a/[broken/x', 'a/b', ''],
])('%j holds in %j as %j', (rules, folder, expected) => {
  expect(rebaseIgnoreRules(rules, folder.split('/'))).toBe(expected)
})

it('does not grow without bound', () => {
  const rules = `${'**/a/'.repeat(20)}b`
  const rebased = rebaseIgnoreRules(rules, Array(30).fill('a'))
  expect(rebased.split('\n').length).toBeLessThanOrEqual(41)
})

it('takes no longer for rules that somebody wrote to take long', () => {
  const names = ['src', 'a', 'b']
  expect(rebaseIgnoreRules(`/${'**/'.repeat(20_000)}zzz`, names)).toBe('/**/zzz')
  expect(rebaseIgnoreRules(`/${'a/'.repeat(10_000)}zzz`, names)).toBe('')
  const many = rebaseIgnoreRules('some-name.log\n'.repeat(100_000), names)
  expect(many.length).toBeLessThanOrEqual(65_536)
})

it('reads whole lines of the first 65,536 characters', () => {
  const rules = (length: number) => rebaseIgnoreRules(`a\n${'c'.repeat(length)}\nb\n`, ['x'])
  expect([65_531, 65_532, 65_533, 65_534].map((length) => rules(length).length)).toEqual([
    ...[65_535, 65_536, 65_535, 65_536],
  ])
  expect([65_532, 65_533].map((length) => rules(length).endsWith('b'))).toEqual([true, false])
  expect(rules(65_535)).toBe('a')
})

it('reads globs of a hundred parts', () => {
  const rule = (parts: number) => rebaseIgnoreRules(`/${'a/'.repeat(parts - 1)}b`, ['a'])
  expect(rule(100)).toBe(`/${'a/'.repeat(98)}b`)
  expect(rule(101)).toBe('')
})

it.each([
  ['/**/**/x', 'a', '/**/x'],
  ['a/**/**', 'a', '/**'],
  ['/**/a/x', 'a', '/**/a/x\n/x'],
  ['/a/**/x', 'a', '/**/x'],
  ['/a/b*/c/', 'a/bc', '/c/'],
  ['!/a/b', 'b', ''],
  ['/a/b/c', 'a/x', ''],
])('%j holds in %j as %j', (rules, folder, expected) => {
  expect(rebaseIgnoreRules(rules, folder.split('/'))).toBe(expected)
})
