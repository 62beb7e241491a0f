import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { fullJail, noJail, processesWith, until, workspace } from '../../../../test/support/made-jails.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import type { Jail } from '../jail/jail.ts'
import { createStarter } from './create-starter.ts'

/** A starter whose jails are counted by what they ask a group for. */
function counted(prepared?: number) {
  const clock = fakeClock()
  const pids: number[][] = []
  let [made, gone] = [0, 0]
  const starter = createStarter({
    clock,
    prepared,
    createCgroup: () => {
      made += 1
      const mine: number[] = []
      pids.push(mine)
      return {
        add: (pid) => void mine.push(pid),
        async remove() {
          gone += 1
        },
      }
    },
  })
  onTestFinished(() => starter.close())
  const run = async (jail: Jail, cwd: string, words = ['true']) => {
    const started = await starter.start({ jail, words, cwd, env: {}, pty: false }, new AbortController().signal)
    started.stdin.end()
    return started.exited
  }
  return { starter, clock, run, pids, made: () => made, living: () => made - gone }
}

it('makes nothing ahead before the first command of its kind, then one after each', async () => {
  const cwd = await workspace()
  const { starter, run, made, living } = counted()
  expect(made()).toBe(0)
  starter.prepare(fullJail(cwd))
  expect(made()).toBe(1)
  await run(fullJail(cwd), cwd)
  await until(() => made() === 2 && living() === 1)
  starter.prepare(fullJail(cwd))
  starter.prepare(fullJail(cwd))
  starter.prepare(fullJail(cwd))
  expect(living()).toBe(2)
})

it('uses a jail once: what a command left in it, no other one finds', async () => {
  const cwd = await workspace()
  const { run } = counted()
  for (let times = 0; times < 3; times++) {
    expect(await run(fullJail(cwd), cwd, ['sh', '-c', 'test ! -e /tmp/left && touch /tmp/left'])).toEqual({
      exitCode: 0,
    })
  }
})

it('adds all processes of a jail to its group before the command is given', async () => {
  const cwd = await workspace()
  const { run, pids } = counted()
  await run(fullJail(cwd), cwd)
  expect(pids[0]).toHaveLength(3)
  await run(noJail(), cwd)
  expect(pids.find((mine) => mine.length === 1)).toBeDefined()
})

it('ends a jail that nobody needed for a while', async () => {
  const cwd = await workspace()
  const { starter, clock, living } = counted()
  starter.prepare(fullJail(cwd))
  await until(async () => (await processesWith(cwd)).length > 0)
  await clock.advance(29_000)
  expect(living()).toBe(1)
  await clock.advance(2_000)
  await until(() => living() === 0)
  expect(await processesWith(cwd)).toEqual([])
})

it('keeps four kinds at most, the latest', async () => {
  const cwd = await workspace()
  const { starter, living, made } = counted()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) starter.prepare(fullJail(cwd, key))
  expect(made()).toBe(6)
  await until(() => living() === 4)
})

it('starts a new jail where the one made ahead has died', async () => {
  const cwd = await workspace()
  const { starter, run, pids, made } = counted()
  starter.prepare(fullJail(cwd))
  await until(() => pids[0]?.length === 3)
  process.kill(pids[0]![0]!, 'SIGKILL')
  expect(await run(fullJail(cwd), cwd)).toEqual({ exitCode: 0 })
  await until(() => made() === 3)
})

it('makes no jail with a companion ahead', async () => {
  const cwd = await workspace()
  const { starter, made } = counted()
  starter.prepare({ ...fullJail(cwd), companion: ['sh', '-c', 'echo ready; sleep 1000'] })
  expect(made()).toBe(0)
})

it('makes none ahead where none are wanted', async () => {
  const cwd = await workspace()
  const { starter, run, made } = counted(0)
  starter.prepare(fullJail(cwd))
  await run(fullJail(cwd), cwd)
  await run(fullJail(cwd), cwd)
  expect(made()).toBe(2)
})

it('does not use a jail that shows a folder in whose place there is another now, or none', async () => {
  const above = await workspace()
  const cwd = `${above}/project`
  await mkdir(cwd)
  const { starter, run, pids } = counted(1)
  starter.prepare(fullJail(cwd))
  await until(() => pids[0]?.length === 3)
  await rename(cwd, `${above}/old`)
  await mkdir(cwd)
  await writeFile(`${cwd}/new`, '')
  expect(await run(fullJail(cwd), cwd, ['test', '-e', 'new'])).toEqual({ exitCode: 0 })
  await until(() => pids[2]?.length === 3)
  await rm(cwd, { recursive: true })
  await expect(run(fullJail(cwd), cwd)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
