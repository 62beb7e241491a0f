import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { pidsWith, until } from '../../../../../test/support/made-sandboxes.ts'
import { chainOf, isLiving, killMarked, killTree, SandboxProcesses, signalProcess } from './sandbox-processes.ts'

/** A shell with children, one inside the other; gone after the test. */
async function nested() {
  const mark = `1000.${randomUUID().replaceAll(/\D/g, '')}`
  const child = spawn('/bin/sh', ['-c', `/bin/sh -c 'sleep ${mark}; :'; :`], { detached: true, stdio: 'ignore' })
  onTestFinished(() => void signalProcess(-child.pid!, 'SIGKILL'))
  await until(async () => (await pidsWith(`sleep\0${mark}`)).length === 1)
  return { child, pid: child.pid!, sleeping: (await pidsWith(`sleep\0${mark}`))[0]! }
}

describe.runIf(process.platform === 'linux')('the processes of a command', () => {
  it('are a chain from the first to the last', async () => {
    const { pid, sleeping } = await nested()
    const chain = chainOf(pid)
    expect([chain.length, chain[0]?.pid, chain[2]?.pid]).toEqual([3, pid, sleeping])
    expect(chain.every(({ started }) => /^\d+$/.test(started ?? ''))).toBe(true)
    expect(chain.every(isLiving)).toBe(true)
  })

  it('are distinguished from others that get the same process id later', async () => {
    const { pid } = await nested()
    const [first] = chainOf(pid)
    expect([isLiving(first!), isLiving({ pid, started: '1' }), isLiving({ pid })]).toEqual([true, false, true])
    expect(isLiving({ pid: 4_194_999 })).toBe(false)
  })

  it('are killed with all that they have started', async () => {
    const { child, pid, sleeping } = await nested()
    const chain = chainOf(pid)
    const below = killTree({ pid })
    expect(below.map((process) => process.pid)).toEqual(chain.slice(1).map((process) => process.pid))
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await until(() => !chain.some(isLiving))
    expect(isLiving({ pid: sleeping, started: chain[2]!.started! })).toBe(false)
    expect(killTree(chain[0]!)).toEqual([])
  })

  it('are found by what stands in their environment', async () => {
    const mark = randomUUID()
    const child = spawn('/bin/sleep', ['1000'], { env: { MARK: mark }, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child, 'spawn')
    await until(() => killMarked(`MARK=${mark}`) === 1)
    expect(child.signalCode ?? (await once(child, 'exit'))[1]).toBe('SIGKILL')
    expect(killMarked(`MARK=${mark}`)).toBe(0)
  })

  it('get a signal, where there is anybody to get it', () => {
    expect([signalProcess(process.pid, 0), signalProcess(4_194_999, 0)]).toEqual([true, false])
  })
})

describe('how a sandbox ended', () => {
  it('is reported as it is, if nobody has ended it', () => {
    const processes = new SandboxProcesses('full')
    for (const exit of [{ exitCode: 0 }, { exitCode: 143 }, { exitCode: 137 }, { signal: 'SIGTERM' }]) {
      expect(processes.nameSignal(exit)).toEqual(exit)
    }
    expect([processes.environment, processes.command, processes.killRemaining()]).toEqual([{}, undefined, false])
    expect(() => processes.kill()).not.toThrow()
    expect(() => processes.terminate()).not.toThrow()
  })

  it.runIf(process.platform === 'linux')('is named by the signal that ended it', async () => {
    const { child, pid } = await nested()
    const processes = new SandboxProcesses('full')
    processes.outermost(pid)
    processes.inspect()
    expect([processes.killRemaining(), processes.command !== pid]).toEqual([true, true])
    processes.terminate()
    expect(processes.nameSignal({ exitCode: 143 })).toEqual({ signal: 'SIGTERM' })
    expect(processes.nameSignal({ signal: 'SIGTERM' })).toEqual({ signal: 'SIGTERM' })
    expect(processes.nameSignal({ exitCode: 142 })).toEqual({ exitCode: 142 })
    processes.kill()
    expect(processes.nameSignal({ exitCode: 137 })).toEqual({ signal: 'SIGKILL' })
    expect(processes.nameSignal({ signal: 'SIGHUP' })).toEqual({ signal: 'SIGKILL' })
    expect(processes.nameSignal({ exitCode: 1 })).toEqual({ exitCode: 1 })
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    processes.outermostEnded()
    await until(() => !processes.killRemaining())
  })

  it('marks what it starts only where nothing else holds it together', () => {
    const marker = new SandboxProcesses('none').environment.TOOL_HUB_MARKER
    expect(marker).toMatch(/^[0-9a-f]{32}$/)
    expect(new SandboxProcesses('none').environment.TOOL_HUB_MARKER).not.toBe(marker)
    expect(new SandboxProcesses('namespaces').environment).toEqual({})
  })
})
