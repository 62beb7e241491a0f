import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { readGitSettings } from '../git/index.ts'
import { gitRuleOf } from '../git/layout.ts'
import { judgeOfState } from '../git/state-files.ts'
import { isClosedInBareGit, isHarmlessGitLink, judgeGitFile } from './git-folder.ts'
import { GitAround } from './git-settings.ts'

const settings = (text: string) =>
  [...readGitSettings(text)].map((setting) =>
    setting === 'unreadable' ? setting : `${setting.section}.${setting.key}=${setting.value}`,
  )

describe('a config of git', () => {
  it.each<[string, string[]]>([
    ['[core]\n\tbare = true\n', ['core.bare=true']],
    ['[Core]\nBare=TRUE', ['core.bare=TRUE']],
    ['[core]\nbare', ['core.bare=']],
    ['[core] bare = true', ['core.bare=true']],
    ['[core] # bare = true', []],
    ['[core];x', []],
    ['[remote "a b"]\nurl = x', ['remote.url=x']],
    ['[remote "a\\"]b"]\nurl = x', ['remote.url=x']],
    ['[a]\nx=1\n[b]\ny=2', ['a.x=1', 'b.y=2']],
    ['[a]\nx-1 = y', ['a.x-1=y']],
    ['[a]\nx =  y z  \n', ['a.x=y z']],
    ['[a]\nx = "y z"', ['a.x=y z']],
    ['[a]\nx = y"z"', ['a.x=yz']],
    ['[a]\nx = "y "z # c', ['a.x=y z']],
    ['[a]\nx = ""', ['a.x=']],
    ['# [a]\nx = 1', ['.x=1']],
    ['[ a]\nx = 1', ['unreadable']],
    ['[a]\ny = [b]\nx = 1', ['a.y=[b]', 'a.x=1']],
    ['[a]\n1x = 1', ['unreadable']],
    ['[a]\nx y = 1', ['unreadable']],
    ['[a]\nx.y = 1', ['unreadable']],
    ['[a]\nx = 1\\\n 2\\', ['a.x=1 2']],
    ['[a.b]\nx = 1', ['a.x=1']],
    ['[a\nx = 1', ['unreadable']],
    ['[a]\nx = "1\n[b]\ny = 1', ['unreadable']],
    ['[a]\nx = \\"1\\\\\\t#\r\n', ['a.x="1\\\t']],
    ['x = 1', ['.x=1']],
    ['\n# note\n; note\n', []],
  ])('%j has these settings', (text, expected) => {
    expect(settings(text)).toEqual(expected)
  })
})

describe('the notes of an operation that has stopped', () => {
  const judge = (path: string, text: string) => judgeOfState(path)?.(text)

  it('may have the lines of commands that run nothing', () => {
    checkEach(
      [
        ...['pick', 'p', 'reword', 'r', 'edit', 'e', 'squash', 's', 'fixup', 'f', 'drop', 'd', 'noop', 'break', 'b'],
        ...['label', 'l', 'reset', 't', 'merge', 'm', 'update-ref', 'u', 'revert', '#exec', '#x', '1a', '-x', ''],
      ],
      (word) => {
        for (const path of ['rebase-merge/git-rebase-todo', 'sequencer/todo'])
          expect(judge(path, `${word} 1a2b\n${word}`)).toBe(true)
      },
    )
  })

  it('may not have others', () => {
    checkEach(['exec', 'x', 'Pick', 'picks', 'X', 'run'], (word) => {
      expect(judge('rebase-merge/git-rebase-todo', `pick 1\n${word} 1a2b`)).toBe(false)
    })
  })

  it('may name a strategy of git', () => {
    checkEach(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree'], (name) => {
      expect(judge('rebase-merge/strategy', ` ${name}\n`)).toBe(true)
      expect(judge('sequencer/opts', `[options]\nstrategy = ${name}`)).toBe(true)
      expect(judge('rebase-merge/strategy', `${name}x`)).toBe(false)
    })
  })

  it('may have the options of git', () => {
    checkEach(
      [
        ...[
          'no-commit',
          'allow-empty',
          'allow-empty-message',
          'drop-redundant-commits',
          'keep-redundant-commits',
          'edit',
        ],
        ...['signoff', 'record-origin', 'allow-ff', 'mainline', 'gpg-sign', 'strategy-option', 'allow-rerere-auto'],
        ...['default-msg-cleanup', 'default-msg-cleanup-mode'],
      ],
      (key) => {
        expect(judge('sequencer/opts', `[options]\n${key} = x`)).toBe(true)
        expect(judge('sequencer/opts', `[other]\n${key} = x`)).toBe(false)
        expect(judge('sequencer/opts', `[options]\nx${key} = x`)).toBe(false)
      },
    )
  })

  it.each([
    ["'-C3'", true],
    ["'-p0'", true],
    ["'--whitespace=error-all'", true],
    ["'--ignore-whitespace'", true],
    ["'--ignore-space-change'", true],
    ["'--reject'", true],
    ["'--exclude=a b'", true],
    ["'--include=*.ts'  '-p1'", true],
    ['', true],
    ["'--include='", false],
    ["'--exclude=a'\\''b'", false],
    ["'--unsafe-paths'", false],
    ["'-p1'x", false],
    ["x '-p1'", false],
    ["'-p'", false],
  ])('may apply a patch with %s: %j', (options, expected) => {
    expect(judge('rebase-apply/apply-opt', `${options}\n`)).toBe(expected)
  })

  it.each([
    ['msgnum', '3\n', '$(x)\n'],
    ['end', '12\n', '1 `x`'],
    ['head-name', 'refs/heads/\u00FC\n', 'refs/heads/\u001B]0;x\u0007'],
    ['head-name', 'detached HEAD\n', '$(x)'],
    ['onto', `${'a'.repeat(40)}\n`, '\u001B[2J'],
    ['done', 'pick 1a2b \u00FC\n', 'pick 1a2b \u009B2J\n'],
    ['git-rebase-todo', 'pick 1a2b a\tb\n', 'pick 1a2b \u001B[2J\n'],
  ])('have %s for the prompt and for git status: %j, not %j', (name, good, bad) => {
    expect([judge(`rebase-merge/${name}`, good), judge(`rebase-merge/${name}`, bad)]).toEqual([true, false])
  })

  it.each(['main\n', 'a'.repeat(40), 'feature/x'])('begin a bisection at %j', (text) => {
    expect([judge('BISECT_START', text), judge('BISECT_START', `-${text}`)]).toEqual([true, false])
  })

  it('are in these files only', () => {
    const files = ['rebase-merge/git-rebase-todo', 'rebase-merge/strategy', 'rebase-apply/apply-opt', 'sequencer/opts']
    for (const path of [...files, 'sequencer/todo', 'BISECT_NAMES', 'MERGE_RR'])
      expect([gitRuleOf(path), judge(path, '')]).toEqual(['state', expect.any(Boolean)])
    // On some disks, it is the same file.
    for (const path of ['rebase-merge/Git-Rebase-Todo', 'sequencer/Todo', 'rebase-merge/\u017ftrategy'])
      expect([gitRuleOf(path), judge(path, 'exec x')]).toEqual(['state', false])
    const others = ['rebase-merge/todo', 'rebase-apply/strategy', 'other/todo', 'sequencer/constructor', 'todo']
    expect(others.map((path) => judge(path, 'exec x'))).toEqual(others.map(() => undefined))
  })
})

describe('files of git', () => {
  let root: string
  beforeEach(() => {
    root = temporaryFolder('git-config')
  })
  const write = (path: string, content = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
    return join(root, path)
  }
  const isKnown = (folder: string) => ['.git', 'lib/.git', 'b.git'].some((name) => folder === join(root, name))
  const isHarmless = (path: string, mayBeWorkTree = () => true) => {
    const [gitFolder] = /^.*\/\.git(?=\/)/.exec(path)!
    const context = {
      gitFolder,
      isStrict: true,
      hashBytes: 20,
      isKnown,
      mayBeWorkTree,
      isSurveyed: () => true,
    } as const
    return judgeGitFile(path, context).is === 'fine'
  }

  it.each([
    ['gitdir: ../b.git', true],
    ['../b.git', true],
    ['gitdir: .././b.git', true],
    ['gitdir: ./../b.git/', true],
    ['../gitdir: b.git', false],
    ['gitdir: gitdir: ../b.git', false],
    ['gitdir: ../x/../b.git', false],
    ['gitdir: x/../../b.git', false],
    ['gitdir: ../x//./../b.git', false],
    ['gitdir: "../b.git"', false],
    ['gitdir: ../b.git#x', false],
    ['gitdir: ../b.git;x', false],
    ['gitdir: ..\\b.git', false],
    ['gitdir: ../b.git\t', false],
    ['gitdir: ../b.git ', false],
    ['gitdir: ../b.git\u00A0', false],
    ['gitdir: ../.git', false],
    ['gitdir: ../lib/.git/', false],
    ['gitdir: ../.git/worktrees/x', true],
    ['gitdir: ../.git/modules/x/y/z', true],
    ['gitdir: ../.git/other/x', false],
    ['gitdir: ../modules', false],
  ])('point with %j to a folder that was there: %j', (text, expected) => {
    expect(isHarmlessGitLink(write('tree/.git', `${text}\n`), isKnown)).toBe(expected)
    expect(isHarmlessGitLink(write('tree/.git', `${text}\n`), () => false)).toBe(false)
  })

  it('have no work tree where nothing is known about the roots', () => {
    const config = write('new/.git/config', '[core]\n\tworktree = ../x\n')
    expect([isHarmless(config), isHarmless(config, () => false)]).toEqual([true, false])
  })

  it('may note a mebibyte of what is left to do', () => {
    const todo = (bytes: number) => write('.git/rebase-merge/git-rebase-todo', 'pick 1\n'.padEnd(bytes, '#'))
    expect(isHarmless(todo(1024 ** 2))).toBe(true)
    expect(isHarmless(todo(1024 ** 2 + 1))).toBe(false)
  })

  it('name a file of the project by its own name', () => {
    write('run!.sh')
    write('.git/config', '[alias]\n\tx = !run!.sh -v --x ./later.sh missing\n')
    expect(new GitAround().placesOf(join(root, '.git')).places.map((place) => place.path)).toEqual([
      join(root, 'run!.sh'),
      join(root, 'later.sh'),
    ])
    write('.git/config', '[alias]\n\tx = run!.sh\n')
    expect(new GitAround().placesOf(join(root, '.git')).places.map((place) => place.path)).toEqual([
      join(root, 'run!.sh'),
    ])
  })

  it.each<[string, string[], string, boolean]>([
    ['a config beside a HEAD', ['repo/HEAD'], 'repo/config', true],
    ['hooks beside a HEAD, and what is in them', ['repo/HEAD'], 'repo/hooks/pre-commit', true],
    ['a config in another case', ['repo/HEAD'], 'repo/Config', true],
    ['a config in the root', ['HEAD'], 'config', true],
    ['a config without a HEAD', [], 'repo/config', false],
    ['a config below the folder of a HEAD', ['repo/HEAD'], 'repo/src/config', false],
    ['a HEAD', [], 'repo/HEAD', true],
    ['a HEAD in another case', [], 'repo/head', false],
    ['a HEAD in another case beside objects', ['repo/objects/x'], 'repo/head', true],
    ['a HEAD in another case beside refs', ['repo/refs/x'], 'repo/Head', true],
    ['a HEAD in another case beside hooks', ['repo/hooks/x'], 'repo/head', true],
    ['a HEAD in another case beside a config', ['repo/config'], 'repo/head', true],
    ['a folder HEAD on the way', [], 'HEAD/x', false],
    ['any other file', ['repo/HEAD', 'repo/config'], 'repo/index', false],
    ['the index of a repository', ['repo/HEAD', 'repo/objects/x', 'repo/refs/x'], 'repo/index', true],
    ['objects elsewhere', ['repo/HEAD', 'repo/objects/x', 'repo/refs/x'], 'repo/objects/info/alternates', true],
    ['another file in a repository', ['repo/HEAD', 'repo/objects/x', 'repo/refs/x'], 'repo/src/main.ts', false],
  ])('close to file tools: %s', (_, present, path, expected) => {
    for (const name of present) write(name)
    expect(isClosedInBareGit(root, path.split('/'))).toBe(expected)
  })
})
