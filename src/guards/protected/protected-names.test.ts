import { describe, expect, it } from 'vitest'
import { closedToFileTools } from './protected-names.ts'

const closed = (path: string, access: 'read' | 'write') => closedToFileTools(path.split('/'), access) !== undefined

describe('protected names', () => {
  it('keeps secrets from being read', () => {
    for (const path of ['server.key', 'a/ca.PEM', '.env', 'app/.env.local', '.env.d/db', '.ssh/config'])
      expect(closed(path, 'read')).toBe(true)
  })

  it('keeps what other programs run or trust from being written, in any folder and any case', () => {
    const paths = [
      '.git/config',
      'sub/.GIT/hooks/pre-commit',
      '.git',
      '.bashrc',
      '.vscode/tasks.json',
      '.mcp.json',
      '.envrc',
    ]
    const more = [
      'tool-hub.yaml',
      '.tool-hub/grants',
      'node_modules/.bin/tsc',
      '.ripgreprc',
      '.config/fish/config.fish',
    ]
    for (const path of [...paths, ...more, '.local/bin/ls', '.direnv/x', '.tmux.conf'])
      expect([path, closed(path, 'write')]).toEqual([path, true])
  })

  it('knows the spellings that other file systems take for the same name', () => {
    for (const name of [
      '.git.',
      '.git ',
      '.git. .',
      '.g\u200cit',
      '.gi\ufefft',
      'GIT~1',
      'git~2',
      '.ｇｉｔ',
      '.BashRC.',
    ])
      expect([name, closed(name, 'write')]).toEqual([name, true])
  })

  it('leaves alone what only looks similar', () => {
    for (const path of [
      'monkey.keys',
      'pem/readme.md',
      'environment.md',
      '.gitignore',
      '.gitattributes',
      'git/config',
      'bin/.config/x',
    ]) {
      expect(closed(path, 'read')).toBe(false)
      expect(closed(path, 'write')).toBe(false)
    }
    expect(closed('.git/HEAD', 'read')).toBe(false)
  })
})
