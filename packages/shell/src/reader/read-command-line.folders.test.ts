import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'], home: '/home/ann' }
const AGREES = () => ({ hasError: false, names: [] })

const read = (text: string) => readCommandLine(text, PLACE, AGREES)
/** Without that `cd` moves, which a rule for `cd` means. */
const doubtsOf = (text: string) => read(text).parts.flatMap(({ doubts }) => doubts.filter(({ at }) => at === undefined))

describe('a cd inside the roots leaves nothing doubtful about', () => {
  it.each([
    'cd src && cat a ./b/c',
    'cd src; cat a',
    'cd /ws/repo && ls',
    'cd src && cat ../README.md',
    'cd -- src && cat ../README.md',
    'cd src && cat ../README.md | head',
    'cd src 2>/dev/null && ls && cat ../README.md',
    'cd src && cd lib && cat ../../README.md',
    'cd packages/core/src/lib && cd .. && ls ..',
    'cd /ws/repo/src && cat ../README.md',
    'ls && cd src && ls ..',
    '(cd src && ls ..); ls',
  ])('%s', (text) => {
    expect(doubtsOf(text)).toEqual([])
  })
})

describe('what is outside without the cd is outside where it may not have run', () => {
  it.each([
    'cd src; cat ../x',
    'cd src || cat ../x',
    'ls || cd src && cat ../x',
    '! cd src && cat ../x',
    'cd src | ls && cat ../x',
    'cd src && cat ../../x',
    'cd src && cd .. && cat ../x',
    'cd src && { cd /ws/repo; } && cat ../x',
    'cd src && { cat ../x; }',
    'cd src && pushd /ws/repo && cat ../x',
    'cd a && cd b; cat ../x',
    'cd src && cat $(cat ../x)',
    'cd src && f() { cat ../x; }',
    'cd src; cat ../../x',
  ])('%s', (text) => {
    expect(doubtsOf(text)).toContainEqual({ kind: 'reach', reason: expect.stringMatching(/ is outside the folders/) })
  })
})

describe('nobody follows', () => {
  it.each([
    'cd /etc; cat passwd',
    'cd $X; ls',
    'cd; ls',
    'cd - && ls',
    'cd ~ && ls',
    'cd ..; ls',
    'cd src/../.. && ls',
    'cd -P src && ls',
    'cd a b; ls',
    'popd; ls',
    'pushd +1; ls',
    'while ls; do cd ..; done',
    'while ls; do cd src; done',
    'for x in a b; do cd src; done; ls',
    'f() { cd src; }; f; f; ls',
    "cd src && eval 'cd /ws/repo' && cat ../x",
    "trap 'cd src' DEBUG; ls",
    'cd src && command cd /ws/repo && cat ../x',
    `${'cd a; cd b; '.repeat(20)}ls`,
  ])('%s', (text) => {
    expect(doubtsOf(text)).toContainEqual({ kind: 'reach', reason: 'where it runs depends on a cd' })
  })
})

it('files are named in every folder that the command may run in', () => {
  const pathsOf = (text: string) => read(text).parts.find(({ words }) => words[0] === 'cat')?.paths
  expect(pathsOf('cd secrets && cat key')).toEqual(['/ws/repo/secrets/key', '/ws/repo/secrets/secrets/key'])
  expect(pathsOf('cd secrets; cat key')).toEqual(['/ws/repo/key', '/ws/repo/secrets/key'])
})
