import { expect, it } from 'vitest'
import { compileCommandPattern, inWorstCase, readPatternPart } from './match-command.ts'

type Words = readonly (string | undefined)[]

function restricts(pattern: string, words: Words, isWorstCase = false): boolean {
  const compiled = compileCommandPattern(pattern)
  if ('broken' in compiled) throw new Error(compiled.broken)
  const target = readPatternPart({ words, text: words.join(' ') })
  return compiled.matches(isWorstCase ? inWorstCase(target) : target, true)
}

it.each([
  ['a', ['all', 'archive']],
  ['d', ['delete', 'directory']],
  ['f', ['force']],
  ['i', ['interactive', 'in-place']],
  ['m', ['message']],
  ['n', ['dry-run']],
  ['o', ['output']],
  ['p', ['parents', 'print', 'publish']],
  ['q', ['quiet', 'silent']],
  ['r', ['recursive']],
  ['R', ['recursive']],
  ['u', ['user', 'update', 'set-upstream']],
  ['v', ['verbose']],
  ['y', ['yes', 'assume-yes']],
  ['z', []],
])('-%s may be spelt as each of %j, and the other way round', (letter, names) => {
  for (const name of ['all', 'force', 'zero', ...names]) {
    expect(restricts(`x -${letter} *`, ['x', `--${name}`]), name).toBe(names.includes(name))
    expect(restricts(`x --${name} *`, ['x', `-${letter}`]), name).toBe(names.includes(name))
  }
})

it.each([
  // Letters that mean the same to some programs.
  ['rm -r *', 'rm -R x', true],
  ['cp -r *', 'cp -R a b', true],
  ['grep -r *', 'grep -R x', true],
  ['rm --recursive *', 'rm -R x', true],
  ['ls -r *', 'ls -R', false],
  // Long options behind one dash.
  ['go test -race *', 'go test --race', true],
  ['go test -race *', 'go test -ecar', false],
  ['find -delete *', 'find --delete', true],
  ['dotnet -race *', 'dotnet -ecar', false],
  ['rm -race *', 'rm -ecar', true],
  // Modes of chmod.
  ['chmod 777 *', 'chmod 000777 x', true],
  ['chmod 0 *', 'chmod 000 x', true],
  ['chmod 70 *', 'chmod 700 x', false],
  ['chmod x777 *', 'chmod 0x777 x', false],
  ['chmod 777x *', 'chmod 0777x x', false],
  ['chmod 777 *', 'chmod 7777 x', false],
  ['chmod 777 *', 'chmod ua=rwx x', true],
  ['chmod 777 *', 'chmod u=rwx,g=rwx,o=rwx x', true],
  ['chmod 777 *', 'chmod u+rwx,go+xrw x', true],
  ['chmod 777 *', 'chmod u=rwx,g=rw,o=rwx x', false],
  ['chmod 777 *', 'chmod ug=rwx x', false],
  ['chmod 777 *', 'chmod uo=rwx x', false],
  ['chmod 777 *', 'chmod go=rwx x', false],
  ['chmod 777 *', 'chmod ugo=rw x', false],
  ['chmod 777 *', 'chmod ugo=rx x', false],
  ['chmod 777 *', 'chmod ugo=wx x', false],
  ['chmod 777 *', 'chmod ugo-rwx x', false],
  ['chmod 777 *', 'chmod xugo=rwx x', false],
  ['chmod 777 *', 'chmod ugo=rwxs x', false],
  ['x 777 *', 'x 0777', false],
  // Options and what stands behind them.
  ['x a-b *', 'x c-b', false],
  ['x - *', 'x - y', true],
  ['x - *', 'x y', false],
  ['git push *', 'git', false],
  ['git push *', 'git -x log', false],
  ['git push *', 'git -C a push', true],
  ['git push *', 'git -C a b push', false],
  ['git push *', 'git --x log push', true],
  ['git push *', 'git --x=y log push', false],
  ['git push *', 'git --no-x log push', false],
  ['git push *', 'git -a--no-b log push', true],
  ['git push *', 'git -- push', true],
  ['git push *', 'git -- log push', false],
  ['git push origin *', 'git push -x y origin', true],
  ['git push origin *', 'git push y origin', false],
  // Without a star there is nothing more.
  ['git push', 'git push', true],
  ['git push', 'git push x', false],
  ['rm -rf x', 'rm -fr x', true],
  ['rm -rf x', 'rm --force --recursive x', true],
  ['rm -rf x', 'rm -rfv x', false],
  ['rm -rf x', 'rm -r x', false],
  ['rm -rf x', 'rm -rf --verbose x', false],
  ['rm -r --force x', 'rm -rf x', true],
  // Long options that are cut short, or have a value.
  ['rm --force *', 'rm --force=x y', true],
  ['rm --force *', 'rm --f y', true],
  ['rm --force *', 'rm --forcex y', false],
  ['rm --force *', 'rm --=x y', false],
  ['x --a=b *', 'x --a=b', true],
  ['x --a=b *', 'x --a=c', true],
  ['x --a=b *', 'x --c=b', false],
])('%s restricts %j: %s', (pattern, command, expected) => {
  expect(restricts(pattern, command.split(' '))).toBe(expected)
})

it.each<[string, Words, boolean]>([
  ['git push', ['git', 'push', undefined], true],
  ['git push', ['git', 'push', undefined, 'x'], true],
  ['git push', ['git', 'push', 'x', undefined], false],
  ['git push', ['git', 'push'], true],
  ['rm -rf *', ['rm', undefined], true],
  ['rm -rf *', ['rm', 'x'], false],
  ['rm -rf *', [undefined, '-rf'], false],
  ['rm -rf x', ['rm', 'y', undefined], false],
])('%s restricts %j in the worst case: %s', (pattern, words, expected) => {
  expect(restricts(pattern, words, true)).toBe(expected)
})

it.each([
  ['', 'a command pattern needs at least one word'],
  ['group:writing', 'the only group of commands is group:read-only'],
  ['A=1 ls', 'A=1 is not a plain word; only a last, separate * stands for further words'],
  ['ls a*', 'a* is not a plain word; only a last, separate * stands for further words'],
])('the pattern %j is refused: %s', (pattern, broken) => {
  expect(compileCommandPattern(pattern)).toEqual({ broken })
})

it('a pattern says how many words it spells out and which program it is about', () => {
  expect(compileCommandPattern('git push *')).toMatchObject({ key: 'git', words: 2 })
  expect(compileCommandPattern('/usr/bin/LS')).toMatchObject({ key: 'ls', words: 1 })
  expect(compileCommandPattern('*')).toMatchObject({ key: '', words: 0 })
  expect(readPatternPart({ words: ['/bin/LS', 'x'], text: 'LS x' })).toMatchObject({
    value: 'LS x',
    keys: ['', 'ls', '/bin/LS x'],
  })
  expect(readPatternPart({ words: [undefined, 'x'], text: '$X x' }).keys).toEqual([''])
})
