import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { CachedTrees } from './cached-trees.ts'
import { readGitIndexInSteps, takeSteps } from './index-file.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

function repository(...init: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'cached-trees-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const git = (words: string, input?: string) =>
    execFileSync('git', [...IDENTITY, ...words.split(' ')], {
      cwd: root,
      input,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  git(['init', '-q', '-b', 'main', ...init].join(' '))
  for (const path of ['a', 'a-b/x', 'a/../a.b', 'lib/deep/x', 'lib/deep/y', 'lib.x/z', 'lib/ü', 'zz']) write(path, path)
  git('add .')
  git('commit -qm a')
  const bytes = () => readFileSync(join(root, '.git/index'))
  const problem = () =>
    (takeSteps(readGitIndexInSteps(bytes(), init.length > 0 ? 32 : 20)) as { problem?: string }).problem
  return { root, git, write, bytes, problem }
}

it.each([[[]], [['--object-format=sha256']]])(
  'trees that git has cached are those of the entries: git init %j',
  (init) => {
    const { git, write, problem } = repository(...init)
    const tried: [string, string | undefined][] = []
    const after = (words: string) => {
      try {
        git(words)
      } catch {
        // A merge with conflicts.
      }
      tried.push([words, problem()])
    }
    after('read-tree HEAD')
    write('lib/deep/x', 'changed')
    after('add lib/deep/x')
    write('new/file', 'n')
    after('add -N new/file')
    after('commit -qm b lib/deep/x')
    after('add new/file')
    after('commit -qm c')
    after('checkout -q -b side HEAD~2')
    write('lib/deep/x', 'other')
    write('side/only', 's')
    after('add .')
    after('commit -qm d')
    after('merge -q main')
    after('checkout --ours lib/deep/x')
    after('add lib/deep/x')
    after('commit -qm e')
    after('rm -q -r lib.x')
    after('mv zz lib/zz')
    after('stash')
    after('stash pop --index')
    after('commit -qm f')
    after('rebase main')
    after('rebase --abort')
    after('reset -q --hard HEAD~1')
    after('cherry-pick main')
    after('cherry-pick --abort')
    after('sparse-checkout set --cone --sparse-index lib')
    write('lib/more', 'm')
    after('add lib/more')
    after('commit -qm g')
    after('sparse-checkout disable')
    after('update-index --index-version 4')
    after('read-tree --empty')
    after('read-tree --prefix=sub/ HEAD')
    expect(tried.filter(([, found]) => found !== undefined)).toEqual([])
  },
)

it('a tree that is not, which git commit would commit unseen, is a problem', () => {
  const { root, git, write, bytes, problem } = repository()
  const blob = git('hash-object -w --stdin', 'evil')
  const evil = git('mktree', `100644 blob ${blob}\tz\n`)
  git('read-tree HEAD')
  const index = bytes()
  const at = index.lastIndexOf(Buffer.from(git('rev-parse HEAD:lib.x'), 'hex'))
  Buffer.from(evil, 'hex').copy(index, at)
  createHash('sha1')
    .update(index.subarray(0, -20))
    .digest()
    .copy(index, index.length - 20)
  writeFileSync(join(root, '.git/index'), index)
  expect(problem()).toBe('git commit would not commit what it shows')
  write('a', 'changed')
  git('add a')
  expect(git('diff --cached --name-only')).toBe('a')
  expect(problem()).toBe('git commit would not commit what it shows')
  git('commit -qm b')
  expect(git('show --format= --name-only HEAD')).toBe('a\nlib.x/z')
})

it('hash a large folder in steps', () => {
  const trees = new CachedTrees(20)
  const hash = Buffer.alloc(20)
  for (let number = 1_000; number < 2_000; number++) {
    const path = Buffer.from(`${number}${'x'.repeat(4_000)}`)
    const entry = { path, length: path.length, same: 0, mode: 0o100644, hash, stage: 0, isIntended: false }
    expect([...trees.add(entry)]).toEqual([])
  }
  expect([...trees.accountsFor(Buffer.alloc(0))]).toHaveLength(3)
})
