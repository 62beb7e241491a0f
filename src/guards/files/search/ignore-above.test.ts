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
