import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  fullSandbox,
  noSandbox,
  processesKnowing,
  processesWith,
  spawnersOf,
  until,
  workspace,
} from '../../../../../test/support/made-sandboxes.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { createStarter, type StartRequest } from './starter.ts'

const HOOK = resolve('test/support/load-typescript.mjs')
const HUB = resolve('test/support/start-until-killed.ts')
const never = new AbortController().signal

function sleeping(sandbox: SandboxLaunch, cwd: string): StartRequest & { mark: string } {
  const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
  const line = 'trap "" TERM HUP; setsid sleep "$0" & echo up; while :; do sleep "$0"; done'
  return { sandbox, words: ['sh', '-c', line, mark], cwd, env: {}, pty: false, mark }
}

it('leaves nothing running when the hub is killed', async () => {
  const cwd = await workspace()
  const env = { ...noSandbox().env, MARK: randomUUID() }
  const orders = [sleeping({ ...fullSandbox(cwd), env }, cwd), sleeping({ ...noSandbox(), env }, cwd)]
  const hub = spawn(process.execPath, ['--import', HOOK, HUB, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void hub.kill('SIGKILL'))
  await once(hub.stdout, 'data')
  const [spawner] = await spawnersOf(hub.pid!)
  hub.kill('SIGKILL')
  for (const { mark } of orders) await until(async () => (await processesWith(mark)).length === 0)
  // The sandboxes that were kept warm, the prewarmed processes of others, and the spawner itself.
  await until(async () => (await processesKnowing(env.MARK)).length === 0)
  await until(async () => (await processesWith(cwd)).length === 0)
  await until(() => !isThere(spawner!))
})

it('leaves nothing running when the spawner is killed, says what was lost, and starts the next command by a new one', async () => {
  const cwd = await workspace()
  const starter = createStarter()
  onTestFinished(() => starter.close())
  const { mark, ...order } = sleeping(fullSandbox(cwd), cwd)
  const started = await starter.start(order, never)
  const [spawner] = await spawnersOf(process.pid)
  process.kill(spawner!, 'SIGKILL')
  await expect(started.exited).rejects.toMatchObject({ code: 'EXEC_FAILED', message: /was lost/ })
  await started.stop()
  await until(async () => (await processesWith(mark)).length === 0)
  const next = await starter.start({ ...order, words: ['true'] }, never)
  expect(await next.exited).toEqual({ exitCode: 0 })
})

it('leaves nothing running when the spawner is terminated', async () => {
  const cwd = await workspace()
  const starter = createStarter()
  onTestFinished(() => starter.close())
  const { mark, ...order } = sleeping(noSandbox(), cwd)
  await starter.start(order, never)
  for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGTERM')
  await until(async () => (await processesWith(mark)).length === 0)
})

/** Runs words at level none in a process of their own that has nothing else to do; its output when it has ended. */
async function runAlone(
  words: readonly string[],
  { stdio = [], last = '' }: { stdio?: readonly ('ignore' | number)[]; last?: string } = {},
): Promise<string> {
  const program = `
    const { createStarter } = await import(${JSON.stringify(resolve('packages/sandbox/src/exec/start/starter.ts'))})
    const order = ${JSON.stringify({ sandbox: noSandbox(), words, cwd: '/', env: {}, pty: false })}
    const starter = createStarter()
    const { stdout } = await starter.start(order, new AbortController().signal)
    stdout.pipe(process.stdout)
    ${last}`
  const flags = ['--import', HOOK, '--input-type=module', '-e', program]
  const hub = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit', ...stdio] })
  onTestFinished(() => void hub.kill('SIGKILL'))
  const [out] = await Promise.all([text(hub.stdout!), once(hub, 'exit')])
  return out
}

it('does not keep a process alive that has no command running', async () => {
  expect(await runAlone(['echo', 'hi'])).toBe('hi\n')
})

it('keeps the process alive until all is closed', async () => {
  const last = `stdout.once('data', async () => {
      await starter.close()
      console.log('closed')
    })`
  expect(await runAlone(['sh', '-c', 'echo up; exec sleep 1000'], { last })).toBe('up\nclosed\n')
})

it('passes on no descriptor that the hub inherited', async () => {
  const folder = await open('/')
  onTestFinished(() => folder.close())
  // Node itself sees to the first few.
  const handed = [...new Array<'ignore'>(40).fill('ignore'), folder.fd]
  expect(await runAlone(['sh', '-c', 'ls /proc/$$/fd'], { stdio: handed })).toBe('0\n1\n2\n')
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a spawner that does not answer', () => {
  it('is killed with everything that it has started, and the next command is started by a new one', async () => {
    const cwd = await workspace()
    const starter = createStarter({ answerMs: 50 })
    onTestFinished(() => starter.close())
    const { mark, ...order } = sleeping(fullSandbox(cwd), cwd)
    const started = await starter.start(order, never)
    for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGSTOP')
    await started.stop()
    const how = expect.stringContaining('did not answer')
    await expect(started.exited).rejects.toMatchObject({ code: 'EXEC_FAILED', details: { how } })
    await until(async () => (await processesWith(mark)).length === 0)
    const next = await starter.start({ ...order, words: ['true'] }, never)
    expect(await next.exited).toEqual({ exitCode: 0 })
  })

  it('does not keep its hub from closing', async () => {
    const cwd = await workspace()
    const starter = createStarter({ answerMs: 50 })
    const { mark, ...order } = sleeping(fullSandbox(cwd), cwd)
    const started = await starter.start(order, never)
    for (const spawner of await spawnersOf(process.pid)) process.kill(spawner, 'SIGSTOP')
    await starter.close()
    expect(await started.exited).toEqual({ signal: 'SIGKILL' })
    await until(async () => (await processesWith(mark)).length === 0)
  })
})

it('a sandbox that does not start its command in time is ended', async () => {
  const cwd = await workspace()
  const starter = createStarter({ startMs: 50, prepared: 0 })
  onTestFinished(() => starter.close())
  const { mark, ...order } = sleeping(noSandbox(), cwd)
  const sandbox = { ...order.sandbox, file: '/bin/sh', args: ['-c', `exec sleep ${mark}`] }
  await expect(starter.start({ ...order, sandbox }, never)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('did not start its command within 50 ms'),
  })
  expect(await processesWith(`sleep\0${mark}`)).toEqual([])
})
