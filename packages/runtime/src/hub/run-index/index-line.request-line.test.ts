import { describe, expect, it } from 'vitest'
import { requestLine } from './index-line.ts'

describe('what a call asks for', () => {
  it.each([
    [{ path: 'notes/a.md', maxBytes: 5 }, ['read:fs /srv/notes/a.md'], 'notes/a.md'],
    [{ command: 'npm test\n  --silent', cwd: '.' }, ['exec npm test --silent'], 'npm test --silent'],
    [{ argv: ['git', 'log', '-1'] }, ['exec git log -1'], 'git log -1'],
    [{ method: 'GET', url: 'https://example.com/a' }, ['network https://example.com/a'], 'https://example.com/a'],
    [{ root: 'src', query: 'release' }, ['read:fs /srv/src'], 'release'],
    [{ from: 'a.txt', to: 'b.txt' }, ['write:fs /srv/b.txt'], 'a.txt → b.txt'],
    [{ patch: '*** Begin' }, ['read:fs /srv/a', 'write:fs /srv/a', 'write:fs /srv/b'], '/srv/a, /srv/b'],
    [undefined, ['write:fs /a', 'write:fs /b', 'write:fs /c', 'write:fs /d'], '/a, /b, /c and 1 more'],
    [{ channel: 'console', title: 'Build', text: 'Red.' }, ['message console'], 'Build'],
    [{ greeting: 'Hello', level: 2 }, undefined, 'Hello'],
    [{ limit: 5 }, undefined, undefined],
    [undefined, undefined, undefined],
    ['text', [], undefined],
  ])('%j on %j is %s', (args, targets, line) => {
    expect(requestLine(args, targets)).toBe(line)
  })

  it('is cut where it is long', () => {
    expect(requestLine({ query: 'x'.repeat(10_000) })).toBe(`${'x'.repeat(300)}…`)
    expect(requestLine({ query: `x${' '.repeat(10_000)}y` })).toBe('x…')
  })
})
