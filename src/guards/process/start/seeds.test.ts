import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countedStarter, SEEDS } from '../../../../test/support/counted-starter.ts'
import {
  fullJail,
  noJail,
  processesKnowing,
  spawnersOf,
  until,
  workspace,
} from '../../../../test/support/made-jails.ts'
import { commandCgroup } from '../command/command-cgroup.ts'
import { openCgroups } from '../jail/cgroup.ts'
import type { Jail } from '../jail/jail.ts'
import { createStarter } from './create-starter.ts'
import { seedKey } from './seed-key.ts'

/** A jail whose seeds, too, can be told from all other processes. */
function marked(jail: Jail): { jail: Jail; seeds: () => Promise<number> } {
  const mark = randomUUID()
  return {
    jail: { ...jail, env: { ...jail.env, MARK: mark } },
    seeds: async () => (await processesKnowing(mark)).length,
  }
}

it('keeps some, each for one command, and serves with them any jail that wants the same from birth', async () => {
  const [cwd, other] = [await workspace(), await workspace()]
  const { run, made, living } = countedStarter({ prepared: 0 })
  await run(fullJail(cwd), cwd)
  expect(made()).toBe(1 + SEEDS)
  await run(fullJail(other), other)
  await run(fullJail(cwd), cwd)
  expect(made()).toBe(1 + SEEDS)
  await run(fullJail(cwd), cwd)
  expect(made()).toBe(1 + 2 * SEEDS)
  await until(() => living() === SEEDS)
  await run({ ...fullJail(cwd), env: { PATH: '/usr/bin:/bin', MORE: 'x' } }, cwd)
  expect(made()).toBe(2 + 3 * SEEDS)
})

it('keeps those of two kinds at most', async () => {
  const { starter, living } = countedStarter({ prepared: 0 })
  for (const name of ['a', 'b', 'c']) starter.prepare({ ...noJail(), env: { PATH: '/bin', NAME: name } })
  await until(() => living() === 2 * SEEDS)
})

it('are told apart by all that is fixed at their birth, and by nothing else', () => {
  const jail: Jail = { ...noJail(), seccomp: { fd: 3, program: new Uint8Array([1, 2]) } }
  const others: Jail[] = [
    { ...jail, level: 'full' },
    { ...jail, env: { ...jail.env, A: 'b' } },
    { ...jail, seccomp: { fd: 4, program: new Uint8Array([1, 2]) } },
    { ...jail, seccomp: { fd: 3, program: new Uint8Array([1, 3]) } },
    { ...jail, companion: ['x'] },
    { ...jail, limits: { ...jail.limits, processes: 1 } },
  ]
  expect(new Set([jail, ...others].map(seedKey)).size).toBe(7)
  expect(seedKey({ ...jail, key: 'other', file: '/x', args: ['y'], swappable: ['/z'] })).toBe(seedKey(jail))
})

it('end when nobody needed them for a while', async () => {
  const { starter, clock, living } = countedStarter({ prepared: 0 })
  const { jail, seeds } = marked(noJail())
  starter.prepare(jail)
  await until(async () => (await seeds()) === SEEDS)
  await clock.advance(29_000)
  expect(living()).toBe(SEEDS)
  await clock.advance(2_000)
  await until(() => living() === 0)
  expect(await seeds()).toBe(0)
})

it('are gone when the starter is closed, and when the spawner was killed', async () => {
  const { jail, seeds } = marked(noJail())
  const closed = createStarter()
  closed.prepare(jail)
  await until(async () => (await seeds()) === 1 + SEEDS)
  await closed.close()
  expect(await seeds()).toBe(0)

  const starter = createStarter()
  onTestFinished(() => starter.close())
  starter.prepare(jail)
  await until(async () => (await seeds()) === 1 + SEEDS)
  for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGKILL')
  await until(async () => (await seeds()) === 0)
})

it('enter their group before they are anything else, and do without one that cannot be entered', async () => {
  const cwd = await workspace()
  let count = 0
  const { run } = countedStarter({ prepared: 0, entrance: () => `${cwd}/it's ${count++}` })
  expect(await run(fullJail(cwd), cwd, ['grep', '-qx', '0', `it's 0`])).toEqual({ exitCode: 0 })
  expect(await readFile(`${cwd}/it's 0`, 'utf8')).toBe('0\n')
  const { run: runApart } = countedStarter({ prepared: 0, entrance: () => '/no/such/entrance' })
  expect(await runApart(fullJail(cwd), cwd)).toEqual({ exitCode: 0 })
})

describe.runIf((await openCgroups()).version !== 'none')('where the machine has groups', () => {
  it('makes every process of a jail be born in the group of its own', async () => {
    const cwd = await workspace()
    const starter = createStarter({ createCgroup: commandCgroup })
    onTestFinished(() => starter.close())
    const groupsOf = async () => {
      const order = { jail: noJail(), words: ['cat', '/proc/self/cgroup'], cwd, env: {}, pty: false }
      const { stdout } = await starter.start(order, new AbortController().signal)
      return [...new Set((await text(stdout)).match(/tool-hub-\d+-\d+/g))]
    }
    const [first, second] = [await groupsOf(), await groupsOf()]
    expect([first.length, second.length]).toEqual([1, 1])
    expect(first).not.toEqual(second)
  })
})
