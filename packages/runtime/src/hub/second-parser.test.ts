import { beforeAll, describe, expect, it } from 'vitest'
import { readCommandLine } from '../../../shell/src/reader/read-command-line.ts'
import type { AskSecondParser } from '../../../shell/src/reading.ts'
import { loadSecondParser, secondParserFailure } from './second-parser.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
let ask: AskSecondParser

beforeAll(async () => {
  const loaded = await loadSecondParser()
  if (loaded === undefined) throw new Error('it did not load', { cause: secondParserFailure() })
  ask = loaded
})

const namesIn = (text: string) => ask(text).names.map(({ from, to }) => text.slice(from, to))

describe('the second parser', () => {
  it('is loaded once', async () => {
    expect(await loadSecondParser()).toBe(ask)
    expect(secondParserFailure()).toBeUndefined()
  })

  it('tells where the names of commands stand, in UTF-16 units', () => {
    expect(ask('ls')).toEqual({ hasError: false, names: [{ from: 0, to: 2 }] })
    expect(namesIn('cat 文档.md; ls 😀 && id')).toEqual(['cat', 'ls', 'id'])
    expect(namesIn('ls $(rm -rf /) | grep x')).toEqual(['ls', 'rm', 'grep'])
  })

  it('says when it cannot parse a text, and parses the next', () => {
    for (const text of ['ls (', 'ls "', 'ls )', 'a'.repeat(70_000)]) expect(ask(text).hasError, text).toBe(true)
    expect(ask('ls').hasError).toBe(false)
  })

  it('gives up on a text that would take long', () => {
    expect(ask('cat <<E;'.repeat(8_000)).hasError).toBe(true)
    expect(ask('ls').hasError).toBe(false)
  })

  it('sees what the first one lets pass', () => {
    expect(readCommandLine('ls (', PLACE, () => ({ hasError: false, names: [] })).doubts).toEqual([])
    expect(readCommandLine('ls (', PLACE, ask).doubts).toEqual([
      { kind: 'unread', reason: 'the second parser cannot parse it' },
    ])
  })

  it.each([
    'ls -la src | grep x',
    'cat \'a b\' "c" d\\ e',
    'git diff HEAD~1 -- src/a.ts',
    'ls; cat a && go test ./... 2>&1 >/dev/null',
    'cat <<EOF\nplain $x $(ls)\nEOF',
    'if ls; then cat a; fi',
    'for f in a b; do cat "$f"; done',
    'f() { ls; }',
    'x=$(ls) cat {a,b}',
    'time ls',
    'coproc ls',
    'export A=b',
    '[[ -f a ]] && ls',
    'echo $((1 + 2))',
  ])('agrees about %j', (text) => {
    expect(readCommandLine(text, PLACE, ask).doubts).toEqual([])
  })
})
