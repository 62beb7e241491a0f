import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { bundleModule } from '../../../../../test/support/run-module.ts'
import { systemClock } from '../../../../core/src/context.ts'
import type { SetAside } from '../disk/open-below.ts'
import { PlaceKeeper, recoverPlaces } from './place-keeper.ts'

let base: string
let root: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'place-keeper-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  root = join(base, 'root')
  mkdirSync(root)
})

// Node cannot remove a tree of these that no path reaches to the end of.
const NAME = 'd'.repeat(200)
const LATER = { timeout: 100_000, interval: 20 }

function keeper(exact: readonly string[] = []): PlaceKeeper {
  return new PlaceKeeper({
    roots: [root],
    exact,
    hidden: [],
    clock: systemClock,
    ledgerFolder: join(base, 'data/commands'),
  })
}

function write(path: string, content = 'made'): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** Runs `work` as a command would, and returns what was set aside. */
async function during(work: () => void, { places = keeper() } = {}): Promise<SetAside[]> {
  const done: SetAside[] = []
  const command = { onSetAside: (it: SetAside) => done.push(it) }
  await places.enter(command)
  work()
  await places.leave(command)
  return done
}

const GIT_INIT = '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n'
const PLACES = [
  ...['.vscode/tasks.json', '.idea/workspace.xml', '.husky/pre-commit', '.devcontainer/devcontainer.json', '.envrc'],
  ...['.claude/settings.json', '.codex/config.toml', '.gemini/settings.json', '.kiro/settings/mcp.json', '.mcp.json'],
  ...['.amazonq/mcp.json', 'opencode.json', 'tool-hub.yaml', 'tool-hub.mjs', '.bashrc', '.git/hooks/post-checkout'],
  ...['.git/config.worktree', 'lefthook.yml', 'work.code-workspace', '.tool-hub/tools/x.mjs'],
]

describe('what commands make at protected places', () => {
  it.each(PLACES.flatMap((place) => [place, `deep/er/${place}`]))('is taken away: %s', async (place) => {
    const done = await during(() => write(place))
    expect(done).toHaveLength(1)
    expect(existsSync(join(root, place))).toBe(false)
    expect(existsSync(done[0]!.movedTo!)).toBe(true)
  })

  it('is taken away below a name that is not valid UTF-8, however long ago it was made', async () => {
    const done = await during(() => {
      const repository = Buffer.concat([
        Buffer.from(`${root}/node_modules/`),
        Buffer.from([0xff]),
        Buffer.from('/lib/.git'),
      ])
      for (const name of ['/objects', '/refs'])
        mkdirSync(Buffer.concat([repository, Buffer.from(name)]), { recursive: true })
      writeFileSync(Buffer.concat([repository, Buffer.from('/HEAD')]), 'ref: refs/heads/main\n')
      writeFileSync(Buffer.concat([repository, Buffer.from('/config')]), '[core]\n\tfsmonitor = evil\n')
      const now = Date.now()
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + 60_000)
      onTestFinished(() => clock.mockRestore())
    })
    expect(done).toHaveLength(2)
    const kept = readdirSync(root, { recursive: true }).filter((name) => `${name}`.endsWith('.git/config'))
    expect(kept).toEqual([])
  })

  it('is taken away while the command still runs', async () => {
    const places = keeper()
    const command = {}
    await places.enter(command)
    const file = write('app/.mcp.json')
    await vi.waitFor(() => expect(existsSync(file)).toBe(false), LATER)
    await places.leave(command)
  })

  it('stops commands that make the same place again and again', async () => {
    const places = keeper()
    const stop = vi.fn()
    const command = { stop }
    await places.enter(command)
    await vi.waitFor(() => {
      write('.mcp.json')
      expect(stop).toHaveBeenCalled()
    }, LATER)
    await places.leave(command)
  })

  it('stops them at the sixth time, and counts anew when all have ended', async () => {
    const places = keeper()
    for (let round = 0; round < 2; round++) {
      const stop = vi.fn()
      const command = { stop }
      await places.enter(command)
      for (let time = 1; time <= 6; time++) {
        expect(stop).not.toHaveBeenCalled()
        write('.mcp.json')
        await vi.waitUntil(() => !existsSync(join(root, '.mcp.json')), LATER)
      }
      await vi.waitFor(() => expect(stop).toHaveBeenCalled(), LATER)
      await places.leave(command)
    }
  })

  it('is the owner’s when it was there before any command, or came while none ran', async () => {
    const places = keeper()
    const files = ['.vscode/settings.json', 'a/.envrc', 'a/.git/hooks/pre-commit'].map((path) => write(path))
    expect(await during(() => write('ordinary.txt'), { places })).toEqual([])
    files.push(write('b/.mcp.json'))
    expect(await during(() => write('ordinary.txt'), { places })).toEqual([])
    expect(files.every((file) => existsSync(file))).toBe(true)
  })

  it('is what an unfinished rebase would run, also in a file that was there; exec lines of the owner stay', async () => {
    const places = keeper()
    const mine = write('mine/.git/rebase-merge/git-rebase-todo', 'exec npm test\n')
    const todo = write('app/.git/rebase-merge/git-rebase-todo', 'pick 1a2b a\n')
    mkdirSync(join(root, 'elsewhere'))
    mkdirSync(join(root, 'linked/.git'), { recursive: true })
    expect(await during(() => writeFileSync(todo, 'pick 1a2b b\n'), { places })).toEqual([])
    const done = await during(
      () => {
        writeFileSync(todo, 'exec evil\n')
        symlinkSync('../../elsewhere', join(root, 'linked/.git/rebase-merge'))
      },
      { places },
    )
    expect(done.map(({ path }) => path).sort()).toEqual([todo, join(root, 'linked/.git/rebase-merge')])
    expect([existsSync(mine), existsSync(todo)]).toEqual([true, false])
  })

  it('is found also where the command gives the folder its old modification time', async () => {
    const places = keeper()
    mkdirSync(join(root, 'old'))
    const past = new Date(2020, 1, 1)
    utimesSync(join(root, 'old'), past, past)
    await during(() => {}, { places })
    const done = await during(
      () => {
        write('old/.mcp.json')
        utimesSync(join(root, 'old'), past, past)
      },
      { places },
    )
    expect(done).toHaveLength(1)
  })

  it('does not lead elsewhere when a folder is swapped for a link', async () => {
    const outside = join(base, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, '.mcp.json'), 'of somebody else')
    await during(() => symlinkSync(outside, join(root, 'link')))
    const places = keeper()
    await during(
      () => {
        write('folder/.mcp.json')
        renameSync(join(root, 'folder'), join(root, 'moved'))
        symlinkSync(outside, join(root, 'folder'))
      },
      { places },
    )
    expect(readFileSync(join(outside, '.mcp.json'), 'utf8')).toBe('of somebody else')
    expect(existsSync(join(root, 'moved/.mcp.json'))).toBe(false)
  })

  it('gives way to the link that was there before', async () => {
    mkdirSync(join(root, 'shared'))
    symlinkSync('shared', join(root, '.claude'))
    const done = await during(() => {
      rmSync(join(root, '.claude'))
      write('.claude/settings.json')
    })
    expect([done.length, readlinkSync(join(root, '.claude'))]).toEqual([1, 'shared'])
  })

  it('counts for exact paths that did not exist, too', async () => {
    const exact = join(root, 'node_modules')
    expect(await during(() => write('node_modules/tool-hub/x.js'), { places: keeper([exact]) })).toHaveLength(1)
  })

  it.each(['.cargo', '.config', '.hg'])(
    'is taken away where a link stands for the folder around it: %s',
    async (name) => {
      const done = await during(() => {
        for (const file of ['config.toml', 'git/config', 'hgrc']) write(`elsewhere/${file}`)
        symlinkSync('elsewhere', join(root, name))
      })
      expect(done.map(({ path }) => path)).toEqual([join(root, name)])
    },
  )

  it('is taken away where a link leads to an exact path', async () => {
    const places = keeper([join(root, 'lib/deep/util.mjs')])
    const done = await during(
      () => {
        write('elsewhere/deep/util.mjs')
        symlinkSync('elsewhere', join(root, 'lib'))
      },
      { places },
    )
    expect(done.map(({ path }) => path)).toEqual([join(root, 'lib')])
  })

  it('is taken away in the presence of folders that no path reaches, loops of links and closed folders', async () => {
    const places = keeper([join(root, 'loop/x.mjs')])
    const done = await during(
      () => {
        symlinkSync('loop', join(root, 'loop'))
        const deep = `for (let i = 0; i < 30; i++) { fs.mkdirSync('${NAME}'); process.chdir('${NAME}') }`
        expect(spawnSync(process.execPath, ['-e', deep], { cwd: root }).status).toBe(0)
        onTestFinished(() => void spawnSync('sh', ['-c', 'rm -rf -- d*'], { cwd: root }))
        chmodSync(dirname(write('closed/.mcp.json')), 0o444)
        write('.mcp.json')
      },
      { places },
    )
    const isDeep = ({ path }: SetAside) => path.includes(NAME)
    expect(done.filter(isDeep).map(({ movedTo }) => dirname(movedTo!))).toEqual([root])
    const names = ['.mcp.json', 'closed/.mcp.json', 'loop']
    const others = done.filter((each) => !isDeep(each)).map(({ path }) => path)
    expect(others.sort()).toEqual(names.map((name) => join(root, name)))
  })

  it('keeps a command from running where nothing can be noted, and lets it leave', async () => {
    mkdirSync(join(base, 'data'))
    writeFileSync(join(base, 'data/of-somebody'), '')
    const places = keeper()
    const command = {}
    await expect(places.enter(command)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await places.leave(command)
    rmSync(join(base, 'data/of-somebody'))
    expect(await during(() => write('.mcp.json'), { places })).toHaveLength(1)
  })

  // What cannot be renamed is in test/protected-users.test.ts: it takes two users.
  it('is set aside when its name leaves no room for another ending', async () => {
    const name = `${'ü'.repeat((255 - '.code-workspace'.length) / 2)}.code-workspace`
    const [done] = await during(() => write(name))
    expect(done).toEqual({ path: join(root, name), movedTo: expect.stringMatching(/ü{50}\.set-aside-[0-9a-f]{8}$/) })
  })
})

describe('repositories that commands make', () => {
  it('stay, as git init and git clone make them', async () => {
    const done = await during(() => {
      for (const file of ['HEAD', 'objects/x', 'refs/x', 'hooks/pre-commit.sample']) write(`app/.git/${file}`)
      write('app/.git/config', `${GIT_INIT}[remote "origin"]\n\turl = https://example.org/a.git\n`)
    })
    expect(done).toEqual([])
  })

  it.each([
    ['fsmonitor', `${GIT_INIT}\tfsmonitor = ./evil.sh\n`],
    ['a setting on the line of its section', '[core] fsmonitor = ./evil.sh\n'],
    ['hooks elsewhere', `${GIT_INIT}\thooksPath = evil\n`],
    ['a filter', '[filter "x"]\n\tsmudge = ./evil.sh\n'],
    ['an included file', '[include]\n\tpath = ../evil\n'],
    ['a program as an address', '[remote "origin"]\n\turl = ext::sh -c evil\n'],
    ['an option as an address', '[remote "origin"]\n\turl = ssh://-oProxyCommand=evil/x\n'],
    ['a work tree outside', '[core]\n\tworktree = /\n'],
    ['a continued line', '[user]\n\tname = a\\\n[core]\n'],
    ['an alias', '[alias]\n\tst = !evil\n'],
  ])('lose a config with %s', async (_, config) => {
    expect(await during(() => write('app/.git/config', config))).toHaveLength(1)
    expect(existsSync(join(root, 'app/.git/config'))).toBe(false)
  })

  it('are known without the name .git: a bare one runs hooks as well', async () => {
    const done = await during(() => {
      for (const file of ['HEAD', 'objects/x', 'refs/x']) write(`data/${file}`)
      write('data/config', '[core]\n\tbare = true\n\tfsmonitor = ./evil.sh\n')
      write('data/hooks/post-checkout')
    })
    expect(done.map(({ path }) => path).sort()).toEqual([join(root, 'data/config'), join(root, 'data/hooks')])
  })

  it('may have worktrees of a repository that was there, and none that points elsewhere', async () => {
    for (const file of ['HEAD', 'objects/x', 'refs/x', 'config'])
      write(`.git/${file}`, file === 'config' ? GIT_INIT : 'x')
    const places = keeper()
    const done = await during(
      () => {
        write('.git/worktrees/tree/HEAD')
        write('.git/worktrees/tree/commondir', '../..\n')
        write('.git/worktrees/tree/gitdir', `${join(root, 'tree/.git')}\n`)
        write('tree/.git', `gitdir: ${join(root, '.git/worktrees/tree')}\n`)
        write('other/.git', 'gitdir: ../evil\n')
      },
      { places },
    )
    expect(done.map(({ path }) => path)).toEqual([join(root, 'other/.git')])
  })

  it('close what the settings of the owner’s repository name', async () => {
    for (const file of ['HEAD', 'objects/x', 'refs/x', 'hooks/x']) write(`.git/${file}`)
    write('.git/config', `${GIT_INIT}\thooksPath = scripts/hooks\n[include]\n\tpath = ../shared.gitconfig\n`)
    write('scripts/hooks/pre-commit')
    write('shared.gitconfig')
    const { places } = await keeper().look()
    expect([...places.keys()]).toEqual(
      expect.arrayContaining(
        ['.git/config', '.git/hooks', 'scripts/hooks', 'shared.gitconfig'].map((p) => join(root, p)),
      ),
    )
  })
})

describe('folders that look like those of git', () => {
  const fake = (folder: string) => {
    for (const file of ['HEAD', 'objects/x', 'refs/x']) write(join(folder, file))
  }

  it.each(['.', 'git~1', 'app'])('are looked through like any other: %s', async (folder) => {
    const places = keeper()
    write(join(folder, 'old/.vscode/tasks.json'))
    write(join(folder, 'old/.env'))
    const done = await during(
      () => {
        fake(folder)
        write(join(folder, '.mcp.json'))
        write(join(folder, 'new/.envrc'))
      },
      { places },
    )
    const made = ['.mcp.json', 'new/.envrc'].map((path) => join(root, folder, path))
    expect(done.map(({ path }) => path).sort()).toEqual(made)
    const found = await places.look()
    expect([...found.places.keys()]).toContain(join(root, folder, 'old/.vscode'))
    expect(found.secrets).toContain(join(root, folder, 'old/.env'))
  })

  it('are found in modules and worktrees, where no link and no name hides them', async () => {
    fake('.git')
    const done = await during(() => {
      for (const folder of ['.git/modules/a', '.git/modules/a/b', '.git/modules/node_modules/c']) {
        fake(folder)
        write(join(folder, 'config'), '[core]\n\tfsmonitor = ./evil.sh\n')
      }
      fake('node_modules/evil')
      symlinkSync('../../node_modules/evil', join(root, '.git/modules/link'))
      symlinkSync('../node_modules', join(root, '.git/worktrees'))
      write('sub/.git', 'gitdir: ../.git/modules/link\n')
    })
    const made = [
      'modules/a/b/config',
      'modules/a/config',
      'modules/link',
      'modules/node_modules/c/config',
      'worktrees',
    ]
    expect(done.map(({ path }) => path).sort()).toEqual(made.map((path) => join(root, '.git', path)))
  })

  it('are not named by a path that leads elsewhere than its text says', async () => {
    fake('repo/.git')
    const done = await during(() => {
      fake('node_modules/repo/.git')
      write('node_modules/inner/x')
      symlinkSync('node_modules/inner', join(root, 'link'))
      write('sub/.git', 'gitdir: ../link/../repo/.git\n')
      write('app/.git/config', `[core]\n\tworktree = "${root}/a"/../../../../../..\n`)
    })
    expect(done.map(({ path }) => path).sort()).toEqual(['app/.git/config', 'sub/.git'].map((path) => join(root, path)))
  })

  it('close hooks that the settings of the owner name and nobody has made yet', async () => {
    fake('.git')
    write('.git/config', `${GIT_INIT}\thooksPath = scripts/hooks\n`)
    // So long ago that the folder is not read again.
    const places = keeper()
    await vi.waitFor(async () => {
      await places.look()
      expect(Date.now() - statSync(join(root, '.git')).ctimeMs).toBeGreaterThan(100)
    }, LATER)
    await places.look()
    const done = await during(() => write('scripts/hooks/pre-commit'), { places })
    expect(done.map(({ path }) => path)).toEqual([join(root, 'scripts/hooks')])
  })
})

describe('secrets', () => {
  it('are all found, behind any number of other files', async () => {
    for (let i = 0; i < 300; i++) write(`decoy-${i}.pem`)
    for (let i = 0; i < 20_500; i++) writeFileSync(join(root, `file-${i}`), '')
    write('z/last/.env')
    const { secrets } = await keeper().look()
    expect(secrets).toHaveLength(301)
    expect(secrets).toContain(join(root, 'z/last/.env'))
  })
})

describe('after kill -9 of the hub', () => {
  it('what its commands had made is taken away, and what was there before stays', async () => {
    const kept = write('mine/.vscode/settings.json')
    for (const path of ['HEAD', 'refs/heads/main', 'objects/ab/x']) write(`mine/.git/${path}`)
    const object = join(root, 'mine/.git/objects/ab', '2'.repeat(38))
    const module = await bundleModule(join(import.meta.dirname, 'place-keeper.ts'))
    const source = `
      import { PlaceKeeper } from ${JSON.stringify(module)}
      import { writeFileSync } from 'node:fs'
      const clock = { after: () => () => {} }
      const places = new PlaceKeeper({ roots: [${JSON.stringify(root)}], exact: [], hidden: [], clock, ledgerFolder: ${JSON.stringify(join(base, 'data/commands'))} })
      await places.enter({})
      writeFileSync(${JSON.stringify(join(root, 'tool-hub.yaml'))}, 'planted')
      writeFileSync(${JSON.stringify(join(root, 'mine/.envrc'))}, 'planted')
      writeFileSync(${JSON.stringify(object)}, 'planted')
      process.kill(process.pid, 'SIGKILL')`
    const hub = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: 'inherit' })
    expect((await once(hub, 'close'))[1]).toBe('SIGKILL')
    const done: SetAside[] = []
    await recoverPlaces(join(base, 'data/commands'), (it) => done.push(it))
    expect(done.map(({ path }) => path).sort()).toEqual(
      [join(root, 'mine/.envrc'), object, join(root, 'tool-hub.yaml')].sort(),
    )
    expect([existsSync(join(root, 'tool-hub.yaml')), existsSync(kept)]).toEqual([false, true])
    expect(readdirSync(join(base, 'data/commands'))).toEqual([])
  })

  it('a hub that lives is left alone', async () => {
    const places = keeper()
    const command = {}
    await places.enter(command)
    await recoverPlaces(join(base, 'data/commands'), () => expect.unreachable())
    expect(readdirSync(join(base, 'data/commands'))).toHaveLength(1)
    await places.leave(command)
    expect(readdirSync(join(base, 'data/commands'))).toEqual([])
  })
})
