import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countedStarter, PREWARMED } from '../../../../../test/support/counted-starter.ts'
import {
  fullSandbox,
  noSandbox,
  pidsWith,
  processesKnowing,
  processesWith,
  spawnersOf,
  until,
  workspace,
} from '../../../../../test/support/made-sandboxes.ts'
import { commandCgroup, openCgroups } from '../host/cgroup.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { createStarter, prewarmKey } from './starter.ts'

it('keeps nothing warm before the first command of its kind, then one after each', async () => {
  const cwd = await workspace()
  const { starter, run, made, living } = countedStarter()
  expect(made()).toBe(0)
  starter.prepare(fullSandbox(cwd))
  expect(made()).toBe(1 + PREWARMED)
  await run(fullSandbox(cwd), cwd)
  await until(async () => living() === PREWARMED && (await pidsWith(cwd)).length === 2)
  for (let times = 0; times < 5; times++) starter.prepare(fullSandbox(cwd))
  await until(async () => (await pidsWith(cwd)).length === 4)
  // All of these processes are still enough for two sandboxes.
  expect(made()).toBe(1 + PREWARMED)
})

it('uses a sandbox once: no other command finds what one left in it', async () => {
  const cwd = await workspace()
  const { run } = countedStarter()
  for (let times = 0; times < 3; times++) {
    expect(await run(fullSandbox(cwd), cwd, ['sh', '-c', 'test ! -e /tmp/left && touch /tmp/left'])).toEqual({
      exitCode: 0,
    })
  }
})

it('ends a sandbox that nobody needed for a while', async () => {
  const cwd = await workspace()
  const { starter, clock, living } = countedStarter()
  starter.prepare(fullSandbox(cwd))
  await until(async () => (await processesWith(cwd)).length > 0)
  await clock.advance(29_000)
  expect(living()).toBe(1 + PREWARMED)
  await clock.advance(2_000)
  await until(() => living() === 0)
  expect(await processesWith(cwd)).toEqual([])
})

it('keeps four kinds at most, the latest', async () => {
  const cwd = await workspace()
  const { starter, living, made } = countedStarter()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) starter.prepare(fullSandbox(cwd, key))
  expect(made()).toBe(1 + 2 * PREWARMED)
  await until(() => living() === 2 * PREWARMED - 1)
  await until(async () => (await pidsWith(cwd)).length === 2 * 4)
})

it('starts a new sandbox if the warm one has died', async () => {
  const cwd = await workspace()
  const { starter, run } = countedStarter()
  starter.prepare(fullSandbox(cwd))
  await until(async () => (await pidsWith(cwd)).length === 2)
  for (const pid of await pidsWith(cwd)) process.kill(pid, 'SIGKILL')
  await until(async () => (await pidsWith(cwd)).length === 0)
  expect(await run(fullSandbox(cwd), cwd)).toEqual({ exitCode: 0 })
})

it('keeps no sandbox with a helper warm', async () => {
  const cwd = await workspace()
  const { starter, made } = countedStarter()
  starter.prepare({ ...fullSandbox(cwd), helper: ['sh', '-c', 'echo ready; sleep 1000'] })
  expect(made()).toBe(PREWARMED)
})

it('keeps none warm if none are wanted', async () => {
  const cwd = await workspace()
  const { starter, run, made } = countedStarter({ prepared: 0 })
  starter.prepare(fullSandbox(cwd))
  expect(made()).toBe(PREWARMED)
  await run(fullSandbox(cwd), cwd)
  await run(fullSandbox(cwd), cwd)
  expect(made()).toBe(PREWARMED)
  expect(await pidsWith(cwd)).toEqual([])
})

it('does not use a warm sandbox whose folder was replaced or removed', async () => {
  const above = await workspace()
  const cwd = `${above}/project`
  await mkdir(cwd)
  const { starter, run } = countedStarter({ prepared: 1 })
  starter.prepare(fullSandbox(cwd))
  await until(async () => (await pidsWith(cwd)).length === 2)
  await rename(cwd, `${above}/old`)
  await mkdir(cwd)
  await writeFile(`${cwd}/new`, '')
  expect(await run(fullSandbox(cwd), cwd, ['test', '-e', 'new'])).toEqual({ exitCode: 0 })
  await until(async () => (await pidsWith(cwd)).length === 2)
  await rm(cwd, { recursive: true })
  await expect(run(fullSandbox(cwd), cwd)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

/** A sandbox whose processes, too, can be told from all other processes. */
function marked(sandbox: SandboxLaunch): { sandbox: SandboxLaunch; processes: () => Promise<number> } {
  const mark = randomUUID()
  return {
    sandbox: { ...sandbox, env: { ...sandbox.env, MARK: mark } },
    processes: async () => (await processesKnowing(mark)).length,
  }
}

it('keeps some processes prewarmed, each for one command, for any sandbox with the same start settings', async () => {
  const [cwd, other] = [await workspace(), await workspace()]
  const { run, made, living } = countedStarter({ prepared: 0 })
  await run(fullSandbox(cwd), cwd)
  expect(made()).toBe(1 + PREWARMED)
  await run(fullSandbox(other), other)
  await run(fullSandbox(cwd), cwd)
  expect(made()).toBe(1 + PREWARMED)
  await run(fullSandbox(cwd), cwd)
  expect(made()).toBe(1 + 2 * PREWARMED)
  await until(() => living() === PREWARMED)
  await run({ ...fullSandbox(cwd), env: { PATH: '/usr/bin:/bin', MORE: 'x' } }, cwd)
  expect(made()).toBe(2 + 3 * PREWARMED)
})

it('keeps prewarmed processes of at most two kinds', async () => {
  const { starter, living } = countedStarter({ prepared: 0 })
  for (const name of ['a', 'b', 'c']) starter.prepare({ ...noSandbox(), env: { PATH: '/bin', NAME: name } })
  await until(() => living() === 2 * PREWARMED)
})

it('distinguishes prewarmed processes by everything that is fixed at their start, and by nothing else', () => {
  const sandbox: SandboxLaunch = { ...noSandbox(), seccomp: { fd: 3, program: new Uint8Array([1, 2]) } }
  const others: SandboxLaunch[] = [
    { ...sandbox, level: 'full' },
    { ...sandbox, env: { ...sandbox.env, A: 'b' } },
    { ...sandbox, seccomp: { fd: 4, program: new Uint8Array([1, 2]) } },
    { ...sandbox, seccomp: { fd: 3, program: new Uint8Array([1, 3]) } },
    { ...sandbox, helper: ['x'] },
    { ...sandbox, limits: { ...sandbox.limits, processes: 1 } },
  ]
  expect(new Set([sandbox, ...others].map(prewarmKey)).size).toBe(7)
  expect(prewarmKey({ ...sandbox, key: 'other', file: '/x', args: ['y'], swappable: ['/z'] })).toBe(prewarmKey(sandbox))
})

it('ends prewarmed processes that nobody needed for a while', async () => {
  const { starter, clock, living } = countedStarter({ prepared: 0 })
  const { sandbox, processes } = marked(noSandbox())
  starter.prepare(sandbox)
  await until(async () => (await processes()) === PREWARMED)
  await clock.advance(29_000)
  expect(living()).toBe(PREWARMED)
  await clock.advance(2_000)
  await until(() => living() === 0)
  expect(await processes()).toBe(0)
})

it('leaves no prewarmed process after the starter is closed or the spawner was killed', async () => {
  const { sandbox, processes } = marked(noSandbox())
  const closed = createStarter()
  closed.prepare(sandbox)
  await until(async () => (await processes()) === 1 + PREWARMED)
  await closed.close()
  expect(await processes()).toBe(0)

  const starter = createStarter()
  onTestFinished(() => starter.close())
  starter.prepare(sandbox)
  await until(async () => (await processes()) === 1 + PREWARMED)
  for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGKILL')
  await until(async () => (await processes()) === 0)
})

it('joins the cgroup before anything else, and continues without one that cannot be joined', async () => {
  const cwd = await workspace()
  let count = 0
  const { run } = countedStarter({ prepared: 0, joinFile: () => `${cwd}/it's ${count++}` })
  expect(await run(fullSandbox(cwd), cwd, ['grep', '-qx', '0', `it's 0`])).toEqual({ exitCode: 0 })
  expect(await readFile(`${cwd}/it's 0`, 'utf8')).toBe('0\n')
  const { run: runApart } = countedStarter({ prepared: 0, joinFile: () => '/no/such/joinFile' })
  expect(await runApart(fullSandbox(cwd), cwd)).toEqual({ exitCode: 0 })
})

describe.runIf((await openCgroups()).version !== 'none')('where the machine has groups', () => {
  it('starts every process of a sandbox in its own cgroup', async () => {
    const cwd = await workspace()
    const starter = createStarter({ createCgroup: commandCgroup })
    onTestFinished(() => starter.close())
    const groupsOf = async () => {
      const order = { sandbox: noSandbox(), words: ['cat', '/proc/self/cgroup'], cwd, env: {}, pty: false }
      const { stdout } = await starter.start(order, new AbortController().signal)
      return [...new Set((await text(stdout)).match(/tool-hub-\d+-\d+/g))]
    }
    const [first, second] = [await groupsOf(), await groupsOf()]
    expect([first.length, second.length]).toEqual([1, 1])
    expect(first).not.toEqual(second)
  })
})
