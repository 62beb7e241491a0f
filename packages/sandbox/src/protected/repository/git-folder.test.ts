import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { gitRuleOf, isGitFolder } from '../git/layout.ts'
import { isHarmlessGitLink, judgeGitFile } from './git-folder.ts'

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

const isKnown = (folder: string) => folder === join(root, '.git')
function isHarmless(path: string, content?: string): boolean {
  const file = content === undefined ? join(root, path) : write(path, content)
  if (path.endsWith('/.git')) return isHarmlessGitLink(file, isKnown)
  const gitFolder = /^.*\/\.git(\/worktrees\/[^/]+)?(?=\/)/.exec(file)![0]
  const mayBeWorkTree = (inside: string) => inside.startsWith(`${root}/`)
  const context = { gitFolder, isStrict: true, hashBytes: 20, isKnown, mayBeWorkTree, isSurveyed: () => true } as const
  return judgeGitFile(file, context).is === 'fine'
}
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

  it('closes what decides which programs git runs', () => {
    checkEach(
      ['hooks', 'config', 'config.worktree', 'commondir', 'gitdir', 'Hooks', 'CONFIG', 'hook\u017f'],
      (name) => {
        expect(gitRuleOf(name)).toBe('closed')
      },
    )
  })

  it.each(['modules', 'worktrees', 'Modules'])('can hold others of its kind in %s', (name) => {
    expect(gitRuleOf(name)).toBe('nested')
  })

  it('leaves git the rest', () => {
    const names = ['HEAD', 'index', 'objects', 'refs', 'logs', 'info', 'description', 'COMMIT_EDITMSG']
    expect(names.filter((name) => ['closed', 'nested', 'unknown'].includes(gitRuleOf(name)))).toEqual([])
  })

  it('takes no ref from a file into which git writes one', () => {
    expect(['refs/stash.lock', 'refs/heads/a.lock', 'refs/stash'].map(gitRuleOf)).toEqual(['any', 'any', 'ref'])
  })
})

describe('an unfinished operation of git', () => {
  const state = (path: string, content: string) => isHarmless(`.git/${path}`, content)

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
    ...names('extensions', 'worktreeconfig'),
    ...names('index', 'version', 'sparse', 'threads'),
    ...names('init', 'defaultbranch'),
    ...names('remote "origin"', 'url', 'pushurl', 'fetch', 'push', 'mirror', 'tagopt', 'prune'),
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
    ['extensions', 'objectformat', 'sha256'],
    ['extensions', 'refstorage', 'reftable'],
    ['core', 'fsmonitor', 'false'],
    ['branch "main"', 'remote', 'origin'],
  ])('may say [%s] %s = %s, and nothing else', (section, key, value) => {
    expect(isHarmlessConfig(`[${section}]\n\t${key} = ${value}\n`)).toBe(true)
    expect(isHarmlessConfig(`[${section}]\n\t${key} = evil::x\n`)).toBe(false)
  })

  it.each([
    ['extensions', 'partialclone', 'origin'],
    ['remote "origin"', 'promisor', 'true'],
    ['remote "origin"', 'partialclonefilter', 'blob:none'],
    ['branch "main"', 'remote', 'https://example.org/a'],
  ])('may not say [%s] %s = %s, which decides whom git contacts', (section, key, value) => {
    expect(isHarmlessConfig(`[${section}]\n\t${key} = ${value}\n`)).toBe(false)
  })

  it('may be written in the ways of git', () => {
    checkEach(
      [
        ...['', '# a comment\n; another\n\n', '[core]\n\tbare\n', '[core] bare = true\n', '[user]\n\tname = "A B"\n'],
        '[core]\r\n\tbare = false\r\n',
      ],
      (text) => {
        expect(isHarmlessConfig(text)).toBe(true)
      },
    )
  })

  it('may not be written as git could read it otherwise', () => {
    checkEach(
      [
        ...[
          'bare = true\n',
          '[core\n\tbare = true\n',
          '[user]\n\tname = a\\\n',
          '[core]\n\t= x\n',
          '[core.x]\n\tbare = true\n',
        ],
        ...['[core]\n\t1bare = true\n', '[constructor]\n\tname = x\n', '[core]\n\tconstructor = x\n', 'x [core]\n'],
      ],
      (text) => {
        expect(isHarmlessConfig(text)).toBe(false)
      },
    )
  })

  it('may fetch from places', () => {
    checkEach(
      [
        ...['https://example.org/a.git', 'http://example.org/a', 'git://example.org/a', 'ssh://git@example.org/a'],
        ...['file:///srv/a', 'git@example.org:a/b.git', '/srv/a', './a', '../a', 'a/b.git', '"../a-b"'],
      ],
      (url) => {
        expect(isHarmlessConfig(`[remote "origin"]\n\turl = ${url}\n\tpushurl = ${url}\n`)).toBe(true)
      },
    )
  })

  it('may not fetch from what runs a program', () => {
    checkEach(
      [
        ...[
          'ext::sh -c evil',
          'fd::7',
          'ssh://-oProxyCommand=evil/x',
          '-u=evil',
          '-x@example.org:a',
          'a@-x:b',
          'x y://z',
        ],
        ...['evil::x/https://example.org/a', 'transport::https://example.org/'],
      ],
      (url) => {
        expect(isHarmlessConfig(`[remote "origin"]\n\turl = ${url}\n`)).toBe(false)
        expect(isHarmlessConfig(`[submodule "x"]\n\turl = ${url}\n`)).toBe(false)
      },
    )
  })

  it('may have a work tree in the roots, none outside', () => {
    expect(isHarmlessConfig('[core]\n\tworktree = ../../lib\n')).toBe(true)
    expect(isHarmlessConfig('[core]\n\tworktree = "../../lib"\n')).toBe(true)
    expect(isHarmlessConfig('[core]\n\tworktree = ../../..\n')).toBe(false)
    for (const path of ['../../a\tb', '"../../a\\tb"', '../../a\u0001', '../../a\r/b', '../../a\uFFFD'])
      expect([path, isHarmlessConfig(`[core]\n\tworktree = ${path}\n`)]).toEqual([path, false])
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

  it('may be one for worktrees, which git sparse-checkout makes', () => {
    expect(isHarmless('a/.git/config.worktree', '[core]\n\tsparseCheckout = true\n')).toBe(true)
    expect(isHarmless('a/.git/config.worktree', '[core]\n\tfsmonitor = ./evil.sh\n')).toBe(false)
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
    { path: 'tree/.git', text: 'gitdir: ../.git\n', is: false },
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
