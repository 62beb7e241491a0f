import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { compileIgnoreGlob, compileIgnoreRules } from './ignore-rules.ts'

const folder = mkdtempSync(join(tmpdir(), 'glob-'))
afterAll(() => rmSync(folder, { recursive: true }))

const PATHS = [
  'a',
  'b',
  'ab',
  'a.b',
  'a/b',
  'a.b/a',
  'b/a/b',
  'b/ab/a.b',
  'ba/b/a/b',
  'é',
  'b/é.b',
  '-a',
  'b/!a',
  'a b',
  '[a]',
  '{a,b}',
  '#a',
].filter((path, _, all) => !all.some((other) => other.startsWith(`${path}/`)))

for (const path of PATHS) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), '')
}

const part = fc.constantFrom(
  'a',
  'b',
  '.',
  'é',
  '*',
  '?',
  '**',
  '/',
  '[ab]',
  '[!a]',
  '[^b]',
  '[a-b]',
  '{a,b}',
  '{a,b/*}',
  '{**/a,b}',
  '\\*',
  '\\[',
  '!',
  '#',
  ' ',
  '-',
)
const glob = fc
  .array(part, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))
  // A line without any name means nothing to git, and odd things to ripgrep.
  .filter((text) => /[^!/ ]/.test(text))

/** The files that ripgrep names with these arguments. */
function ripgrep(...args: string[]): string[] {
  try {
    const output = execFileSync(rgPath, ['--no-config', '--hidden', '--no-ignore', '--files', '--null', ...args, '.'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return output
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((name) => name.slice(2))
      .toSorted()
  } catch {
    return []
  }
}

/** What a walk with these rules comes to: a folder that is left out takes along what is in it. */
function walk(rules: string): string[] {
  const verdict = compileIgnoreRules(rules)
  return PATHS.filter((path) => {
    const names = path.split('/')
    return names.every(
      (_, index) => verdict(names.slice(0, index + 1).join('/'), index + 1 < names.length) !== 'ignore',
    )
  }).toSorted()
}

const rules = `${folder}.rules`
afterAll(() => rmSync(rules, { force: true }))

it('reads lines of ignore files as ripgrep does', () => {
  fc.assert(
    fc.property(fc.array(glob, { minLength: 1, maxLength: 3 }), (globs) => {
      writeFileSync(rules, globs.join('\n'))
      expect(walk(globs.join('\n'))).toEqual(ripgrep(`--ignore-file=${rules}`))
    }),
    { numRuns: 100 },
  )
})

it.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'd/a.ts', false],
  ['**/*.ts', 'd/e/a.ts', true],
  ['**/a', 'a', true],
  ['a/**', 'a/b/c', true],
  ['a/**', 'a', false],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a**b', 'axxb', true],
  ['a**b', 'ax/xb', false],
  ['[!a]', 'b', true],
  ['[]a]', ']', true],
  ['[a-]', '-', true],
  ['{a,{b,c}d}', 'cd', true],
  ['\\{a', '{a', true],
  ['a\nb', 'a\nb', true],
  ['**', 'x\n/y', true],
])('%j on %j is %j', (glob, path, expected) => {
  expect(compileIgnoreGlob(glob)(path)).toBe(expected)
})
