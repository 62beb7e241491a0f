import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.ts'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

let base: string
let root: string

beforeEach(() => {
  base = temporaryFolder('planted-repositories')
  root = join(base, 'project')
  mkdirSync(root)
  git('init', '-q', '-b', 'main')
  write('.gitignore', '/runs\n/.tool-hub\n')
  write('evil.sh', `#!/bin/sh\ntouch ${base}/ran\n`)
  chmodSync(join(root, 'evil.sh'), 0o755)
  git('add', '.')
  git('commit', '-qm', 'a')
})

function write(path: string, content = ''): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

/** Runs git as the owner, outside of the sandbox. */
function git(...words: readonly string[]): string {
  const { stdout, stderr } = spawnSync('git', ['-C', root, ...IDENTITY, ...words], { encoding: 'utf8' })
  return stdout + stderr
}

/** A hub whose commands run unasked. */
function hubHere() {
  const hub = createToolHub({
    sandbox: { root },
    data: join(root, '.tool-hub'),
    runs: join(root, 'runs'),
    policy: [{ allow: 'exec' }, { allow: 'danger:destructive' }, { allow: 'write:fs' }],
  })
  onTestFinished(() => hub.close())
  const exec = async (command: string) => {
    const { error, meta } = await hub.call('core/exec.run', { command })
    return { code: error?.code, notices: meta.notices?.join(' ') }
  }
  const put = async (path: string) => (await hub.callDynamic('core/fs.writeText', { path, text: 'x' })).error?.code
  return { exec, put }
}

/** Makes a repository that runs a program, and enters it as a submodule. */
function plant(path: string): string {
  return [
    `cd ${path} && git ${IDENTITY.join(' ')} commit -q --allow-empty -m x`,
    `git config core.fsmonitor ${root}/evil.sh`,
    `git -C ${root} update-index --add --cacheinfo 160000,$(git rev-parse HEAD),${path}`,
  ].join(' && ')
}

describe('what the owner’s git enters', () => {
  it.each(['modules/x/lfs/evil', 'modules/x/objects/evil', 'lfs/modules/evil', 'modules/x/refs/heads/evil'])(
    'is not a repository in .git/%s, to which a `.git` file leads',
    async (place) => {
      const { exec } = hubHere()
      const made = await exec(
        [
          `git init -q --bare .git/modules/x && git init -q --bare .git/${place}`,
          `mkdir sub && echo "gitdir: ../.git/${place}" > sub/.git`,
          `git -C sub config core.bare false && git -C sub config core.worktree ${root}/sub`,
          plant('sub'),
        ].join(' && '),
      )
      expect(made.notices).toContain('set-aside')
      git('status')
      git('-C', 'sub', 'status')
      expect(existsSync(join(base, 'ran'))).toBe(false)
    },
  )

  it.each(['v\\xff', 'v\\xff/node_modules/lib', 'v\\xff/w\\xfe/x\\xfd', 'node_modules/\\xff/lib'])(
    'is not a repository at %s, which is not valid UTF-8',
    async (path) => {
      const { exec } = hubHere()
      const made = await exec(`P=$(printf '${path}'); git init -q "$P" && ${plant('"$P"')}`)
      expect(made.notices).toContain('has no valid name')
      git('status')
      expect(existsSync(join(base, 'ran'))).toBe(false)
      expect((await exec('true')).code).toBeUndefined()
      const kept = readdirSync(root, { recursive: true }).filter((name) => /\.git\/config$/.test(`${name}`))
      for (const name of kept) expect(readFileSync(join(root, `${name}`), 'utf8')).not.toContain('fsmonitor')
    },
  )

  it('is not a repository so deep that only git reaches it', async () => {
    const { exec } = hubHere()
    const path = `${'d'.repeat(200)}/`.repeat(18)
    const made = await exec(`mkdir -p ${path}`)
    expect(made.notices).toContain('is too deep to be checked')
    expect((await exec('true')).code).toBeUndefined()
  })
})

describe('what the owner’s config names', () => {
  it('is closed where a file that it includes, or the config of the worktree, names it', async () => {
    write('shared.cfg', '[include]\n\tpath = more/deep.cfg\n')
    write('more/deep.cfg', '[core]\n\thooksPath = tools/hooks\n')
    for (const [key, value] of [
      ['include.path', '../shared.cfg'],
      ['submodule.lib.update', '!tools/update.sh'],
      ['extensions.worktreeConfig', 'true'],
    ])
      git('config', key!, value!)
    git('config', '--worktree', 'alias.x', '!tools/alias.sh')
    const { exec, put } = hubHere()
    const closed = ['tools/hooks/pre-commit', 'more/deep.cfg', 'tools/update.sh', 'tools/alias.sh']
    for (const path of closed) expect([path, await put(path)]).toEqual([path, 'PATH_DENIED'])
    await exec('mkdir -p tools/hooks && cp evil.sh tools/hooks/pre-commit')
    git('commit', '-q', '--allow-empty', '-m', 'b')
    expect(existsSync(join(base, 'ran'))).toBe(false)
  })
})

describe('many repositories', () => {
  it('do not keep later commands from running, and still cannot run a program', async () => {
    const make =
      'for i in $(seq 300); do mkdir -p r/$i/.git/objects r/$i/.git/refs; cp .git/HEAD .git/config r/$i/.git; done'
    const first = hubHere()
    expect(await first.exec(make)).toEqual({ code: undefined, notices: undefined })
    expect((await first.exec('true')).code).toBeUndefined()
    const second = hubHere()
    const changed = await second.exec(
      `echo x >> .git/config; git -C r/7 config core.fsmonitor ${root}/evil.sh; mkdir r/8/.git/hooks; cp evil.sh r/8/.git/hooks/pre-commit`,
    )
    expect(changed.notices).toContain('r/7/.git/config')
    expect(changed.notices).toContain('r/8/.git/hooks')
    git('-C', 'r/7', 'status')
    expect([existsSync(join(base, 'ran')), git('status')]).toEqual([false, expect.stringContaining('On branch main')])
  })
})

describe('where the owner’s git writes', () => {
  it.each(['HEAD', 'refs/heads/side', 'refs/side'])('is not outside because %s leads there', async (name) => {
    const { exec } = hubHere()
    const made = await exec(
      `git symbolic-ref HEAD refs/heads/side; echo 'ref: refs/heads/../../../../out' > .git/${name}; true`,
    )
    expect(made.notices).toContain(`.git/${name}, which leads git to a file that is not a ref`)
    git('commit', '-q', '--allow-empty', '-m', 'b')
    expect(readdirSync(base)).toEqual(['project'])
    expect(existsSync(join(root, 'out'))).toBe(false)
    expect((await exec('sleep 0.5')).notices).toBeUndefined()
  })

  it('is not a worktree outside, which `git worktree repair` would write', async () => {
    const { exec } = hubHere()
    const made = await exec(`git worktree add -q tree && echo ${base}/out/.git > .git/worktrees/tree/gitdir`)
    expect(made.notices).toContain('.git/worktrees/tree/gitdir')
    mkdirSync(join(base, 'out'))
    git('worktree', 'repair')
    expect(readdirSync(join(base, 'out'))).toEqual([])
  })

  it('is not a work tree behind a link that leads out', async () => {
    const { exec } = hubHere()
    mkdirSync(join(base, 'out'))
    const made = await exec(
      `ln -s ${base}/out link; git init -q lib && cd lib && echo x > x && git add x && git config core.worktree ../../link`,
    )
    expect(made.notices).toContain('lib/.git/config')
    git('-C', 'lib', 'checkout', '.')
    expect(readdirSync(join(base, 'out'))).toEqual([])
  })

  it.each([
    ['a tab, which git before 2.45 reads as a blank', 'li nk', 'li\\tnk'],
    ['bytes that are no text', 'li\\xffnk', 'li\\xffnk'],
  ])('is not a work tree whose path has %s', async (_, link, written) => {
    const { exec } = hubHere()
    mkdirSync(join(base, 'out'))
    const made = await exec(
      [
        `ln -s ${base}/out "$(printf '${link}')"; git worktree add -q tree`,
        `printf '${root}/${written}/.git\\n' > .git/worktrees/tree/gitdir`,
        'git init -q lib && cd lib && echo x > x && git add x && rm x',
        `printf '[core]\\n\\tworktree = ../../${written}\\n' > .git/config`,
      ].join(' && '),
    )
    expect(made.notices).toContain('lib/.git/config')
    expect(made.notices).toContain('.git/worktrees/tree/gitdir')
    git('-C', 'lib', 'checkout', '.')
    git('worktree', 'repair')
    expect(readdirSync(join(base, 'out'))).toEqual([])
  })

  it.each([
    ['the git folder', '.git', 'hooks/pre-commit'],
    ['a folder in it', '.git/hooks', 'pre-commit'],
    ['what other programs run', '.husky', 'pre-commit'],
    ['a bare repository', 'bare.git', 'hooks/pre-commit'],
  ])('is not %s, as the work tree of another repository', async (_, workTree, path) => {
    write('.husky/pre-commit', 'mine')
    git('init', '-q', '--bare', 'bare.git')
    const { exec } = hubHere()
    const made = await exec(
      [
        `git init -q lib && cd lib && mkdir -p $(dirname ${path}) && cp ../evil.sh ${path}`,
        `git add . && git config core.worktree ../../${workTree}`,
      ].join(' && '),
    )
    expect(made.notices).toContain('lib/.git/config')
    git('-C', 'lib', 'checkout', '-f', '.')
    const written = join(root, workTree, path)
    expect(existsSync(written) ? readFileSync(written, 'utf8') : 'mine').toBe('mine')
  })

  it('is not a folder into which a `.git` file brings the index of another repository', async () => {
    write('hooks/evil.json', '{}')
    git('add', '.')
    mkdirSync(join(root, '.github'))
    const { exec } = hubHere()
    const made = await exec("echo 'gitdir: ../.git' > .github/.git")
    expect(made.notices).toContain('.github/.git, which leads git to a folder that is not a known git folder')
    git('-C', '.github', 'checkout', '.')
    expect(existsSync(join(root, '.github/hooks/evil.json'))).toBe(false)
  })

  it('may be a worktree in a bare repository', async () => {
    const { exec } = hubHere()
    const made = await exec('git clone -q --bare . b.git && cd b.git && git worktree add -q tree && git -C tree status')
    expect(made).toEqual({ code: undefined, notices: undefined })
  })

  it('is reported where a link leads to a protected path, or out of the roots through a link of the owner', async () => {
    symlinkSync('/etc', join(root, 'etc'))
    const { exec } = hubHere()
    const made = await exec('mkdir sub; ln -s .git/hooks out; ln -s ../.vscode/tasks.json sub/x; ln -s etc/hosts y')
    expect(made.notices).toMatch(/links to protected paths: \S+out → .git\/hooks, \S+x → ..\/.vscode\/tasks.json\./)
    expect(made.notices).toMatch(/links that lead out of the roots: \S+y → etc\/hosts\./)
    expect((await exec('ln -s a z; ln -s ../sub sub/w; rm out')).notices).toBeUndefined()
  })

  it('is not a link that was set aside, which is not set aside again', async () => {
    const { exec } = hubHere()
    const made = await exec('ln -s /etc/hostname .git/SQUASH_MSG; sleep 1; ls .git | grep -c aside')
    expect(made.notices?.match(/it was renamed/g)).toHaveLength(1)
  })
})
