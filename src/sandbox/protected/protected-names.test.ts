import { describe, expect, it } from 'vitest'
import { closedToFileTools, foldName, isClosedToCommands, isHiddenFromCommands } from './protected-names.ts'

const closed = (path: string, access: 'read' | 'write') => closedToFileTools(path.split('/'), access) !== undefined

describe('protected names', () => {
  it('keeps secrets from being read', () => {
    for (const path of [
      'server.key',
      'a/ca.PEM',
      '.env',
      'app/.env.local',
      '.env.d/db',
      '.ssh/config',
      'app/.tool-hub/key',
    ])
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

/** Names of folders and files, each of which some program runs or obeys. */
const FOLDERS = [
  ...['.husky', '.githooks', '.git-hooks', '.lefthook', '.lefthook-local', '.direnv', '.devcontainer', '.idx', '.mise'],
  ...['.vscode', '.idea', '.fleet', '.zed', '.vs', '.helix', '.emacs.d', '.claude', '.codex', '.cursor', '.gemini'],
  ...[
    '.windsurf',
    '.continue',
    '.roo',
    '.clinerules',
    '.cline',
    '.kilocode',
    '.amp',
    '.openhands',
    '.trunk',
    '.kiro',
    '.amazonq',
    '.opencode',
    '.crush',
  ],
  ...['.qwen', '.augment', '.trae', '.junie', '.goose', '.factory', '.agents', '.tool-hub', '.ssh', '.gnupg', '.aws'],
]
const FILES = [
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.bash_aliases', '.profile', '.zshrc', '.zshenv'],
  ...[
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.cshrc',
    '.tcshrc',
    '.kshrc',
    '.login',
    '.xprofile',
    '.xinitrc',
    '.xsession',
  ],
  ...['.pam_environment', '.inputrc', '.tmux.conf', '.envrc', '.mise.toml', '.mise.local.toml', 'mise.toml'],
  ...['mise.local.toml', '.vimrc', '.exrc', '.nvimrc', '.nvim.lua', '.lvimrc', '.dir-locals.el', '.dir-locals-2.el'],
  ...[
    '.emacs',
    '.gdbinit',
    '.lldbinit',
    '.pdbrc',
    '.Rprofile',
    '.irbrc',
    '.pryrc',
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pnpmfile.cjs',
    '.pypirc',
  ],
  ...['.gitconfig', '.pre-commit-config.yaml', '.pre-commit-config.yml', '.overcommit.yml', '.simple-git-hooks.json'],
  ...['.simple-git-hooks.js', '.simple-git-hooks.cjs', '.simple-git-hooks.mjs', '.devcontainer.json', '.gitpod.yml'],
  ...['.gitpod.dockerfile', '.replit', '.mcp.json', '.aider.conf.yml', '.cursorrules', '.windsurfrules', '.crush.json'],
  ...['.ripgreprc', '.netrc', 'lefthook.yml', '.lefthook.yaml', 'lefthook-local.toml', '.lefthook-local.json'],
  ...['opencode.json', 'opencode.jsonc', 'crush.json', 'a.code-workspace', 'a.sublime-project', 'tool-hub.yaml'],
  ...['tool-hub.yml', 'tool-hub.json', 'tool-hub.jsonc', 'tool-hub.json5', 'tool-hub.mjs'],
]
const BELOW = [
  ...['fish', 'nushell', 'nvim', 'autostart', 'systemd', 'git', 'direnv', 'mise'].map((name) => `.config/${name}`),
  ...['.sl/config', '.local/bin', '.cargo/config', '.cargo/config.toml', '.yarn/releases', '.yarn/plugins'],
]
const SECRETS = [
  ...['.env', '.env.local', 'a.pem', 'a.key', 'a.p12', 'a.pfx', 'a.jks', 'a.keystore', 'a.kdbx', 'id_rsa', 'id_dsa'],
  ...['id_ecdsa', 'id_ed25519', 'id_ed25519_sk', '.netrc', '.pgpass', '.git-credentials', '.pypirc', '.htpasswd'],
]

describe('each name of the list', () => {
  it.each([...FOLDERS, ...FILES, ...BELOW])('%s is closed to writing tools and to commands', (path) => {
    const [name, parent] = path.split('/').toReversed() as [string, string?]
    expect([closed(`a/${path}`, 'write'), isClosedToCommands(name, parent)]).toEqual([true, true])
    expect(isClosedToCommands(name.toUpperCase(), parent?.toUpperCase())).toBe(true)
  })

  it.each([...FOLDERS, ...BELOW])('%s is closed with all that is in it', (path) => {
    expect(closed(`a/${path}/b/c`, 'write')).toBe(true)
  })

  it.each(['.git', '.hg', '.svn', '.jj', '.sl', '.gitmodules', 'node_modules/.bin'])(
    '%s is closed to writing tools only',
    (path) => {
      const [name, parent] = path.split('/').toReversed() as [string, string?]
      expect([closed(path, 'write'), isClosedToCommands(name, parent)]).toEqual([true, false])
    },
  )

  it.each(SECRETS)('%s is a secret', (name) => {
    expect([closed(`a/${name}`, 'read'), isHiddenFromCommands(name, false)]).toEqual([true, true])
    expect(isHiddenFromCommands(name, true)).toBe(false)
  })

  it.each(['.ssh', '.gnupg', '.aws', '.tool-hub'])('%s is a folder of secrets', (name) => {
    expect([closed(`${name}/x`, 'read'), isHiddenFromCommands(name, true)]).toEqual([true, true])
    expect(isHiddenFromCommands(name, false)).toBe(false)
  })

  it.each([
    ...['.env.example', '.env.sample', '.env.template', '.env.dist', '.env.schema', '.env.defaults', '.env.default'],
    ...['.env.example.local', '.ENV.Example'],
  ])('%s is no secret to commands: it is made to be seen', (name) => {
    expect(isHiddenFromCommands(name, false)).toBe(false)
  })
})

describe('what was set aside', () => {
  const asides = (names: readonly string[]) => names.map((name) => `${name}.set-aside-0123abcd`)

  it.each(asides(['.ssh', '.gnupg', '.aws', '.tool-hub', '.TOOL-HUB']))('%s is still a folder of secrets', (name) => {
    expect([closed(`${name}/x`, 'read'), closed(`${name}/x`, 'write'), isHiddenFromCommands(name, true)]).toEqual([
      ...[true, true, true],
    ])
    expect(isClosedToCommands(name, 'folder')).toBe(false)
  })

  it.each(asides(['.netrc', '.pypirc', 'a.pem']))('%s is still a secret', (name) => {
    expect([closed(name, 'read'), isHiddenFromCommands(name, false)]).toEqual([true, true])
  })

  it.each(asides(['.vscode', '.claude', 'tool-hub.yaml']))('%s is open', (name) => {
    expect([closed(name, 'read'), closed(name, 'write'), isClosedToCommands(name, 'folder')]).toEqual([
      ...[false, false, false],
    ])
    expect(isHiddenFromCommands(name, true)).toBe(false)
  })
})

describe('names that only contain one of the list', () => {
  it.each([
    ...['x.bashrc', '.bashrc2', 'my-lefthook.yml', 'lefthook.yml.md', 'xopencode.json', 'crush.json.txt', 'amise.toml'],
    ...['mise.toml.md', 'a.code-workspace.md', 'xtool-hub.yaml', 'tool-hub.yaml.md', 'vscode', 'bin', 'config.toml'],
  ])('%s is open', (name) => {
    expect([closed(name, 'write'), isClosedToCommands(name, 'folder')]).toEqual([false, false])
  })

  it.each(['a.keys', 'key.a', 'id_rsa.pub', 'my_id_rsa', 'x.env', '.netrc2', 'x.htpasswd', 'a.pem.md'])(
    '%s is no secret',
    (name) => {
      expect([closed(name, 'read'), isHiddenFromCommands(name, false)]).toEqual([false, false])
    },
  )

  it('and files that are only trusted as files are open as folders', () => {
    expect(closed('.profile/notes.md', 'write')).toBe(false)
  })
})

it.each([
  ['.GIT', '.git'],
  ['git~1', '.git'],
  ['GIT~23', '.git'],
  ['git~1x', 'git~1x'],
  ['xgit~1', 'xgit~1'],
  ['.git. . ', '.git'],
  ['. .git', '. .git'],
  ['.e\u00adnv', '.env'],
  ['.KIT\u212a', '.kitk'],
  ['README.md', 'readme.md'],
])('%j is %j to somebody', (name, folded) => {
  expect(foldName(name)).toBe(folded)
})
