import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { GitAround } from './git-settings.ts'

let root: string
let home: string
let around: GitAround

beforeEach(() => {
  root = join(temporaryFolder('git-settings'), 'project')
  home = join(dirname(root), 'home')
  around = new GitAround()
  vi.stubEnv('HOME', home)
  vi.stubEnv('XDG_CONFIG_HOME', '')
})
afterEach(() => void vi.unstubAllEnvs())

function write(path: string, content = '', folder = root): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

const named = (path = '.git') => {
  const { places, ways } = around.placesOf(join(root, path))
  const below = (paths: readonly string[]) =>
    paths.filter((place) => place.startsWith(root)).map((place) => place.slice(root.length + 1))
  return { places: below(places.map(({ path: place }) => place)), ways: below(ways) }
}
const places = (config: string) => {
  write('.git/config', config)
  return named().places
}
const HOOKS = '[core]\n\thooksPath = tools/hooks\n'

describe('the settings of the owner’s own repository', () => {
  it.each([
    ['[core]\n\thooksPath = scripts/hooks\n', 'scripts/hooks'],
    ['[core]\n\tattributesFile = my.attributes\n', 'my.attributes'],
    ['[gpg "ssh"]\n\tallowedSignersFile = my.signers\n', 'my.signers'],
    ['[include]\n\tpath = ../shared.gitconfig\n', 'shared.gitconfig'],
    ['[includeIf "gitdir:x"]\n\tpath = more\n', '.git/more'],
  ])('%j closes a place, also where nothing is yet', (config, place) => {
    expect(places(config)).toEqual([place])
  })

  it.each([
    ...['fsmonitor', 'editor', 'pager', 'sshCommand', 'askPass', 'gitProxy'].map((key) => ['core', key]),
    ...[
      ['sequence', 'editor'],
      ['credential', 'helper'],
      ['gpg', 'program'],
    ],
    ...[
      ['filter "x"', 'smudge'],
      ['diff "x"', 'textconv'],
      ['merge "x"', 'driver'],
      ['difftool "x"', 'cmd'],
    ],
    ...[
      ['mergetool "x"', 'cmd'],
      ['alias', 'st'],
      ['pager', 'log'],
      ['man "x"', 'cmd'],
      ['browser "x"', 'cmd'],
    ],
    ...[
      ['gpg "ssh"', 'program'],
      ['gpg "ssh"', 'defaultKeyCommand'],
      ['gc', 'recentObjectsHook'],
      ['uploadpack', 'packObjectsHook'],
      ['remote "x"', 'uploadpack'],
      ['remote "x"', 'receivepack'],
      ['sendemail "x"', 'sendmailCmd'],
      ['sendemail', 'toCmd'],
      ['imap', 'tunnel'],
      ['guitool "x"', 'cmd'],
      ['lfs "customtransfer.x"', 'path'],
      ['lfs "extension.x"', 'clean'],
      ['secrets', 'providers'],
    ],
  ] as [string, string][])('[%s] %s closes the files of the project that it runs', (section, key) => {
    for (const name of ['run.sh', 'x.py', 'bin/y']) write(name)
    expect(places(`[${section}]\n\t${key} = "!python3 -u x.py | ./run.sh; (bin/y 'not there')"\n`)).toEqual([
      'x.py',
      'run.sh',
      'bin/y',
    ])
  })

  it.each(['[user]\n\tname = run.sh\n', '[notcore]\n\teditor = run.sh\n', '[core]\n\teditors = run.sh\n'])(
    '%j runs nothing',
    (config) => {
      write('run.sh')
      expect(places(config)).toEqual([])
    },
  )

  it('that name nothing, or a place of another user, close nothing', () => {
    expect(places('[core]\n\thooksPath\n[include]\n\tpath = ~other/x\n')).toEqual([])
  })

  it.each([
    'tools/hooks # shared',
    '"tools/hooks"',
    'to"ols"/hooks',
    'tools/\\\nhooks',
    '"tools/hooks" ; x',
    ':(optional)tools/hooks',
  ])('are read as git reads them: %j', (value) => {
    expect(places(`[core]\n\thooksPath = ${value}\n`)).toEqual(['tools/hooks'])
  })

  it('are read however large the config is, and not at all where it is a folder or missing', () => {
    expect(places(`#${'x'.repeat(300 * 1024)}\n${HOOKS}`)).toEqual(['tools/hooks'])
    rmSync(join(root, '.git/config'))
    expect(named().places).toEqual([])
    mkdirSync(join(root, '.git/config'))
    expect(named().places).toEqual([])
  })
})

describe('the settings of the user', () => {
  beforeEach(() => write('.git/config', '[core]\n\tbare = false\n'))

  it.each([
    ['.gitconfig', HOOKS],
    ['.config/git/config', HOOKS],
    ['.gitconfig', '[include]\n\tpath = more/work.cfg\n'],
    ['.gitconfig', '[include]\n\tpath = ~/more/work.cfg\n'],
    ['.gitconfig', '[includeIf "gitdir:/elsewhere/"]\n\tpath = more/work.cfg\n'],
  ])('in ~/%s count in every repository: %j', (path, text) => {
    write('more/work.cfg', HOOKS, home)
    write(path, text, home)
    write('sub/.git/config')
    expect([named().places, named('sub/.git').places]).toEqual([['tools/hooks'], ['sub/tools/hooks']])
  })

  it('count behind a link, and are read again when they have changed', () => {
    write('dotfiles/gitconfig', HOOKS, home)
    symlinkSync('dotfiles/gitconfig', join(home, '.gitconfig'))
    expect(named().places).toEqual(['tools/hooks'])
    write('dotfiles/gitconfig', '[core]\n\thooksPath = other\n', home)
    expect(named().places).toEqual(['other'])
    rmSync(join(home, '.gitconfig'))
    expect(named().places).toEqual([])
  })

  it('count where the environment names them', () => {
    write('named.cfg', HOOKS, home)
    vi.stubEnv('GIT_CONFIG_GLOBAL', join(home, 'named.cfg'))
    vi.stubEnv('GIT_CONFIG_COUNT', '1')
    vi.stubEnv('GIT_CONFIG_KEY_0', 'core.hooksPath')
    vi.stubEnv('GIT_CONFIG_VALUE_0', 'more')
    expect(named().places).toEqual(['tools/hooks', 'more'])
  })
})

describe('the folders that settings refer to', () => {
  it('are the work tree of a worktree, and that of a submodule', () => {
    write('.git/config', HOOKS)
    write('.git/worktrees/t/commondir', '../..\n')
    write('.git/worktrees/t/gitdir', join(root, 'tree/.git'))
    write('tree/.git', `gitdir: ${root}/.git/worktrees/t\n`)
    write('.git/modules/m/config', `[core]\n\tworktree = ../../../m\n${HOOKS}`)
    expect(named('tree/.git')).toEqual({ places: ['tree/tools/hooks'], ways: ['tree'] })
    expect(named('.git/worktrees/t')).toMatchObject({ ways: ['tree'] })
    expect(named('.git/worktrees/t').places).toContain('tree/tools/hooks')
    expect(named('.git/modules/m')).toMatchObject({ ways: ['m'] })
    expect(named('.git/modules/m').places).toContain('m/tools/hooks')
  })

  it('are a bare repository itself', () => {
    write('b.git/config', HOOKS)
    expect(named('b.git').places).toContain('b.git/tools/hooks')
  })
})
