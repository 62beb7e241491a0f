import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })

function doubtsOf(text: string) {
  const { parts, doubts } = readCommandLine(text, PLACE, AGREES)
  return [...doubts, ...parts.flatMap((part) => part.doubts)]
}

describe('words outside of commands may set what commands depend on', () => {
  it.each([
    'for x in $((PATH=5)); do ls; done',
    'for x in $[PATH=5]; do ls; done',
    `for x in \${PATH:=5}; do ls; done`,
    `for x in a "b\${PATH=5}"; do ls; done`,
    `for x in \${a[PATH=5]}; do ls; done`,
    `for x in \${a:PATH=5}; do ls; done`,
    `for x in \${!y}; do ls; done`,
    `for x in \${y@P}; do ls; done`,
    `for x in @(\${PATH:=5}|b); do ls; done`,
    `for x in {a,\${PATH:=5}}; do ls; done`,
    'select x in $((PATH=5)); do ls; done',
    'case $((PATH=5)) in a) ls;; esac',
    'case a in "$((PATH=5))") ls;; esac',
    `case a in b) ls;; \${PATH:=5}) ls;; esac`,
  ])('%s', (text) => {
    expect(doubtsOf(text)).toContainEqual({
      kind: 'reach',
      reason: expect.stringMatching(/^what .* does is only known/),
    })
  })

  it.each([
    'for x in a *.ts $y; do ls; done',
    `for x in \${y} "\${#y}"; do ls; done`,
    'for x in $(ls); do ls; done',
    'case $x in a|"b"*) ls;; esac',
  ])('but not %s', (text) => {
    expect(doubtsOf(text)).toEqual([])
  })
})
