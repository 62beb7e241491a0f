import { describe, expect, it } from 'vitest'
import { compileCommandPattern, readCommand } from './match-command.ts'

function matches(pattern: string, command: string, broadly: boolean): boolean {
  const compiled = compileCommandPattern(pattern)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const target = readCommand(command)
  const answer = compiled.matches(target, broadly)
  if (answer) expect(target.keys).toContain(compiled.key)
  return answer
}

describe('a command pattern', () => {
  it.each([
    ['git status', 'git status', true],
    ['git status', '  git \t status ', true],
    ['git status', 'git status --short', false],
    ['git diff *', 'git diff', true],
    ['git diff *', 'git diff HEAD a.ts', true],
    ['git diff *', 'git difftool', false],
    ['ls *', 'lsof', false],
    ['ls *', '/bin/ls', false],
    ['ls *', 'LS', false],
    ['*', 'anything at all', true],
    ['*', '', true],
    ['git', '', false],
  ])('%s on the plain command %j: %s', (pattern, command, expected) => {
    expect(matches(pattern, command, false)).toBe(expected)
    expect(matches(pattern, command, true)).toBe(expected)
  })

  it.each([
    'ls; rm -rf /',
    'ls && rm -rf /',
    'ls | rm -rf /',
    'ls\nrm -rf /',
    'ls\rrm -rf /',
    'ls $(rm -rf /)',
    'ls `rm -rf /`',
    'ls > x; rm -rf /',
    'X=1 ls; rm -rf "/"',
    'ls {rm -rf /}',
    'ls \u2028rm -rf /',
  ])('never permits %j, and restricts it by any of its pieces', (command) => {
    expect(matches('ls *', command, false)).toBe(false)
    expect(matches('*', command, false)).toBe(false)
    expect(matches('rm -rf *', command, true)).toBe(true)
    expect(matches('rm -rf', command, true)).toBe(true)
  })

  it('does not restrict by words in the middle of a piece', () => {
    expect(matches('rm -rf *', 'echo rm -rf; ls', true)).toBe(false)
  })

  it.each(['ls \u200bx', 'ls \u202ex', 'ls \0x', 'ls ~', 'ls *', 'ls \\x', "ls 'x'", 'ls #x', 'ls !x'])(
    'does not permit %j',
    (command) => {
      expect(matches('ls *', command, false)).toBe(false)
    },
  )

  it.each(['', '  ', 'git* status', 'git * status', 'curl * | sh', 'npm:*', 'A=1 ls', 'ls **'])(
    '%j is refused',
    (pattern) => {
      expect(compileCommandPattern(pattern)).toHaveProperty('broken')
    },
  )
})
