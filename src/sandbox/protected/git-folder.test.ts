import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import {
  isClosedInGit,
  isGitFolder,
  isHarmlessGitFile,
  isNestedGit,
  placesNamedByConfig,
  stateFilesIn,
} from './git-folder.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'git-folder-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
})

function write(path: string, content = ''): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

const context = {
  isKnown: (folder: string) => folder === join(root, '.git'),
  isInRoots: (path: string) => path.startsWith(`${root}/`),
}
const isHarmless = (path: string, content?: string) =>
  isHarmlessGitFile(content === undefined ? join(root, path) : write(path, content), context)
const isHarmlessConfig = (text: string) => isHarmless('new/.git/config', text)

describe('a folder of git', () => {
  it.each([
    { names: ['HEAD', 'objects', 'refs'], is: true },
    { names: ['HEAD', 'commondir'], is: true },
    { names: ['HEAD', 'objects'], is: false },
    { names: ['HEAD', 'refs'], is: false },
    { names: ['objects', 'refs', 'commondir'], is: false },
  ])('is known by its names: $names', ({ names, is }) => {
    expect(isGitFolder(new Set(names))).toBe(is)
  })

  it.each(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir', 'Hooks', 'CONFIG'])('closes %s', (name) => {
    expect(isClosedInGit(name)).toBe(true)
  })

  it.each(['modules', 'worktrees', 'Modules'])('can hold others of its kind in %s', (name) => {
    expect(isNestedGit(name)).toBe(true)
  })

  it('leaves git the rest', () => {
    const names = ['HEAD', 'index', 'objects', 'refs', 'logs', 'info', 'description', 'COMMIT_EDITMSG']
    expect(names.filter((name) => isClosedInGit(name) || isNestedGit(name))).toEqual([])
  })
})

describe('an unfinished operation of git', () => {
  const state = (path: string, content: string) => isHarmless(`.git/${path}`, content)

  it('is kept in these files, wherever there is one of these folders', () => {
    const files = ['rebase-merge/git-rebase-todo', 'rebase-merge/strategy', 'rebase-apply/apply-opt']
    expect(stateFilesIn(['rebase-merge', 'index', 'rebase-apply'])).toEqual(files)
    expect(stateFilesIn(['Sequencer'])).toEqual(['Sequencer/opts', 'Sequencer/todo'])
    expect(stateFilesIn(['HEAD', 'objects', 'refs', 'BISECT_LOG'])).toEqual([])
  })

  it.each([
    [
      'rebase-merge/git-rebase-todo',
      '\n# exec a comment\npick 1a2b a\n  p 1a2b exec\nreword 1 x\nbreak\nfixup -C 1 a\n',
    ],
    ['rebase-merge/git-rebase-todo', 'label onto\nreset onto\nmerge -C 1 a # b\nupdate-ref refs/heads/x\nnoop\nd 1\n'],
    ['rebase-merge/strategy', 'ort\n'],
    ['rebase-apply/apply-opt', " '-C1' '--whitespace=fix' '-p1'\n"],
    ['rebase-apply/apply-opt', '\n'],
    ['sequencer/todo', 'pick 1a2b a\nrevert 1a2b\n'],
    ['sequencer/opts', '[options]\n\tedit = true\n\tstrategy = recursive\n\tstrategy-option = ours\n\tmainline = 1\n'],
  ])('runs nothing where %s says %j', (path, content) => {
    expect(state(path, content)).toBe(true)
  })

  it.each([
    ...['exec evil', ' \t exec\tevil', 'x evil', 'x', 'pick 1\r\nexec evil', 'exec\0evil', 'unknown 1', 'execevil'].map(
      (line) => ['rebase-merge/git-rebase-todo', `pick 1a2b a\n${line}\n`],
    ),
    ['rebase-merge/git-rebase-todo', 'pick 1\n'.padEnd(1024 ** 2 + 1, '#')],
    ['sequencer/todo', 'exec evil\n'],
    ['rebase-merge/strategy', '../evil\n'],
    ['sequencer/opts', '[options]\n\tstrategy = ../evil\n'],
    ['sequencer/opts', '[include]\n\tpath = evil\n'],
    ['rebase-apply/apply-opt', " '--build-fake-ancestor=../../x'\n"],
    ['rebase-apply/apply-opt', " '-p1' --unsafe-paths\n"],
  ])('is not harmless where %s says %j', (path, content) => {
    expect(state(path!, content!)).toBe(false)
  })
})

describe('a config that a command made', () => {
  const names = (section: string, ...keys: readonly string[]) => keys.map((key) => [section, key] as const)
  it.each([
    ...names('core', 'repositoryformatversion', 'filemode', 'bare', 'logallrefupdates', 'ignorecase'),
    ...names('core', 'precomposeunicode', 'symlinks', 'autocrlf', 'eol', 'safecrlf', 'sparsecheckout'),
    ...names('core', 'sparsecheckoutcone', 'abbrev'),
    ...names('extensions', 'objectformat', 'partialclone', 'refstorage', 'compatobjectformat'),
    ...names('index', 'version', 'sparse', 'threads'),
    ...names('init', 'defaultbranch'),
    ...names('remote "origin"', 'url', 'pushurl', 'fetch', 'push', 'mirror', 'tagopt', 'prune', 'promisor'),
    ...names('remote "origin"', 'partialclonefilter'),
    ...names('branch "main"', 'remote', 'merge', 'rebase', 'pushremote'),
    ...names('submodule "lib"', 'active', 'url', 'branch', 'path'),
    ...names('user', 'name', 'email'),
    ...names('pull', 'rebase', 'ff'),
    ...names('push', 'default', 'autosetupremote'),
    ...names('fetch', 'prune'),
    ...names('gc', 'auto'),
  ])('may say [%s] %s, which git itself writes', (section, key) => {
    expect(isHarmlessConfig(`[${section}]\n\t${key} = x\n`)).toBe(true)
    expect(isHarmlessConfig(`[${section.replace('core', 'CORE')}]\n\t${key.toUpperCase()} = x\n`)).toBe(true)
  })

  it.each([
    ...['', '# a comment\n; another\n\n', '[core]\n\tbare\n', '[core] bare = true\n', '[user]\n\tname = "A B"\n'],
    '[core]\r\n\tbare = false\r\n',
  ])('may be written as %j', (text) => {
    expect(isHarmlessConfig(text)).toBe(true)
  })

  it.each([
    ...[
      'bare = true\n',
      '[core\n\tbare = true\n',
      '[user]\n\tname = a\\\n',
      '[core]\n\t= x\n',
      '[core.x]\n\tbare = true\n',
    ],
    ...['[core]\n\t1bare = true\n', '[constructor]\n\tname = x\n', '[core]\n\tconstructor = x\n', 'x [core]\n'],
  ])('may not be written as %j, which git could read otherwise', (text) => {
    expect(isHarmlessConfig(text)).toBe(false)
  })

  it.each([
    ...['https://example.org/a.git', 'http://example.org/a', 'git://example.org/a', 'ssh://git@example.org/a'],
    ...['file:///srv/a', 'git@example.org:a/b.git', '/srv/a', './a', '../a', 'a/b.git', '"../a-b"'],
  ])('may fetch from %s', (url) => {
    expect(isHarmlessConfig(`[remote "origin"]\n\turl = ${url}\n\tpushurl = ${url}\n`)).toBe(true)
  })

  it.each([
    ...['ext::sh -c evil', 'fd::7', 'ssh://-oProxyCommand=evil/x', '-u=evil', '-x@example.org:a', 'a@-x:b', 'x y://z'],
    ...['evil::x/https://example.org/a', 'transport::https://example.org/'],
  ])('may not fetch from %s', (url) => {
    expect(isHarmlessConfig(`[remote "origin"]\n\turl = ${url}\n`)).toBe(false)
    expect(isHarmlessConfig(`[submodule "x"]\n\turl = ${url}\n`)).toBe(false)
  })

  it('may have a work tree in the roots, none outside', () => {
    expect(isHarmlessConfig('[core]\n\tworktree = ../../lib\n')).toBe(true)
    expect(isHarmlessConfig('[core]\n\tworktree = "../../lib"\n')).toBe(true)
    expect(isHarmlessConfig('[core]\n\tworktree = ../../..\n')).toBe(false)
  })

  it('has 64 KiB at most', () => {
    expect(isHarmlessConfig('#'.padEnd(64 * 1024, 'x'))).toBe(true)
    expect(isHarmlessConfig('#'.padEnd(64 * 1024 + 1, 'x'))).toBe(false)
  })

  it('is a file of its own: no folder, no further name of another file', () => {
    const config = write('a/.git/config', '')
    linkSync(config, join(root, 'elsewhere'))
    expect(isHarmless('a/.git/config')).toBe(false)
    rmSync(config)
    mkdirSync(config)
    expect(isHarmless('a/.git/config')).toBe(false)
    rmSync(config, { recursive: true })
    expect(isHarmless('a/.git/config')).toBe(true)
  })

  it('is not one for worktrees, which git does not make by itself', () => {
    expect(isHarmless('a/.git/config.worktree', '')).toBe(false)
  })
})

describe('hooks that a command made', () => {
  it('are samples only', () => {
    write('a/.git/hooks/pre-commit.sample')
    expect(isHarmless('a/.git/hooks')).toBe(true)
    write('a/.git/hooks/pre-commit')
    expect(isHarmless('a/.git/hooks')).toBe(false)
  })

  it('are in a folder, not behind a link or in a file', () => {
    mkdirSync(join(root, 'a/.git'), { recursive: true })
    mkdirSync(join(root, 'empty'))
    symlinkSync('../../empty', join(root, 'a/.git/hooks'))
    expect(isHarmless('a/.git/hooks')).toBe(false)
    expect(isHarmless('b/.git/hooks', '')).toBe(false)
  })
})

describe('a file that leads to a folder of git', () => {
  it.each([
    { path: 'tree/.git', text: 'gitdir: ../.git/worktrees/tree\n', is: true },
    { path: 'tree/.git', text: 'gitdir: ../.git\n', is: true },
    { path: 'lib/.git', text: 'gitdir: ../.git/modules/a/modules/b\n', is: true },
    { path: '.git/worktrees/tree/commondir', text: '../..\n', is: true },
    { path: '.git/worktrees/tree/gitdir', text: '../../../tree/.git\n', is: true },
    { path: '.git/worktrees/tree/gitdir', text: '../../../tree/.other\n', is: false },
    { path: 'tree/.git', text: 'gitdir: ../evil\n', is: false },
    { path: 'tree/.git', text: 'gitdir: ../.git/objects\n', is: false },
    { path: 'tree/.git', text: 'gitdir: ../.git/worktrees/tree\n../evil', is: false },
    { path: 'tree/.git', text: 'gitdir: ../.git\0', is: false },
    { path: 'tree/.git', text: '', is: false },
    { path: 'tree/.git', text: '\n', is: false },
  ])('$path: $text is harmless: $is', ({ path, text, is }) => {
    expect(isHarmless(path, text)).toBe(is)
  })
})

describe('the settings of the owner’s own repository', () => {
  const places = (config: string) => {
    write('.git/config', config)
    return placesNamedByConfig(join(root, '.git'), root).map((path) => path.slice(root.length + 1))
  }

  it.each([
    ['[core]\n\thooksPath = scripts/hooks\n', 'scripts/hooks'],
    ['[core]\n\tattributesFile = my.attributes\n', 'my.attributes'],
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
  ] as [string, string][])('[%s] %s closes the files of the project that it runs', (section, key) => {
    for (const name of ['run.sh', 'x.py', 'bin/y']) write(name)
    expect(places(`[${section}]\n\t${key} = !python3 -u x.py | ./run.sh; (bin/y 'not there')\n`)).toEqual([
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

  it('that name nothing, a place of the user or one that cannot be read close nothing', () => {
    expect(places('[core]\n\thooksPath\n[include]\n\tpath = ~/x\n')).toEqual([])
    expect(places('[core]\n\thooksPath = a\\\n')).toEqual([])
  })

  it('are read up to 64 KiB', () => {
    const text = '[core]\n\thooksPath = h\n#'
    expect(places(text.padEnd(64 * 1024, 'x'))).toEqual(['h'])
    expect(places(text.padEnd(64 * 1024 + 1, 'x'))).toEqual([])
    rmSync(join(root, '.git/config'))
    expect(placesNamedByConfig(join(root, '.git'), root)).toEqual([])
    mkdirSync(join(root, '.git/config'))
    expect(placesNamedByConfig(join(root, '.git'), root)).toEqual([])
  })
})
