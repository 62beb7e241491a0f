import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import {
  isClosedInBareGit,
  isHarmlessGitFile,
  isStateFolder,
  judgeOfState,
  placesNamedByConfig,
  readGitSettings,
  stateFilesIn,
} from './git-folder.ts'

const settings = (text: string) =>
  [...readGitSettings(text)].map((setting) =>
    setting === 'unreadable' ? setting : `${setting.section}.${setting.key}=${setting.value}`,
  )

describe('a config of git', () => {
  it.each<[string, string[]]>([
    ['[core]\n\tbare = true\n', ['core.bare=true']],
    ['[Core]\nBare=TRUE', ['core.bare=TRUE']],
    ['[ core ]\nbare', ['core.bare=']],
    ['[core] bare = true', ['core.bare=true']],
    ['[core] # bare = true', []],
    ['[core];x', []],
    ['[remote "a b"]\nurl = x', ['remote.url=x']],
    ['[remote "a\\"]b"]\nurl = x', ['remote.url=x']],
    ['[a]\nx=1\n[b]\ny=2', ['a.x=1', 'b.y=2']],
    ['[a]\nx-1 = y', ['a.x-1=y']],
    ['[a]\nx =  y z  \n', ['a.x=y z']],
    ['[a]\nx = "y z"', ['a.x=y z']],
    ['[a]\nx = y"z"', ['a.x=y"z"']],
    ['[a]\nx = "y"z', ['a.x="y"z']],
    ['[a]\nx = ""', ['a.x=']],
    ['# [a]\nx = 1', ['unreadable']],
    ['; [a]\nx = 1', ['unreadable']],
    ['[a]\ny = [b]\nx = 1', ['a.y=[b]', 'a.x=1']],
    ['[a]\n1x = 1', ['unreadable']],
    ['[a]\nx y = 1', ['unreadable']],
    ['[a]\nx.y = 1', ['unreadable']],
    ['[a]\nx = 1\\', ['unreadable']],
    ['[a.b]\nx = 1', ['unreadable', 'unreadable']],
    ['[a\nx = 1', ['unreadable', 'unreadable']],
    ['x = 1', ['unreadable']],
    ['\n# note\n; note\n', []],
  ])('%j has these settings', (text, expected) => {
    expect(settings(text)).toEqual(expected)
  })
})

describe('the notes of an operation that has stopped', () => {
  const judge = (path: string, text: string) => judgeOfState(`/r/.git/${path}`)?.(text)

  it.each([
    ...['pick', 'p', 'reword', 'r', 'edit', 'e', 'squash', 's', 'fixup', 'f', 'drop', 'd', 'noop', 'break', 'b'],
    ...['label', 'l', 'reset', 't', 'merge', 'm', 'update-ref', 'u', 'revert', '#exec', '#x', '1a', '-x', ''],
  ])('may have the line %j', (word) => {
    for (const path of ['rebase-merge/git-rebase-todo', 'sequencer/todo', 'Rebase-Merge/Git-Rebase-Todo'])
      expect(judge(path, `${word} 1a2b\n${word}`)).toBe(true)
  })

  it.each(['exec', 'x', 'Pick', 'picks', 'X', 'run'])('may not have %j', (word) => {
    expect(judge('rebase-merge/git-rebase-todo', `pick 1\n${word} 1a2b`)).toBe(false)
  })

  it.each(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree'])('may name the strategy %s', (name) => {
    expect(judge('rebase-merge/strategy', ` ${name}\n`)).toBe(true)
    expect(judge('sequencer/opts', `[options]\nstrategy = ${name}`)).toBe(true)
    expect(judge('rebase-merge/strategy', `${name}x`)).toBe(false)
  })

  it.each([
    ...['no-commit', 'allow-empty', 'allow-empty-message', 'drop-redundant-commits', 'keep-redundant-commits', 'edit'],
    ...['signoff', 'record-origin', 'allow-ff', 'mainline', 'gpg-sign', 'strategy-option', 'allow-rerere-auto'],
    ...['default-msg-cleanup', 'default-msg-cleanup-mode'],
  ])('may have the option %s', (key) => {
    expect(judge('sequencer/opts', `[options]\n${key} = x`)).toBe(true)
    expect(judge('sequencer/opts', `[other]\n${key} = x`)).toBe(false)
    expect(judge('sequencer/opts', `[options]\nx${key} = x`)).toBe(false)
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

  it('are in these files only', () => {
    expect(['rebase-merge', 'rebase-apply', 'sequencer', 'SEQUENCER'].map(isStateFolder)).toEqual(Array(4).fill(true))
    expect(['rebase', 'logs', 'constructor'].map(isStateFolder)).toEqual([false, false, false])
    expect(stateFilesIn(['rebase-merge', 'rebase-apply', 'sequencer'])).toEqual([
      ...['rebase-merge/git-rebase-todo', 'rebase-merge/strategy', 'rebase-apply/apply-opt'],
      ...['sequencer/opts', 'sequencer/todo'],
    ])
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
  const context = { isKnown: (folder: string) => folder === join(root, '.git'), isInRoots: () => true }

  it.each([
    ['gitdir: ../.git', true],
    ['../.git', true],
    ['gitdir: .././.git', true],
    ['gitdir: ./../.git/', true],
    ['../gitdir: .git', false],
    ['gitdir: gitdir: ../.git', false],
    ['gitdir: ../x/../.git', false],
    ['gitdir: x/../../.git', false],
    ['gitdir: ../x//./../.git', false],
    ['gitdir: "../.git"', false],
    ['gitdir: ../.git#x', false],
    ['gitdir: ../.git;x', false],
    ['gitdir: ..\\.git', false],
    ['gitdir: ../.git/worktrees/x', true],
    ['gitdir: ../.git/modules/x/y/z', true],
    ['gitdir: ../.git/other/x', false],
    ['gitdir: ../modules', false],
  ])('point with %j to a folder that was there: %j', (text, expected) => {
    expect(isHarmlessGitFile(write('tree/.git', `${text}\n`), context)).toBe(expected)
    expect(isHarmlessGitFile(write('tree/.git', `${text}\n`))).toBe(false)
  })

  it('have no work tree where nothing is known about the roots', () => {
    const config = write('new/.git/config', '[core]\n\tworktree = ../x\n')
    expect([isHarmlessGitFile(config, context), isHarmlessGitFile(config)]).toEqual([true, false])
  })

  it('may note a mebibyte of what is left to do', () => {
    const todo = (bytes: number) => write('.git/rebase-merge/git-rebase-todo', 'pick 1\n'.padEnd(bytes, '#'))
    expect(isHarmlessGitFile(todo(1024 ** 2))).toBe(true)
    expect(isHarmlessGitFile(todo(1024 ** 2 + 1))).toBe(false)
  })

  it('name a file of the project by its own name', () => {
    write('run!.sh')
    write('.git/config', '[alias]\n\tx = !run!.sh -v --x ./later.sh missing\n')
    expect(placesNamedByConfig(join(root, '.git'), root)).toEqual([join(root, 'run!.sh'), join(root, 'later.sh')])
    write('.git/config', '[alias]\n\tx = run!.sh\n')
    expect(placesNamedByConfig(join(root, '.git'), root)).toEqual([join(root, 'run!.sh')])
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
  ])('close to file tools: %s', (_, present, path, expected) => {
    for (const name of present) write(name)
    expect(isClosedInBareGit(root, path.split('/'))).toBe(expected)
  })
})
