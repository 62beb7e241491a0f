import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { countedStarter, SEEDS } from '../../../../test/support/counted-starter.ts'
import { fullJail, pidsWith, processesWith, until, workspace } from '../../../../test/support/made-jails.ts'

it('makes nothing ahead before the first command of its kind, then one after each', async () => {
  const cwd = await workspace()
  const { starter, run, made, living } = countedStarter()
  expect(made()).toBe(0)
  starter.prepare(fullJail(cwd))
  expect(made()).toBe(1 + SEEDS)
  await run(fullJail(cwd), cwd)
  await until(async () => living() === SEEDS && (await pidsWith(cwd)).length === 2)
  for (let times = 0; times < 5; times++) starter.prepare(fullJail(cwd))
  await until(async () => (await pidsWith(cwd)).length === 4)
  // All of these seeds are still enough for two jails.
  expect(made()).toBe(1 + SEEDS)
})

it('uses a jail once: what a command left in it, no other one finds', async () => {
  const cwd = await workspace()
  const { run } = countedStarter()
  for (let times = 0; times < 3; times++) {
    expect(await run(fullJail(cwd), cwd, ['sh', '-c', 'test ! -e /tmp/left && touch /tmp/left'])).toEqual({
      exitCode: 0,
    })
  }
})

it('ends a jail that nobody needed for a while', async () => {
  const cwd = await workspace()
  const { starter, clock, living } = countedStarter()
  starter.prepare(fullJail(cwd))
  await until(async () => (await processesWith(cwd)).length > 0)
  await clock.advance(29_000)
  expect(living()).toBe(1 + SEEDS)
  await clock.advance(2_000)
  await until(() => living() === 0)
  expect(await processesWith(cwd)).toEqual([])
})

it('keeps four kinds at most, the latest', async () => {
  const cwd = await workspace()
  const { starter, living, made } = countedStarter()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) starter.prepare(fullJail(cwd, key))
  expect(made()).toBe(1 + 2 * SEEDS)
  await until(() => living() === 2 * SEEDS - 1)
  await until(async () => (await pidsWith(cwd)).length === 2 * 4)
})

it('starts a new jail where the one made ahead has died', async () => {
  const cwd = await workspace()
  const { starter, run } = countedStarter()
  starter.prepare(fullJail(cwd))
  await until(async () => (await pidsWith(cwd)).length === 2)
  for (const pid of await pidsWith(cwd)) process.kill(pid, 'SIGKILL')
  await until(async () => (await pidsWith(cwd)).length === 0)
  expect(await run(fullJail(cwd), cwd)).toEqual({ exitCode: 0 })
})

it('makes no jail with a companion ahead', async () => {
  const cwd = await workspace()
  const { starter, made } = countedStarter()
  starter.prepare({ ...fullJail(cwd), companion: ['sh', '-c', 'echo ready; sleep 1000'] })
  expect(made()).toBe(SEEDS)
})

it('makes none ahead where none are wanted', async () => {
  const cwd = await workspace()
  const { starter, run, made } = countedStarter({ prepared: 0 })
  starter.prepare(fullJail(cwd))
  expect(made()).toBe(SEEDS)
  await run(fullJail(cwd), cwd)
  await run(fullJail(cwd), cwd)
  expect(made()).toBe(SEEDS)
  expect(await pidsWith(cwd)).toEqual([])
})

it('does not use a jail that shows a folder in whose place there is another now, or none', async () => {
  const above = await workspace()
  const cwd = `${above}/project`
  await mkdir(cwd)
  const { starter, run } = countedStarter({ prepared: 1 })
  starter.prepare(fullJail(cwd))
  await until(async () => (await pidsWith(cwd)).length === 2)
  await rename(cwd, `${above}/old`)
  await mkdir(cwd)
  await writeFile(`${cwd}/new`, '')
  expect(await run(fullJail(cwd), cwd, ['test', '-e', 'new'])).toEqual({ exitCode: 0 })
  await until(async () => (await pidsWith(cwd)).length === 2)
  await rm(cwd, { recursive: true })
  await expect(run(fullJail(cwd), cwd)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
