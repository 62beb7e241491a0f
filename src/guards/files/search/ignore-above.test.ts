import { expect, it } from 'vitest'
import { rebaseIgnoreRules } from './ignore-above.ts'

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
