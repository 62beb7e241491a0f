import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { HubOptions } from '../packages/core/src/options.ts'
import { gitIndexBytes, type IndexEntry } from './support/git-index-bytes.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

let root: string

beforeEach(() => {
  root = temporaryFolder('planted-git')
})

function write(path: string, content = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** A hub on the root, whose commands run unasked. */
function hubHere(options: HubOptions = {}) {
  const hub = createToolHub({
    sandbox: { root },
    data: join(root, '.tool-hub'),
    runs: join(root, 'runs'),
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }],
    ...options,
  })
  onTestFinished(() => hub.close())
  return { hub, exec: (command: string) => hub.call('core/exec.run', { command }) }
}

describe('what git runs', () => {
  it('is not left in an unfinished operation of git, which the next `git rebase --continue` would run', async () => {
    const git = (...words: string[]) => {
      const { status, stdout, stderr } = spawnSync('git', ['-C', root, ...IDENTITY, ...words], { encoding: 'utf8' })
      return { status, text: stdout + stderr }
    }
    const { exec } = hubHere()
    git('init', '-q')
    for (const name of ['a', 'b', 'c']) {
      write(name, name)
      git('add', name)
      git('commit', '-qm', name)
    }
    const identity = IDENTITY.join(' ')
    const stopped = await exec(`GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git ${identity} rebase -qi HEAD~2`)
    expect([stopped.error, stopped.meta.notices]).toEqual([undefined, undefined])
    expect((await exec(`git ${identity} rebase --continue`)).error).toBeUndefined()
    expect(git('log', '--format=%s').text).toBe('c\nb\na\n')

    const planted = await exec(
      `GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git ${identity} rebase -qi HEAD~2; echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo`,
    )
    expect(planted.meta.notices?.join(' ')).toContain('.git/rebase-merge/git-rebase-todo')
    expect(git('rebase', '--continue').status).not.toBe(0)
    expect(existsSync(join(root, 'ran'))).toBe(false)
    expect(git('rebase', '--abort').status).toBe(0)
  })

  it.each(['msgnum', 'end'])(
    'is not left in %s of a rebase, which the prompt of git lets bash expand',
    async (name) => {
      const prompt = '/usr/lib/git-core/git-sh-prompt'
      repository()
      const { exec } = hubHere()
      write('step', '$(touch ran)\n')
      const planted = await exec(
        `git ${IDENTITY.join(' ')} commit -q --allow-empty -m b; GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git ${IDENTITY.join(' ')} rebase -qi HEAD~1; cp step .git/rebase-merge/${name}`,
      )
      expect(planted.meta.notices?.join(' ')).toContain(`.git/rebase-merge/${name}`)
      if (!existsSync(prompt)) return
      const env = { ...process.env, PROMPT_COMMAND: "__git_ps1 '' ''" }
      spawnSync('bash', ['--rcfile', prompt, '-i'], { cwd: root, env, input: 'true\n' })
      expect(existsSync(join(root, 'ran'))).toBe(false)
    },
  )

  it('is not put into a bare repository by file tools, nor is one put together file by file', async () => {
    const asked: string[] = []
    const { hub, exec } = hubHere({
      policy: [{ allow: 'write:fs' }, { allow: 'exec' }, { allow: 'danger:destructive' }],
      approve: ({ tool }) => {
        asked.push(tool)
        return { decision: 'deny' }
      },
    })
    for (const path of ['bare.git/HEAD', 'bare.git/objects/x', 'bare.git/refs/x']) write(path, 'ref: refs/heads/main')
    const put = async (path: string) =>
      (await hub.callDynamic('core/fs.writeText', { path, text: 'x', overwrite: true })).error?.code ?? 'written'
    const denied = ['bare.git/hooks/post-update', 'bare.git/config', 'bare.git/commondir', 'new/HEAD']
    const written = [
      'new/config',
      'new/hooks/post-update',
      'new/objects/x',
      'new/refs/x',
      'src/config/app.ts',
      'a/head',
    ]
    for (const path of written) expect([path, await put(path)]).toEqual([path, 'written'])
    for (const path of [...denied, 'new/head']) expect([path, await put(path)]).toEqual([path, 'PATH_DENIED'])
    const moved = await hub.callDynamic('core/fs.move', { from: 'new/refs/x', to: 'new/HEAD' })
    expect([moved.error?.code, asked]).toEqual(['PATH_DENIED', []])
    await hub.callDynamic('core/fs.writeText', { path: 'new/config', text: '[core]\nfsmonitor = x', overwrite: true })
    const completed = await exec('cp bare.git/HEAD new/')
    expect(completed.meta.notices?.join(' ')).toContain('new/config')
  })

  it('is not written by file tools where the config of a repository around it names it', async () => {
    const git = (folder: string, ...words: string[]) =>
      expect(spawnSync('git', ['-C', join(root, folder), ...IDENTITY, ...words]).status).toBe(0)
    mkdirSync(join(root, 'repo'))
    git('repo', 'init', '-q')
    git('repo', 'commit', '-q', '--allow-empty', '-m', 'a')
    git('repo', 'worktree', 'add', '-q', '../tree')
    for (const [key, value] of [
      ['core.hooksPath', 'tools/hooks'],
      ['alias.x', '!./scripts/x.sh now'],
      ['include.path', '../more.cfg'],
    ])
      git('repo', 'config', key!, value!)
    symlinkSync('real', join(root, 'repo/tools'))
    const closed = ['repo/tools/hooks/pre-commit', 'repo/real/hooks/x', 'repo/scripts/x.sh', 'repo/more.cfg']
    const others = ['repo/real/hooks.md', 'repo/scripts/y.sh', 'tools/hooks/pre-commit']
    mkdirSync(join(root, 'repo/real'))
    const { hub } = hubHere({ policy: [{ allow: 'write:fs' }] })
    const put = async (path: string) => (await hub.callDynamic('core/fs.writeText', { path, text: 'x' })).error?.code
    for (const path of [...closed, 'tree/tools/hooks/x', 'tree/scripts/x.sh'])
      expect([path, await put(path)]).toEqual([path, 'PATH_DENIED'])
    for (const path of others) expect([path, await put(path)]).toEqual([path, undefined])
    const below = hubHere({ sandbox: { root: join(root, 'repo/scripts') }, policy: [{ allow: 'write:fs' }] }).hub
    expect((await below.callDynamic('core/fs.writeText', { path: 'x.sh', text: 'x' })).error?.code).toBe('PATH_DENIED')
    git('repo', 'config', '--unset', 'core.hooksPath')
    expect(await put('repo/real/hooks/x')).toBeUndefined()
  })
})

/** Runs git as the owner, outside of the sandbox. */
function git(...words: readonly string[]): string {
  const { stdout, stderr } = spawnSync('git', ['-C', root, ...IDENTITY, ...words], { encoding: 'utf8' })
  return stdout + stderr
}

/** A repository of the owner with one commit. */
function repository(): void {
  git('init', '-q', '-b', 'main')
  write('.gitignore', '/runs\n/.tool-hub\n/outside\n')
  write('a', 'a')
  git('add', '.')
  git('commit', '-qm', 'a')
}

describe('what the owner’s git follows', () => {
  beforeEach(repository)

  it.each(['node_modules/lib', 'vendor/lib'])('is not a repository at %s whose config runs a program', async (path) => {
    const { exec } = hubHere()
    write('evil.sh', `#!/bin/sh\ntouch ${root}/ran\n`)
    chmodSync(join(root, 'evil.sh'), 0o755)
    const planted = await exec(
      [
        `git init -q ${path} && cd ${path} && git ${IDENTITY.join(' ')} commit -q --allow-empty -m x`,
        `git config core.fsmonitor ${root}/evil.sh`,
        `git -C ${root} update-index --add --cacheinfo 160000,$(git rev-parse HEAD),${path}`,
      ].join(' && '),
    )
    expect(planted.error).toBeUndefined()
    const notices = planted.meta.notices?.join(' ')
    expect(notices).toContain(`${path}/.git/config`)
    expect(notices).toContain(`added submodules to the index`)
    git('status')
    git('diff')
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  it.each<[string, (hash: string) => IndexEntry]>([
    ['a hook', (hash) => ({ path: '.git/hooks/pre-commit', hash, mode: 0o100755 })],
    ['a config', (hash) => ({ path: '.git/config', hash })],
    ['a file outside', (hash) => ({ path: '../outside.txt', hash })],
    ['a file at an absolute path', (hash) => ({ path: `${root}-outside.txt`, hash })],
    ['a hook by another spelling', (hash) => ({ path: '.GIT/hooks/pre-commit', hash })],
  ])('is not an index that makes `git restore` write %s', async (_, entryOf) => {
    const { exec } = hubHere()
    const hash = git('hash-object', '-w', 'a').trim()
    const entry = entryOf(hash)
    writeFileSync(join(root, 'planted'), gitIndexBytes([entry]))
    const config = readFileSync(join(root, '.git/config'), 'utf8')
    const planted = await exec('cp planted .git/index')
    expect(planted.meta.notices?.join(' ')).toContain('.git/index, which is not an index that git would write')
    git('restore', '.')
    git('checkout', '.')
    git('checkout-index', '-a', '-f')
    expect(readdirSync(join(root, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([])
    expect([existsSync(`${root}-outside.txt`), existsSync(join(root, '../outside.txt'))]).toEqual([false, false])
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe(config)
    git('reset')
    expect(git('status', '--short')).toBe('?? planted\n')
  })

  it.each(['SQUASH_MSG', 'COMMIT_EDITMSG', 'FETCH_HEAD', 'logs/HEAD', 'ORIG_HEAD', 'refs/heads/main', 'index', 'info'])(
    'is not a link at .git/%s, through which it would write',
    async (name) => {
      const { exec } = hubHere()
      write('outside', 'mine')
      const planted = await exec(`rm -rf .git/${name} && ln -s ${root}/outside .git/${name}`)
      expect(planted.error).toBeUndefined()
      expect(planted.meta.notices?.join(' ')).toContain(`.git/${name}`)
      git('commit', '-q', '--allow-empty', '-m', 'b')
      git('fetch', '.')
      expect(readFileSync(join(root, 'outside'), 'utf8')).toBe('mine')
    },
  )

  it.each([
    ['info/attributes', '* filter=x'],
    ['info/grafts', 'x'],
    ['objects/info/alternates', '/elsewhere'],
    ['remotes/origin', 'URL: https://example.org/x'],
    ['branches/origin', 'https://example.org/x'],
    ['main', 'a'.repeat(40)],
    ['MERGE_RR', `${'a'.repeat(40)}\t../../secret\0`],
    ['config.worktree', '[core]\nfsmonitor = x'],
  ])('is not a file .git/%s that git itself would not write', async (name, text) => {
    const { exec } = hubHere()
    write('planted', text)
    // A folder that git would not create may be renamed before the file is in it.
    const planted = await exec(`mkdir -p $(dirname .git/${name}) && cp planted .git/${name}; true`)
    expect(planted.error).toBeUndefined()
    expect(planted.meta.notices?.join(' ')).toContain('.git/')
    expect(existsSync(join(root, '.git', name))).toBe(false)
  })

  it('is not a promisor remote, from which `git status` fetches', async () => {
    const { exec } = hubHere()
    const planted = await exec(
      [
        `git init -q lib && cd lib && git ${IDENTITY.join(' ')} commit -q --allow-empty -m x`,
        'git config remote.origin.url https://example.org/secret && git config remote.origin.promisor true',
        'git config core.repositoryformatversion 1 && git config extensions.partialclone origin',
      ].join(' && '),
    )
    expect(planted.meta.notices?.join(' ')).toContain('lib/.git/config, which names something that git runs')
    expect(git('-C', join(root, 'lib'), 'config', 'remote.origin.promisor')).toBe('')
  })

  it('is reported where it hides what the owner reviews, once', async () => {
    git('commit', '-q', '--allow-empty', '-m', 'b')
    const { exec } = hubHere()
    const replaced = await exec('git replace HEAD HEAD~1')
    expect(replaced.meta.notices?.join(' ')).toContain('git show other commits')
    const packed = await exec('git pack-refs --all')
    expect(packed.meta.notices).toBeUndefined()
    const hidden = await exec('git update-index --assume-unchanged a && git update-index --skip-worktree .gitignore')
    expect(hidden.meta.notices?.join(' ')).toMatch(
      /hide changes to these files in \S+: a\..*ignore these files of the work tree in \S+: \.gitignore/,
    )
    expect((await exec('echo more > b && git add b')).meta.notices).toBeUndefined()
  })

  it('is reported where the index would write what other programs run', async () => {
    const { exec } = hubHere()
    const stage = (text: string, path: string) =>
      exec(`git update-index --add --cacheinfo 100755,$(echo ${text} | git hash-object -w --stdin),${path}`)
    expect((await stage('a', '.husky/pre-commit')).meta.notices?.join(' ')).toContain('staged .husky/pre-commit in')
    expect((await stage('a', '.husky/pre-commit')).meta.notices).toBeUndefined()
    expect((await stage('b', '.husky/pre-commit')).meta.notices?.join(' ')).toContain('staged .husky/pre-commit in')
    expect((await stage('b', 'src/tool-hub.yaml')).meta.notices?.join(' ')).toContain('staged src/tool-hub.yaml in')
    // It makes a repository of its folder, in which git obeys what else is staged there.
    expect((await stage('ref: refs/heads/main', 'x/HEAD')).meta.notices?.join(' ')).toContain('staged x/HEAD in')
    expect((await stage('a', 'x/config')).meta.notices).toBeUndefined()
    expect((await exec('echo more > b && git add b')).meta.notices).toBeUndefined()
  })

  it('is reported where a link leads out of the roots', async () => {
    const { exec } = hubHere()
    const linked = await exec('mkdir -p deep && ln -s /etc/hostname deep/link && ln -s ../a deep/inside')
    expect(linked.meta.notices).toEqual([expect.stringContaining('deep/link → /etc/hostname')])
  })

  it.each([
    ['whose name is not valid UTF-8', `ln -s /etc/hostname "$(printf 'a\\377')"`, '/a\uFFFD → /etc/hostname'],
    ['in a folder of such a name', `mkdir "$(printf 'd\\377')" && ln -s /etc "$(printf 'd\\377')/x"`, '/x → /etc'],
    ['to something of such a name', `ln -s "$(printf '/etc/new\\377')" x`, '/x → /etc/new\uFFFD'],
  ])('is reported where a link %s leads out of the roots', async (_, command, shown) => {
    const { exec } = hubHere()
    const inside = `ln -s a "$(printf 'b\\377')"`
    const linked = await exec(`${command} && ${inside}`)
    expect(linked.meta.notices).toEqual([expect.stringContaining(shown)])
  })
})

describe('ordinary work with git', () => {
  const IN_CLONE = 'git clone -q . copy && cd copy'
  const AS_A = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b'
  const COMMITS = 'for f in b c d; do echo $f > $f && git add $f && git commit -qm $f; done'
  const CONFLICT = `git switch -qc side && echo 1 > a && git commit -qam s && git switch -q - && echo 2 > a && git commit -qam m`
  const FILE = '-c protocol.file.allow=always'

  it.each([
    [
      'init, commit and worktree',
      'git init -q repo && cd repo && echo a > a && git add a && git commit -qm a && git worktree add -q ../tree && git -C ../tree status && git worktree lock ../tree',
    ],
    ['commit and amend', `${COMMITS} && git commit -q --amend -m e && git commit -q --allow-empty -m f`],
    [
      'rebase with a conflict',
      `${CONFLICT}; git rebase side; git status; echo 3 > a && git add a && GIT_EDITOR=true git rebase --continue`,
    ],
    ['an unfinished interactive rebase', `${COMMITS} && GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -qi HEAD~2`],
    ['an unfinished merge', `${CONFLICT}; git merge side; git status; true`],
    ['merge --squash', `${CONFLICT}; git merge --squash side; git status; true`],
    ['an unfinished cherry-pick of several', `${CONFLICT}; git cherry-pick side~1 side; git status; true`],
    [
      'an unfinished revert',
      `${COMMITS} && echo x > b && git commit -qam x && git revert --no-edit HEAD~1 HEAD~2; true`,
    ],
    ['stash', 'echo x >> a && git stash -q && git stash apply -q && git stash list && git stash -qu'],
    ['bisect', `${COMMITS} && git bisect start HEAD HEAD~3 && git bisect good && git bisect log`],
    ['bisect with paths', `${COMMITS} && git bisect start HEAD HEAD~3 -- a b c`],
    [
      'gc and repack',
      `${COMMITS} && git gc -q && git repack -adq && git commit-graph write && git multi-pack-index write && git prune`,
    ],
    ['update-server-info and fsck', 'git update-server-info && git fsck --lost-found'],
    [
      'tags and notes',
      'git tag v1 && git tag -a v2 -m x && git notes add -m n && git branch other && git branch -qD other',
    ],
    [
      'am that stops',
      `${CONFLICT}; git format-patch -1 side -o patches && git am patches/*; git am --show-current-patch > p; true`,
    ],
    [
      'rerere',
      `${IN_CLONE} && git config rerere.enabled true && ${CONFLICT}; git merge side; git rerere; echo 3 > a; git commit -qam r`,
    ],
    [
      'sparse-checkout',
      `${IN_CLONE} && mkdir x y && echo 1 > x/1 && echo 2 > y/2 && git add . && git commit -qm xy && git sparse-checkout set x`,
    ],
    [
      'an index that is split',
      `${COMMITS} && git update-index --split-index && echo q > q && git add q && git rm -q --cached b`,
    ],
    ['an index of version 4', 'git update-index --index-version 4 && echo q > q && git add q'],
    ['the untracked cache', 'git update-index --untracked-cache && git status'],
    [
      'a repository with SHA-256',
      'git init -q --object-format=sha256 s && cd s && echo a > a && git add a && git commit -qm a && git status',
    ],
    [
      'a bare repository',
      'git init -q --bare b.git && git push -q b.git main && git clone -q b.git c && cd c && git fetch -q',
    ],
    ['a shared and a shallow clone', 'git clone -qs . s && git clone -q --depth 1 file://$PWD d && git -C d log'],
    [
      'a submodule',
      `git init -q lib && git -C lib commit -q --allow-empty -m l && git init -q top && cd top && git ${FILE} submodule --quiet add ../lib sub && git commit -qm s && git ${FILE} submodule --quiet update`,
    ],
    ['fetch and pull', `${IN_CLONE} && git fetch -q && git pull -q && git remote show -n origin`],
    [
      'fast-export and fast-import',
      'git init -q i && git fast-export --all | git -C i fast-import --quiet && git -C i log main',
    ],
    [
      'bundle, archive and reflog',
      'git bundle create -q x.bundle main && git archive main > x.tar && git reflog expire --expire=now --all',
    ],
    [
      'clean and reset',
      `${COMMITS} && git reset -q --hard HEAD~1 && git clean -fdq && git checkout -q HEAD~1 && git switch -q main`,
    ],
    [
      'subtree and filter-branch',
      `${COMMITS} && FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter cat HEAD~1..HEAD`,
    ],
  ])('leaves nothing that is set aside: %s', async (_, command) => {
    repository()
    const { exec } = hubHere()
    const result = await exec(`${AS_A}; ${command}`)
    expect([result.error, result.ok && result.data]).toEqual([undefined, expect.objectContaining({ exitCode: 0 })])
    const setAside = (notice: string) => notice.includes('set-aside')
    expect(result.meta.notices?.filter(setAside) ?? []).toEqual([])
    expect((await exec('git status --short')).meta.notices ?? []).toEqual([])
    expect(git('fsck')).not.toMatch(/error|fatal/)
  })
})
