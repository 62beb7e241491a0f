import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../../core/src/context.ts'
import { setAside } from '../disk/open-below.ts'
import { PlaceKeeper } from '../keeper/place-keeper.ts'
import { holdsClosed } from '../names/protected-names.ts'
import { Survey } from './survey.ts'

let root: string

beforeEach(() => {
  root = temporaryFolder('survey-kinds')
})

function write(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), 'x')
  }
}

function link(path: string, to: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  symlinkSync(to, join(root, path))
}

/** The places as `path`, with `git:` before those that git reads. */
async function places(exact: readonly string[] = []): Promise<string[]> {
  const survey = new Survey({ roots: [root], exact: exact.map((path) => join(root, path)), hidden: [] })
  const found = (await survey.look()).places
  return [...found.values()].map(({ path, isGit }) => `${isGit ? 'git:' : ''}${path.slice(root.length + 1)}`).sort()
}

describe('the kind of an entry', () => {
  it.each<[string, () => void, string[]]>([
    ['a file that is trusted', () => write('a/.envrc'), ['a/.envrc']],
    ['a folder that is trusted, without what is in it', () => write('.vscode/.envrc'), ['.vscode']],
    ['a file `.git`', () => write('a/.git'), ['git:a/.git']],
    ['a file that other systems take for `.git`', () => write('a/git~1'), ['git:a/git~1']],
    ['a link `.git`', () => link('a/.git', 'x'), ['git:a/.git']],
    ['a link where something is looked for', () => link('.config', 'x'), ['.config']],
    ['no link where nothing is looked for', () => link('src', 'x'), []],
    ['no link where commands may write', () => link('node_modules', 'x'), []],
    ['no folder of packages', () => write('node_modules/.envrc'), []],
    ['what is below such a folder', () => write('.config/fish/x', '.config/other/x'), ['.config/fish']],
    [
      'config and hooks of git',
      () => write('.git/config', '.git/hooks/x', '.git/description'),
      ['git:.git/config', 'git:.git/hooks'],
    ],
    ['no folder of git that holds nothing that runs', () => write('.git/logs/config', '.git/refs/.envrc'), []],
    [
      'nested folders of git',
      () => write('.git/modules/m/config', '.git/modules/m/HEAD', '.git/modules/m/commondir'),
      ['git:.git/modules/m/commondir', 'git:.git/modules/m/config'],
    ],
    [
      'nested folders of git below any name',
      () => write(...['HEAD', 'commondir', 'config'].map((name) => `.git/modules/node_modules/${name}`)),
      ['git:.git/modules/node_modules/commondir', 'git:.git/modules/node_modules/config'],
    ],
    [
      'a link in the place of nested folders',
      () => {
        write('.git/HEAD')
        link('.git/modules', 'x')
      },
      ['git:.git/modules'],
    ],
    ['a file in the place of nested folders', () => write('.git/worktrees'), ['git:.git/worktrees']],
    ['a link among nested folders', () => link('.git/modules/m', 'x'), ['git:.git/modules/m']],
    ['a link in the place of notes', () => link('.git/rebase-merge', 'x'), ['git:.git/rebase-merge']],
    ['notes that run something', () => write('.git/sequencer/todo'), ['git:.git/sequencer/todo']],
    [
      'what is trusted in a repository without the name',
      () => write('bare/HEAD', 'bare/objects/x', 'bare/refs/x', 'bare/config', 'bare/.envrc', 'bare/src/.envrc'),
      ['bare/.envrc', 'bare/src/.envrc', 'git:bare/config'],
    ],
  ])('is known: %s', async (_, make, expected) => {
    make()
    expect(await places()).toEqual(expected.toSorted())
  })

  it.each([
    ['.config', true],
    ['.local', true],
    ['.cargo', true],
    ['.yarn', true],
    ['.hg', true],
    ['.CONFIG', true],
    ['node_modules', false],
    ['src', false],
  ])('%s holds something that is closed: %j', (name, expected) => {
    expect(holdsClosed(name)).toBe(expected)
  })
})

describe('an exact path', () => {
  const chain = (count: number) => {
    write('d/x')
    for (let number = 1; number <= count; number += 1) link(`l${number}`, number === count ? 'd' : `l${number + 1}`)
  }

  it('is followed over seven links on the way, each of which is a place', async () => {
    chain(7)
    expect(await places(['l1/x'])).toEqual(['d/x', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7'])
  })

  it('is not followed over an eighth', async () => {
    chain(8)
    expect(await places(['l1/x'])).toEqual(['l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7', 'l8'])
  })

  it('says by which link it counts, and which are only on the way', async () => {
    chain(2)
    const survey = new Survey({ roots: [root], exact: [join(root, 'l1/x')], hidden: [] })
    expect([...(await survey.look()).places.values()]).toEqual([
      { path: join(root, 'l1'), isGit: false, link: 'l2', isOnWay: true },
      { path: join(root, 'l2'), isGit: false, link: 'd', isOnWay: true, behind: join(root, 'l1') },
      { path: join(root, 'd/x'), isGit: false, behind: join(root, 'l2') },
    ])
  })

  it('is none outside of the roots, nor where nothing is', async () => {
    write('a')
    expect(await places(['../x', 'none/x', 'a/x', 'a'])).toEqual(['a'])
  })
})

describe('what is set aside', () => {
  it.each([
    ['a'.repeat(200), 'a'.repeat(200)],
    ['a'.repeat(201), 'a'.repeat(50)],
    ['漢'.repeat(67), '漢'.repeat(50)],
  ])('keeps its name, of which 50 characters are left if it has more than 200 bytes', (name, kept) => {
    write(name)
    const { movedTo } = setAside([root], join(root, name))!
    expect(basename(movedTo!)).toMatch(new RegExp(`^${kept}\\.set-aside-[0-9a-f]{8}$`, 'u'))
    expect(readdirSync(root)).toEqual([basename(movedTo!)])
  })
})

describe('the looks while a command runs', () => {
  it.each([
    [undefined, 100],
    [3, 300],
  ])('come after a rest, with a pace of %j at least %j ms, as long as it runs', async (pace, restMs) => {
    const rests: { ms: number; isBackground: boolean | undefined }[] = []
    let lookAgain = () => {}
    let cancelled = 0
    const after: typeof systemClock.after = (ms, look, options) => {
      rests.push({ ms, isBackground: options?.background })
      lookAgain = look
      return () => {
        cancelled += 1
      }
    }
    const keeper = new PlaceKeeper({ roots: [root], exact: [], hidden: [], clock: { ...systemClock, after }, pace })
    const [one, other] = [{}, {}]
    await keeper.enter(one)
    await keeper.enter(other)
    expect(rests).toEqual([{ ms: restMs, isBackground: true }])
    lookAgain()
    await expect.poll(() => rests.length).toBe(2)
    expect(rests[1]!.ms).toBeGreaterThanOrEqual(restMs)
    await keeper.leave(one)
    expect(cancelled).toBe(0)
    await keeper.leave(other)
    expect(cancelled).toBe(1)
    lookAgain()
    // Each waits for the looks before it.
    for (let look = 0; look < 4; look += 1) await keeper.look()
    expect(rests).toHaveLength(2)
  })
})
