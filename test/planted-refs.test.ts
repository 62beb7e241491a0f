import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isSettled } from '../packages/sandbox/src/protected/disk/file-memo.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
const AS_A = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b'

/** A repository of the owner, and a hub on it whose commands run unasked; `exec` returns what their results report. */
function repository(...init: readonly string[]) {
  const root = temporaryFolder('planted-refs')
  const git = (...words: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync('git', ['-C', root, ...IDENTITY, ...words], { encoding: 'utf8' })
    expect([words, status, status === 0 ? '' : stderr]).toEqual([words, 0, ''])
    return stdout.trim()
  }
  const write = (path: string, content = '') => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  git('init', '-q', '-b', 'main', ...init)
  write('.gitignore', '/runs\n/.tool-hub\n')
  for (const path of ['a', 'lib/deep/b', 'lib/c', '.husky/commit-msg', '.vscode/settings.json']) write(path, path)
  git('add', '.')
  git('commit', '-qm', 'a')
  const hubHere = () => {
    const hub = createToolHub({
      sandbox: { root },
      data: join(root, '.tool-hub'),
      runs: join(root, 'runs'),
      policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }],
    })
    onTestFinished(() => hub.close())
    return async (command: string) => {
      const { ok, data, error, meta } = await hub.call('core/exec.run', { command: `${AS_A}; ${command}` })
      expect([error, ok && data]).toEqual([undefined, expect.objectContaining({ exitCode: 0 })])
      return meta.notices?.join(' ')
    }
  }
  return { root, git, write, hubHere }
}

/** Sets `COMMIT` to a commit that adds a hook; nothing of it is ever in the work tree or the index. */
const COMMIT = [
  `HOOK=$(echo 'touch ran' | git hash-object -w --stdin)`,
  `FOLDER=$( (git ls-tree HEAD:.husky; printf "100755 blob $HOOK\\tpre-commit\\n") | git mktree)`,
  `TREE=$( (git ls-tree HEAD | grep -v husky; printf "040000 tree $FOLDER\\t.husky\\n") | git mktree)`,
  'COMMIT=$(git commit-tree -p HEAD -m evil $TREE)',
].join('; ')
const STASH = `${COMMIT}; STASH=$(git commit-tree -p HEAD -p $(git commit-tree -p HEAD -m index HEAD^{tree}) -m wip $TREE)`

describe('a file that other programs run, in what a ref leads to', () => {
  it.each([
    ['a new branch', `${COMMIT}; git branch feature $COMMIT`, 'refs/heads/feature'],
    ['the branch that is checked out', `${COMMIT}; git update-ref refs/heads/main $COMMIT`, 'refs/heads/main'],
    ['a detached HEAD', `${COMMIT}; git update-ref --no-deref HEAD $COMMIT`, 'HEAD'],
    ['a tag', `${COMMIT}; git tag -a -m t v1 $COMMIT`, 'refs/tags/v1'],
    ['a packed ref', `${COMMIT}; git branch feature $COMMIT; git pack-refs --all`, 'refs/heads/feature'],
    ['packed objects', `${COMMIT}; git branch feature $COMMIT; git repack -adq`, 'refs/heads/feature'],
    [
      'a hash in capital letters',
      `${COMMIT}; echo $COMMIT | tr a-f A-F > .git/refs/heads/feature`,
      'refs/heads/feature',
    ],
    ['a stash', `${STASH}; git stash store -m wip $STASH`, 'refs/stash'],
    ['an older stash', `${STASH}; git stash store -m wip $STASH; echo b > a; git stash -q`, 'refs/stash'],
    [
      'untracked files of a stash',
      `${COMMIT}; STASH=$(git commit-tree -p HEAD -p HEAD -p $(git commit-tree -m untracked $TREE) -m wip HEAD^{tree}); git update-ref refs/stash $STASH`,
      'refs/stash',
    ],
    [
      'the HEAD of a worktree',
      `git worktree add -q --detach tree; ${COMMIT}; cd tree; git update-ref --no-deref HEAD $COMMIT`,
      'HEAD',
    ],
    [
      'what git rebase --abort returns to',
      `${COMMIT}; mkdir .git/rebase-merge; echo $COMMIT > .git/rebase-merge/orig-head`,
      'orig-head',
    ],
  ])('is reported once: %s', async (_, command, name) => {
    const exec = repository().hubHere()
    const report = await exec(command)
    expect(report).toMatch(new RegExp(`\\.husky/pre-commit \\(\\S*${name}\\)`))
    expect(report).not.toContain('commit-msg (')
    expect(await exec('git status; echo c > lib/c; git commit -qam c')).toBeUndefined()
  })

  it('is reported in a repository with long hashes', async () => {
    const exec = repository('--object-format=sha256').hubHere()
    expect(await exec(`${COMMIT}; git branch feature $COMMIT; git repack -adq`)).toContain(
      '.husky/pre-commit (refs/heads/feature)',
    )
  })

  it('is reported from packs with old indexes and many deltas', async () => {
    const { git, write, hubHere } = repository()
    for (let number = 0; number < 200; number++) write(`lib/file-${number}`, `${number}`)
    git('add', '.')
    git('commit', '-qm', 'many')
    const exec = hubHere()
    const commits = 'for i in 1 2 3 4 5; do echo new > lib/file-$i; git commit -qam $i; done'
    const pack = 'git -c pack.indexVersion=1 -c repack.useDeltaBaseOffset=false repack -adfq'
    const report = await exec(`${commits}; ${COMMIT}; git branch feature $COMMIT; ${pack}`)
    expect(report).toContain(`have: .husky/pre-commit (refs/heads/feature). Your`)
    expect(report).not.toContain('completely')
  })

  it('is reported in a clone that borrows its objects', async () => {
    const { git, root, hubHere } = repository()
    git('clone', '-q', '--shared', '-n', '.', join(root, 'copy'))
    const report = await hubHere()(`cd copy; ${COMMIT}; git branch feature $COMMIT`)
    expect(report).toContain(`have: .husky/pre-commit (refs/heads/feature). Your`)
  })

  it('is reported when a branch leads to what another one of the owner has', async () => {
    const { git, write, hubHere } = repository()
    git('switch', '-qc', 'feature')
    write('.vscode/tasks.json', 'evil')
    git('add', '.')
    git('commit', '-qm', 'tasks')
    git('switch', '-q', 'main')
    const exec = hubHere()
    expect(await exec('git status; git switch -q -c other; git switch -q main')).toBeUndefined()
    expect(await exec('git update-ref refs/heads/main feature')).toContain('.vscode/tasks.json (refs/heads/main)')
    git('update-ref', 'refs/heads/main', 'main~1')
    expect(await exec('git symbolic-ref HEAD refs/heads/feature')).toContain('.vscode/tasks.json (HEAD)')
  })

  it('is reported if a path of git contains a slash, or is a link on the way', async () => {
    const { hubHere } = repository()
    const exec = hubHere()
    // `git mktree` refuses a slash.
    const raw = (entry: string) =>
      `BLOB=$(printf x | git hash-object -w --stdin); TREE=$( (printf '${entry}\\0'; printf $BLOB | xxd -r -p) | git hash-object -w --literally -t tree --stdin)`
    const branch = (name: string) => `git update-ref refs/heads/${name} $(git commit-tree -m ${name} $TREE)`
    expect(await exec(`${raw('100755 .husky/pre-push')}; ${branch('one')}`)).toContain(
      '.husky/pre-push (refs/heads/one)',
    )
    expect(await exec(`${raw('120000 .config')}; ${branch('two')}`)).toContain('.config (refs/heads/two)')
    expect(await exec(`${raw('100644 x')}; ${branch('three')}`)).toBeUndefined()
  })

  it('is not reported if it is the file that the owner has there', async () => {
    const { root, write, hubHere } = repository()
    write('.vscode/tasks.json', 'mine')
    write('.husky/commit-msg', 'changed')
    // What changed just now could also be a command's.
    await vi.waitUntil(() => isSettled(statSync(join(root, '.husky/commit-msg'))), { timeout: 10_000 })
    const exec = hubHere()
    expect(await exec('git stash -q -k -- a; git add -A; git commit -qm all')).not.toContain('git checkout, git merge')
  })

  it('is reported if it is a file that a command put there', async () => {
    const exec = repository().hubHere()
    expect(await exec('mkdir -p old && echo evil > old/extensions.json')).toBeUndefined()
    const commands = 'mkdir sub && mv old sub/.vscode && git add -A && git commit -qm sub'
    expect(await exec(commands)).toContain('sub/.vscode/extensions.json (refs/heads/main)')
  })
})

describe('what cannot be read', () => {
  it.each([
    ['a commit that is not there', `git rev-parse HEAD | tr 0-9a-f 1-9a-f0 > .git/refs/heads/x`],
    [
      'a tree that is not there',
      `${COMMIT}; git update-ref refs/heads/x $COMMIT; rm -f .git/objects/$(echo $FOLDER | sed 's#^..#&/#')`,
    ],
    [
      'a tree that is none',
      'TREE=$(echo evil | git hash-object -w --literally -t tree --stdin); git update-ref refs/heads/x $(git commit-tree -m x HEAD^{tree}); printf "tree $TREE\\n\\nx" | git hash-object -w --literally -t commit --stdin > .git/refs/heads/x',
    ],
    [
      'more paths than can be followed',
      'TREE=$(git rev-parse HEAD:lib); for i in $(seq 40); do TREE=$(printf "040000 tree $TREE\\ta\\n040000 tree $TREE\\tb\\n" | git mktree); done; git update-ref refs/heads/x $(git commit-tree -m x $TREE)',
    ],
  ])('is reported as unchecked: %s', async (_, command) => {
    const exec = repository().hubHere()
    expect(await exec(command)).toMatch(/could not be read completely, or are too many: refs\/heads\/x\./)
  })
})

it('ordinary work on the code of the project is not reported', async () => {
  const { git, write, hubHere } = repository()
  git('branch', 'side')
  write('lib/d', 'd')
  git('add', '.')
  git('commit', '-qm', 'd')
  git('gc', '-q')
  const exec = hubHere()
  const work = [
    'echo e > lib/deep/e && git add . && git commit -qm e && git tag v1 && git tag -a -m v2 v2',
    'git switch -q side && echo f > f && git add f && git commit -qm f && git rebase -q main && git switch -q main',
    'git merge -q side && git cherry-pick --allow-empty -x HEAD >/dev/null; git cherry-pick --quit; git reset -q --hard HEAD~1',
    'echo g > lib/c && echo new > new && git stash -q -u && git stash pop -q && git add . && git stash -q && git stash pop -q --index',
    'git commit -qm g && git switch -q --detach HEAD~1 && git switch -q main && git gc -q && git pack-refs --all',
    'git notes add -m note && git branch -D side -q && git commit -q --amend -m last',
  ]
  for (const command of work) expect([command, await exec(command)]).toEqual([command, undefined])
})
