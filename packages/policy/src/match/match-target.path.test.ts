import { describe, expect, it } from 'vitest'
import { compilePathPattern, readPath } from './match-target.ts'

const place = { base: '/srv/app', home: '/home/ann' }

function matches(pattern: string, path: string): boolean {
  const compiled = compilePathPattern(pattern, place)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const target = readPath(path)
  const answer = compiled.matches(target, false)
  if (answer) expect(target.keys, `${pattern} is filed where ${path} looks`).toContain(compiled.key)
  return answer
}

describe('a path pattern', () => {
  it.each([
    ['./notes/**', '/srv/app/notes/a.md'],
    ['notes/**', '/srv/app/notes/deep/er/a.md'],
    ['notes/**', '/srv/app/notes'],
    ['./notes/', '/srv/app/notes/a.md'],
    ['./notes', '/srv/app/notes/a/b.md'],
    ['./notes', '/srv/app/notes'],
    ['./notes', '/srv/app/notes/'],
    ['./', '/srv/app/x'],
    ['.', '/srv/app'],
    ['/', '/'],
    ['/', '/etc/passwd'],
    ['**', '/anything/at/all'],
    ['../shared/*', '/srv/shared/a'],
    ['/tmp/', '/tmp/x/y'],
    ['~', '/home/ann/x'],
    ['~/.ssh/*', '/home/ann/.ssh/id_rsa'],
    ['~/.ssh/**', '/home/ann/.ssh'],
    ['**/*.pem', '/x.pem'],
    ['**/*.pem', '/a/b/c.pem'],
    ['**/*.pem', '/a/.pem'],
    ['**/*.tar.gz', '/a/b.tar.gz'],
    ['**/.env', '/srv/app/.env'],
    ['**/.env.*', '/srv/app/.env.local'],
    ['**/.git/**', '/.git/hooks/pre-commit'],
    ['**/.git/**', '/srv/.git'],
    ['**/x.{yaml,yml}', '/srv/x.yml'],
    ['/{a/b/c,d}/x', '/d/x'],
    ['/a/[!b]c', '/a/xc'],
    ['/a/(old)/x', '/a/(old)/x'],
    ['/a/!(b)', '/a/!(b)'],
    ['/a/\\[1\\].md', '/a/[1].md'],
    ['~/.ssh/**', '/home/ann/.ssh/line\nbreak'],
    ['/a/*/c', '/a/.hidden/c'],
    ['/a/**/z', `/a${'/d'.repeat(60)}/z`],
    [`${'/d'.repeat(40)}/z`, `${'/d'.repeat(40)}/z`],
  ])('%s matches %s', (pattern, path) => expect(matches(pattern, path)).toBe(true))

  it.each([
    ['./notes/**', '/srv/app/notes-evil/a.md'],
    ['./notes', '/srv/app/notesx'],
    ['./notes/**', '/other/notes/a.md'],
    ['./notes/*', '/srv/app/notes/a/b.md'],
    ['~/.ssh/*', '/home/bob/.ssh/id_rsa'],
    ['**/*.pem', '/a/b.pem.txt'],
    ['**/*.pem', '/a/bpem'],
    ['**/.git/**', '/srv/.github/x'],
    ['/A/x', '/a/x'],
    ['/a/[!b]c', '/a/bc'],
    ['/a/(old)/x', '/a/old/x'],
    ['/a/!(b)', '/a/c'],
    ['/a/**', '/a/../etc/passwd'],
    ['./notes', '/srv/app/notes/../../etc/passwd'],
  ])('%s does not match %s', (pattern, path) => expect(matches(pattern, path)).toBe(false))

  it.each(['', '/a/[b', '/a/{b', '/a/[z-a]', '~bob/x', '/..', '**/../x', 'a\0b'])('%j is refused', (pattern) => {
    expect(compilePathPattern(pattern, place)).toHaveProperty('broken')
  })

  it('is refused when it needs a home folder that nobody gave', () => {
    expect(compilePathPattern('~/.ssh/**', { base: '/' })).toHaveProperty('broken')
  })

  it('is compared once with a path that repeats a folder a thousand times', () => {
    const { keys } = readPath('/a/b'.repeat(1_000))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toEqual(expect.arrayContaining(['a', 'b', '/a/b/a']))
  })

  it('takes glob characters in the base and the home folder literally', () => {
    const compiled = compilePathPattern('./x', { base: '/srv/[a]{b}*' })
    if ('broken' in compiled) throw new Error(compiled.broken)
    expect(compiled.matches(readPath('/srv/[a]{b}*/x'), false)).toBe(true)
    expect(compiled.matches(readPath('/srv/ab/x'), false)).toBe(false)
  })
})
