import { describe, expect, it } from 'vitest'
import { compileCommandPattern, inWorstCase, partAsPattern, readPatternPart } from './match-command.ts'

type Words = readonly (string | undefined)[]

const split = (command: string): string[] => command.split(' ').filter(Boolean)

function matches(pattern: string, words: Words, how: 'strictly' | 'broadly' | 'in the worst case'): boolean {
  const compiled = compileCommandPattern(pattern)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const part = readPatternPart({ words, text: words.join(' ') })
  const target = how === 'in the worst case' ? inWorstCase(part) : part
  const answer = compiled.matches(target, how !== 'strictly')
  if (answer) expect(target.keys).toContain(compiled.key)
  return answer
}

describe('a command pattern', () => {
  it.each([
    ['git status', 'git status', true],
    ['git status', 'git status --short', false],
    ['git diff *', 'git diff', true],
    ['git diff *', 'git diff HEAD a.ts', true],
    ['git diff *', 'git difftool', false],
    ['ls *', 'lsof', false],
    ['*', 'anything at all', true],
    ['*', '', true],
    ['git', '', false],
  ])('%s on %j: %s, permitting or restricting', (pattern, command, expected) => {
    expect(matches(pattern, split(command), 'strictly')).toBe(expected)
    expect(matches(pattern, split(command), 'broadly')).toBe(expected)
  })

  it.each([
    ['ls *', '/bin/ls'],
    ['ls *', 'LS'],
    ['rm -rf *', 'rm -fr x'],
    ['rm -rf *', 'rm -r -f x'],
    ['rm -rf *', 'rm -Rf x'],
    ['rm -rf *', 'rm -rfv x'],
    ['rm -rf *', 'rm -i -rf x'],
    ['rm -rf *', 'rm --recursive --force x'],
    ['rm -rf *', 'rm --recurs --fo x'],
    ['rm -rf *', 'rm -r --force x'],
    ['rm -rf *', 'rm x -f -r'],
    ['rm -rf *', '../../bin/rm x -rf'],
    ['rm --recursive --force *', 'rm -rf x'],
    ['chmod 777 *', 'chmod 0777 x'],
    ['chmod 777 *', 'chmod -R 777 x'],
    ['chmod 777 *', 'chmod 00777 -R x'],
    ['chmod 777 *', 'chmod a+rwx x'],
    ['chmod 777 *', 'chmod ugo=xwr x'],
    ['chmod 777 *', 'chmod u=rwx,go=rwx x'],
    ['chmod a=rwx *', 'chmod 777 x'],
    ['git push *', 'git -C sub push origin'],
    ['git push --force *', 'git push -f origin'],
    ['git push --force *', 'git push origin main --force'],
    ['go test -exec *', 'go test --exec x'],
  ])('%s restricts %j, and does not permit it', (pattern, command) => {
    expect(matches(pattern, split(command), 'broadly')).toBe(true)
    expect(matches(pattern, split(command), 'strictly')).toBe(false)
  })

  it.each([
    ['rm -rf *', 'rm -r x'],
    ['rm -rf *', 'rm -- -rf'],
    ['rm -rf *', 'echo rm -rf'],
    ['rm -rf *', 'rmdir -rf'],
    ['rm -rf', 'rm -rf x'],
    ['chmod 777 *', 'chmod 755 x'],
    ['chmod 777 *', 'chmod +x 777'],
    ['chmod 777 *', 'chmod a+rw x'],
    ['git push *', 'git --no-pager log push'],
    ['git push *', 'git log push'],
    ['go test -race *', 'go test -trace x'],
    ['git push', 'git push -f'],
  ])('%s does not restrict %j', (pattern, command) => {
    expect(matches(pattern, split(command), 'broadly')).toBe(false)
  })

  it.each<[string, Words, boolean]>([
    ['rm -rf *', ['rm', undefined, '/'], true],
    ['git push *', ['git', undefined], true],
    ['git push --force *', ['git', 'push', undefined], true],
    ['git push *', ['git', 'status', undefined], false],
    ['rm -rf *', ['ls', undefined], false],
  ])('%s could restrict %j: %s', (pattern, words, expected) => {
    expect(matches(pattern, words, 'in the worst case')).toBe(expected)
    expect(matches(pattern, words, 'broadly')).toBe(false)
  })

  it('permits nothing in the worst case', () => {
    const pattern = compileCommandPattern('ls *')
    const worst = inWorstCase(readPatternPart({ words: ['ls'], text: 'ls' }))
    expect('broken' in pattern || pattern.matches(worst, false)).toBe(false)
  })

  it.each(['', '  ', 'git* status', 'git * status', 'curl * | sh', 'npm:*', 'A=1 ls', 'ls **', 'ls \u200bx', "ls 'x'"])(
    '%j is refused',
    (pattern) => {
      expect(compileCommandPattern(pattern)).toHaveProperty('broken')
    },
  )
})

describe('a pattern for a command', () => {
  it.each<[Words, string | undefined]>([
    [['git', 'log', '--format=%h'], 'git log --format=%h'],
    [['ls', undefined], undefined],
    [['cat', 'a b'], undefined],
    [['ls', '*'], undefined],
    [['ls', ''], undefined],
    [[], undefined],
  ])('%j: %j', (words, pattern) => {
    expect(partAsPattern({ words })).toBe(pattern)
  })
})
