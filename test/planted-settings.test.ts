import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

let base: string
let root: string

beforeEach(() => {
  base = temporaryFolder('planted-settings')
  root = join(base, 'project')
  mkdirSync(join(base, 'home'))
  mkdirSync(root)
  vi.stubEnv('HOME', join(base, 'home'))
  vi.stubEnv('XDG_CONFIG_HOME', '')
})
afterEach(() => void vi.unstubAllEnvs())

function write(path: string, content = ''): void {
  mkdirSync(dirname(join(base, path)), { recursive: true })
  writeFileSync(join(base, path), content, { mode: 0o755 })
}

/** Runs git as the owner, outside of the sandbox. */
function git(folder: string, ...words: readonly string[]): string {
  const { stdout, stderr } = spawnSync('git', [...IDENTITY, ...words], { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}

/** A repository of the owner with one commit. */
function repository(folder = root): void {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q', '-b', 'main')
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'a')
}

/** A hub whose tools may change everything. */
function hubHere(folder = root) {
  const hub = createToolHub({
    sandbox: { root: folder },
    data: join(base, 'data'),
    runs: join(base, 'runs'),
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }, { allow: 'write:fs' }],
  })
  onTestFinished(() => hub.close())
  const exec = async (command: string) => {
    const { error, meta } = await hub.call('core/exec.run', { command })
    return { code: error?.code, notices: meta.notices?.join(' ') }
  }
  const put = async (path: string) =>
    (await hub.callDynamic('core/fs.writeText', { path, text: 'x', overwrite: true })).error?.code
  return { exec, put }
}

/** Makes a program in a folder below the root, by a command. */
const plant = (path: string) =>
  `mkdir -p ${dirname(path)}; printf '#!/bin/sh\\ntouch ${base}/ran\\n' > ${path}; chmod +x ${path}`

const hasRun = () => existsSync(join(base, 'ran'))
const commit = (folder = root) => git(folder, 'commit', '-q', '--allow-empty', '-m', 'b')

describe('hooks that the owner’s settings name', () => {
  it.each([
    ['those of the user', () => git(root, 'config', '--global', 'core.hooksPath', 'tools/hooks')],
    [
      'a file that those of the user include',
      () => {
        write('home/work.cfg', '[core]\n\thooksPath = tools/hooks\n')
        git(root, 'config', '--global', 'includeIf.gitdir:/**.path', 'work.cfg')
      },
    ],
    [
      'those of the repository, with a comment',
      () => appendFileSync(join(root, '.git/config'), '[core]\n\thooksPath = to"ols"/hooks # shared\n'),
    ],
  ])('are closed: %s', async (_, configure) => {
    repository()
    configure()
    const { exec, put } = hubHere()
    expect(await put('tools/hooks/pre-commit')).toBe('PATH_DENIED')
    expect((await exec(plant('tools/hooks/pre-commit'))).notices).toContain('tools/hooks')
    commit()
    expect(hasRun()).toBe(false)
  })

  it('are closed in a worktree, and in a repository that a command makes', async () => {
    repository(join(root, 'repo'))
    git(root, 'config', '--global', 'core.hooksPath', 'tools/hooks')
    git(join(root, 'repo'), 'worktree', 'add', '-q', '../tree')
    const { exec } = hubHere()
    await exec(`${plant('tree/tools/hooks/pre-commit')}; git init -q new; ${plant('new/tools/hooks/pre-commit')}`)
    commit(join(root, 'tree'))
    commit(join(root, 'new'))
    expect(hasRun()).toBe(false)
  })

  it('are closed where the root is a worktree of a repository outside', async () => {
    const main = join(base, 'main')
    repository(main)
    git(main, 'config', 'core.hooksPath', 'tools/hooks')
    git(main, 'worktree', 'add', '-q', join(base, 'tree'))
    const { exec } = hubHere(join(base, 'tree'))
    expect((await exec(plant('tools/hooks/pre-commit'))).notices).toContain('tools/hooks')
    commit(join(base, 'tree'))
    expect(hasRun()).toBe(false)
  })

  it('are closed where the root is a folder in the repository, and so are scripts that hooks start', async () => {
    repository()
    write('project/packages/a/check.sh', '#!/bin/sh\n')
    write('project/.git/hooks/pre-commit', '#!/bin/sh\n./packages/a/check.sh\n')
    git(root, 'config', 'alias.x', '!packages/a/x.sh')
    const { exec } = hubHere(join(root, 'packages/a'))
    await exec(`${plant('check.sh')}; ${plant('x.sh')}`)
    commit()
    git(root, 'x')
    expect(hasRun()).toBe(false)
  })
})

describe('a file of the owner', () => {
  it('stays where it is, although a config that a command made names it', async () => {
    repository()
    write('project/src/main.js', 'mine')
    const { exec } = hubHere()
    const made = await exec(`git init -q new && git -C new config alias.x '!../src/main.js'`)
    expect(made.notices).toContain('new/.git/config')
    expect(readFileSync(join(root, 'src/main.js'), 'utf8')).toBe('mine')
  })
})

describe('whom the owner’s git contacts', () => {
  beforeEach(() => {
    repository()
    git(root, 'remote', 'add', 'origin', 'https://example.org/mine')
    git(root, 'config', 'extensions.worktreeConfig', 'true')
  })

  it.each([
    [
      'a repository elsewhere that shares its settings',
      'git init -q --bare b && git -C b remote add origin https://example.com/x && echo ../b > .git/commondir',
    ],
    [
      'the settings of a worktree',
      `printf '[remote "origin"]\\n\\turl = https://example.com/x\\n' > .git/config.worktree`,
    ],
    [
      'the settings of a worktree that a command made',
      `git worktree add -q t && printf '[remote "origin"]\\n\\tpushurl = https://example.com/x\\n' > .git/worktrees/t/config.worktree`,
    ],
  ])('is not changed by %s', async (_, command) => {
    const { exec } = hubHere()
    expect((await exec(command)).notices).toContain('set-aside')
    for (const folder of [root, join(root, 't')].filter((path) => existsSync(path)))
      expect(git(folder, 'remote', '-v')).not.toContain('example.com')
  })
})

describe('where the owner’s git writes', () => {
  it('is not outside because a later command puts a link where the work tree was', async () => {
    repository()
    mkdirSync(join(base, 'outside'))
    const { exec } = hubHere()
    const first = `git init -q lib && cd lib && touch f && git add f && git config core.worktree ../../tree`
    expect((await exec(`mkdir tree && ${first}`)).notices).toBeUndefined()
    const second = await exec(`rmdir tree && ln -s ${base}/outside tree`)
    expect(second.notices).toContain('tree')
    git(join(root, 'lib'), 'checkout', '.')
    expect(existsSync(join(base, 'outside/f'))).toBe(false)
  })

  it.each(['logs/refs/heads', 'refs/heads'])(
    'is not outside because of a link in %s whose name is not UTF-8',
    async (at) => {
      repository()
      write('victim', 'mine')
      const { exec } = hubHere()
      const name = `.git/${at}/"$B"`
      const made = await exec(
        `B=$(printf 'x\\377'); git branch "$B" && git symbolic-ref HEAD "refs/heads/$B" && rm -f ${name} && ln -s ${base}/victim ${name}`,
      )
      expect(made.notices).toContain('not valid UTF-8')
      commit()
      expect(readFileSync(join(base, 'victim'), 'utf8')).toBe('mine')
    },
  )

  it('may be a branch whose name is not UTF-8, which stays, unless it leads to no ref', async () => {
    repository()
    const { exec } = hubHere()
    const at = 'B=$(printf "x\\377")'
    expect(await exec(`${at}; git branch "$B" && git log "$B"`)).toEqual({})
    expect(await exec('true')).toEqual({})
    expect(git(root, 'branch')).toContain('x\uFFFD')
    const made = await exec(`${at}; echo "ref: refs/heads/../../../../x" > .git/refs/heads/"$B"`)
    expect(made.notices).toContain('leads git to a file that is not a ref')
  })
})
