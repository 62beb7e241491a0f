import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { HubOptions } from '../src/core/options.ts'
import { createToolHub } from '../src/create-tool-hub.ts'
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

  it('works as ever for git: init, commit, branch and worktree of a repository that a command makes', async () => {
    const { exec } = hubHere()
    const identity = '-c user.name=a -c user.email=a@example.org'
    const result = await exec(
      `git init -q repo && cd repo && echo a > a && git add a && git ${identity} commit -qm a && git worktree add -q ../tree`,
    )
    expect(result.error).toBeUndefined()
    expect(result.meta.notices ?? []).toEqual([])
    const again = await exec('git -C tree status --short && git -C repo log --oneline')
    expect(again.error).toBeUndefined()
  })
})
