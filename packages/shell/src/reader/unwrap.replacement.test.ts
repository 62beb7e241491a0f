import { describe, expect, it } from 'vitest'
import { readCommandLine } from './read-command-line.ts'

const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }
const AGREES = () => ({ hasError: false, names: [] })
const read = (text: string) => readCommandLine(text, PLACE, AGREES)

describe('a command in what is replaced is read with all its words, and never with certainty', () => {
  it.each([
    [`for x in \${PWD/$(cat /etc/passwd)/}; do ls; done`, ['cat', '/etc/passwd']],
    [`for x in "\${PWD//$(git diff / --output=x)/}"; do ls; done`, ['git', 'diff', '/', '--output=x']],
    [`case \${PWD/#$(cat /etc/x)/} in *) ls;; esac`, ['cat', '/etc/x']],
    [`case a in "\${PWD/%\`cat /etc/x\`/}") ls;; esac`, ['cat', '/etc/x']],
    [`cat <<E\n\${PWD/a/$(cat a/b)}\nE`, ['cat', 'a/b']],
    [`ls \${x/\${y/$(cat /etc/x)/}/}`, ['cat', '/etc/x']],
    [`ls \${x/<(cat /etc/x)/}`, ['cat', '/etc/x']],
    [`for x in \${PWD/$\\\n(cat /etc/x)/}; do ls; done`, ['cat', '/etc/x']],
  ])('%j', (text, words) => {
    const { parts, doubts } = read(text)
    expect(parts.map((part) => part.words)).toContainEqual(words)
    expect(doubts).toContainEqual({ kind: 'unread', reason: expect.stringContaining('only known to bash') })
  })

  it('while one without is nothing special', () => {
    expect(read(`ls \${x/a/b}`).doubts).toEqual([])
  })
})
