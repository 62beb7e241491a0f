import { describe, expect, it } from 'vitest'
import { readSedScript } from './read-sed-script.ts'

describe('readSedScript', () => {
  it.each([
    'p',
    '1,5p',
    '$!N;s/\\n/ /;P;D',
    ':a;N;$!ba;s/\\n/ /g',
    's/a/b/g',
    's/[^/]*$//',
    's/[]/e]/w/',
    's,/e,/w,gI;t',
    '/begin/,/end/{s/x/y/;p}',
    '\\,a/b,d',
    '/[/]e/d',
    'y/abc/[e]/',
    'a\\\ne date\\\nw x',
    'i e date',
    '# e date',
    '5q',
    '0,/x/ s//y/',
    '2~3!d',
    's/a\\/e/b/2p',
    '',
  ])('finds nothing in %j', (script) => {
    expect(readSedScript(script)).toEqual({ hazards: [], paths: [] })
  })

  it.each([
    'e',
    '1e',
    '1e date',
    'e date',
    '$!e date',
    's/a/b/e',
    's/a/b/ge',
    's/a/b/Ie;p',
    's,a,b,pe',
    '/x/{s/a/b/e}',
    '/x/{e date\n}',
    'p;e date',
    'a\\\ntext\ne date',
    'a text\\\\\ne date',
    '# comment\ne date',
    '/[/]/e date',
    's/[/]/x/e',
    '\\,x,e date',
    ':a e\ne date',
  ])('finds the program that %j runs', (script) => {
    expect(readSedScript(script).hazards).toContainEqual(expect.objectContaining({ kind: 'hidden' }))
  })

  it.each([
    ['w /etc/x', '/etc/x'],
    ['/a/w out.txt', 'out.txt'],
    ['s/a/b/w out.txt', 'out.txt'],
    ['s/a/b/gw out.txt', 'out.txt'],
    ['W out.txt', 'out.txt'],
  ])('finds the file that %j writes', (script, path) => {
    expect(readSedScript(script)).toEqual({ hazards: [expect.objectContaining({ kind: 'reach' })], paths: [path] })
  })

  it('finds the files that a script reads', () => {
    expect(readSedScript('r /etc/passwd\nR b.txt')).toEqual({ hazards: [], paths: ['/etc/passwd', 'b.txt'] })
  })

  it.each(['s/a/b', 'v', 's/[\\]/e;p/b/', 's/[a/b/e', '1', 'k', 's/a/b/zz', 's\na\nb\n'])(
    'counts %j, which it cannot read for certain, as one that runs',
    (script) => {
      expect(readSedScript(script).hazards).toContainEqual(expect.objectContaining({ kind: 'hidden' }))
    },
  )

  it('takes time that grows with the script only', () => {
    for (const piece of ['[', '[:', 's/[', 's/[[:a:]', '\\', 'a\\\n', '{', '[[:a'])
      expect(readSedScript(piece.repeat(50_000)).paths).toEqual([])
  })
})
