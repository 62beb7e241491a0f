import { describe, expect, it } from 'vitest'
import { isHarmless, lookAtProgram } from './look-at-program.ts'

const look = (line: string, globs?: ReadonlySet<number>) => lookAtProgram(line.split(' '), globs)
const pathsOf = (line: string) => look(line).paths.map((index) => line.split(' ')[index])
const optionsOf = (line: string) => look(line).hazards.map(({ option }) => option)

describe('an option that a table lacks may take the next word or not', () => {
  it.each([
    'ls -I --ignore /etc',
    'ls -w --width /etc',
    'ls -T --tabsize /etc',
    'ls -lI --hide /etc',
    'ls --brand-new --ignore /etc',
    'ls --brand-new -x --brand-new --ignore /etc',
    'ls --ignor /etc',
    'cut -Zd /etc',
    'diff --brand-new -L /etc a b',
  ])('so that the file is found in %s', (line) => {
    expect(pathsOf(line)).toContain('/etc')
  })

  it.each([
    ['sort --brand-new -- -o x', '-o'],
    ['sort --brand-new -t -o x', '-o'],
    ['git rev-list --grep -- --output=x HEAD', '--output'],
    ['git branch --brand-new --list new', 'new'],
    ['git clean --brand-new -n', 'clean'],
    ['uniq --brand-new -f in.txt out.txt', 'out.txt'],
    ['npm test --brand-new -w --script-shell=./x', '--script-shell'],
  ])('so that the hazard is found in %s', (line, option) => {
    expect(optionsOf(line)).toContain(option)
  })

  it('so that a text after it is looked at as a file too', () => {
    expect(pathsOf('rg --brand-new /etc/x foo')).toContain('/etc/x')
    expect(pathsOf('rg -n /api/v1 src')).toEqual(['src'])
  })

  it('so that one before the command hides which command it is', () => {
    for (const line of ['npm --brand-new test exec x', 'cargo --brand-new test run', 'docker --brand-new ps run'])
      expect(optionsOf(line), line).toContain('--brand-new')
  })

  it('and many of them cannot be told apart', () => {
    const { hazards } = look(`ls ${'-Y '.repeat(1_000)}x`)
    expect(hazards).toContainEqual(
      expect.objectContaining({ kind: 'hidden', reason: expect.stringContaining('cannot') }),
    )
  })
})

it('an option may take two words', () => {
  expect(pathsOf('jq --arg x --indent . /etc/passwd')).toEqual(['/etc/passwd'])
  expect(pathsOf('jq -r --arg x y .name in.json')).toEqual(['in.json'])
})

it.each([
  'npm test -node-options=--require=./x',
  'npm test -node-opt=--require=./x',
  'npm test -script-shell ./x',
  'npm run build -userconfig=x',
  'pnpm test -script-shell=./x',
])('a long option counts with one dash where the program takes it so: %s', (line) => {
  expect(look(line).hazards).toContainEqual(expect.objectContaining({ kind: 'hidden' }))
})

describe('a program that another one starts by name', () => {
  it.each([
    ['npx tsc --noEmit --outDir x', 3],
    ['npx tsc --noEmit false', 3],
    ['npm exec prettier -- --write', 4],
    ['python3 -m pytest -p x', 3],
    ['python3 -mpytest -p x', 2],
    ['uv run pytest -p x', 3],
  ])('is looked at too: %s', (line, at) => {
    expect(look(line).hazards.map((hazard) => hazard.at)).toContain(at)
  })

  it('gets the options after it, and the files', () => {
    expect(optionsOf('python3 -m pytest -v -x tests')).toEqual(['-m'])
    expect(pathsOf('python3 -m pytest -k /x /etc')).toContain('/etc')
    expect(look('npx tsc --noEmit -p /etc').pathValues).toEqual(['/etc'])
  })
})

it('who starts a program through too many others hides it', () => {
  expect(look(`${'npx '.repeat(20_000)}-- ls`).hazards).toContainEqual(
    expect.objectContaining({ kind: 'hidden', reason: expect.stringContaining('cannot') }),
  )
})

describe('a glob', () => {
  it('may become more words than stand there', () => {
    expect(look('uniq src/*', new Set([1])).hazards).toHaveLength(1)
    expect(look('uniq src/a').hazards).toEqual([])
  })

  it('may become any script or value', () => {
    expect(look('sed -n s*a*b*p x', new Set([2])).hazards).toHaveLength(1)
    expect(look('go build -mod m* x', new Set([3])).hazards).toHaveLength(1)
  })

  it('may become a word that does more, unless it names a folder or begins in another way', () => {
    expect(look('git reflog e*', new Set([2])).hazards).toHaveLength(1)
    expect(look('git reflog src/e*', new Set([2])).hazards).toEqual([])
    expect(look('rustc @*', new Set([1])).hazards).toHaveLength(1)
    expect(look('rustc a*', new Set([1])).hazards).toEqual([])
  })
})

it('says where options end for certain', () => {
  expect(look('grep x -- a').optionsEnd).toBe(2)
  for (const line of ['grep -e -- a', 'wc -Y -- a', 'echo -- a', 'unheard-of -- a', 'grep x a'])
    expect(look(line).optionsEnd, line).toBeUndefined()
})

it('knows the programs that a file which is called like an option does no harm to', () => {
  const names = 'ls cat head cut tr echo grep wc sort uniq find git sed ln touch tail npm unheard-of'
  expect(names.split(' ').filter(isHarmless)).toEqual(['ls', 'cat', 'head', 'cut', 'tr', 'echo'])
})
