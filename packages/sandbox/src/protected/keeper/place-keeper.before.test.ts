import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../../core/src/context.ts'
import type { SetAside } from '../disk/open-below.ts'
import { PlaceKeeper, type PlaceKeeperOptions } from './place-keeper.ts'

let base: string
let root: string
let ledgers: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'place-keeper-')))
  onTestFinished(() => rmSync(base, { recursive: true }))
  root = join(base, 'root')
  ledgers = join(base, 'data/commands')
  mkdirSync(root)
})

function keeper(more: Partial<PlaceKeeperOptions> = {}): PlaceKeeper {
  return new PlaceKeeper({ roots: [root], exact: [], hidden: [], clock: systemClock, ledgerFolder: ledgers, ...more })
}

/** One that only looks when it is called, like that of a hub that has not looked yet. */
function blindKeeper(more: Partial<PlaceKeeperOptions> = {}): PlaceKeeper {
  return keeper({ clock: { ...systemClock, after: () => () => {} }, ...more })
}

function write(path: string, content = 'made'): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** Runs `work` as a command would, and returns what was set aside. */
async function during(work: () => void, places = keeper()): Promise<SetAside[]> {
  const done: SetAside[] = []
  const command = { onSetAside: (it: SetAside) => done.push(it) }
  await places.enter(command)
  work()
  await places.leave(command)
  return done
}

/** Notes in the only ledger that another process keeps it; returns its path. */
function handOver(hub: object): string {
  const [ledger] = readdirSync(ledgers).map((name) => join(ledgers, name))
  const noted = JSON.parse(readFileSync(ledger!, 'utf8'))
  writeFileSync(ledger!, JSON.stringify({ ...noted, hub: { ...noted.hub, ...hub } }))
  return ledger!
}

describe('a check that is under way when the last command ends', () => {
  it('leaves no ledger behind', async () => {
    for (let folder = 0; folder < 50; folder++) write(`folder-${folder}/file`)
    let look: (() => void) | undefined
    const after = (_: number, callback: () => void) => {
      look = callback
      return () => {}
    }
    let onLook: (() => void) | undefined
    const readOnly = async () => {
      onLook?.()
      return []
    }
    const places = keeper({ clock: { ...systemClock, after }, readOnly })
    const command = {}
    await places.enter(command)
    // The check of the leaving command is nearly at its end when the other begins.
    onLook = () => {
      onLook = undefined
      look!()
    }
    await places.leave(command)
    // One that starts later ends later.
    for (let times = 0; times < 3; times++) await places.look()
    expect(readdirSync(ledgers)).toEqual([])
  })
})

describe('what was there before the first command', () => {
  const KINDS: [string, () => void][] = [
    ['a file', () => void write('.envrc')],
    ['a link', () => symlinkSync('settings', join(root, '.envrc'))],
  ]

  it.each(KINDS)('and is gone is taken away when a command makes it again: %s', async (_, make) => {
    make()
    const places = keeper()
    const first = {}
    await places.enter(first)
    rmSync(join(root, '.envrc'))
    const done = await during(make, places)
    expect(done.map(({ path }) => path)).toEqual([join(root, '.envrc')])
    const [ledger] = readdirSync(ledgers)
    expect(JSON.parse(readFileSync(join(ledgers, ledger!), 'utf8')).before).toEqual([])
    await places.leave(first)
  })

  it.each(KINDS)('is not the owner’s if a command of another hub made it: %s', async (_, make) => {
    const kept = write('.vscode/settings.json')
    const other = blindKeeper()
    await other.enter({})
    make()
    const done = await during(() => {
      expect(existsSync(join(root, '.envrc'))).toBe(false)
      make()
    })
    expect(done.map(({ path }) => path)).toEqual([join(root, '.envrc'), join(root, '.envrc')])
    expect([existsSync(join(root, '.envrc')), existsSync(kept)]).toEqual([false, true])
  })

  it('is not the owner’s if it is a config that a command of another hub made and changes later', async () => {
    const other = blindKeeper()
    await other.enter({})
    const config = write('app/.git/config', '[core]\n\tbare = false\n')
    const done = await during(() => write('app/.git/config', '[core]\n\tfsmonitor = ./evil.sh\n'))
    expect(done.map(({ path }) => path)).toEqual([config])
  })

  it('is the owner’s where the commands of another hub cannot change it, or that hub does not protect it', async () => {
    const [lib, own] = [join(root, 'lib'), join(root, 'own.sh')]
    mkdirSync(lib)
    const other = blindKeeper({ roots: [root, lib], readOnly: async () => [lib], hidden: [join(root, 'theirs')] })
    await other.enter({})
    const kept = [write('lib/.envrc'), write('theirs/.envrc'), write('own.sh')]
    expect(await during(() => {}, keeper({ exact: [own] }))).toEqual([])
    expect(kept.map((path) => existsSync(path))).toEqual([true, true, true])
  })

  it('is not the owner’s if a command made it whose hub was killed since', async () => {
    const other = blindKeeper()
    await other.enter({})
    const ledger = handOver({ pid: spawnSync('true').pid })
    write('.envrc')
    const done = await during(() => {})
    expect(done.map(({ path }) => path)).toEqual([join(root, '.envrc')])
    expect([existsSync(join(root, '.envrc')), existsSync(ledger)]).toEqual([false, false])
  })

  it('is not the owner’s if a command of a hub in another container made it, which may have been killed', async () => {
    const other = blindKeeper()
    const command = {}
    await other.enter(command)
    const ledger = handOver({ space: 'elsewhere' })
    write('.envrc')
    const done = await during(() => {})
    expect(done.map(({ path }) => path)).toEqual([join(root, '.envrc')])
    expect(existsSync(ledger)).toBe(false)
    // That hub lives, and notes it again when it looks the next time.
    await other.enter({})
    expect(existsSync(ledger)).toBe(true)
  })
})
