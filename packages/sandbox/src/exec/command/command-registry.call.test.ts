import { describe, expect, it } from 'vitest'
import type { CommandCall } from '../command-call.ts'
import { CallCommands } from './command-registry.ts'
import type { ManagedCommand } from './managed-command.ts'

const callOf = (callId: string, run = 'run') => ({ callId, run }) as CommandCall

/** A command that only notes that it was forgotten. */
function commandOf(call: CommandCall, { hasTemporaryFile = false } = {}) {
  let end = () => {}
  const ended = new Promise<boolean>((resolve) => {
    end = () => resolve(true)
  })
  const state = { forgotten: 0, end }
  const command = {
    call,
    hasTemporaryFile,
    ended: () => ended,
    async discard() {
      state.forgotten += 1
    },
  } as unknown as ManagedCommand
  return { command, state }
}

async function started(commands: CallCommands, call: CommandCall, options = {}) {
  const { command, state } = commandOf(call, options)
  expect(await commands.start(call, async () => command)).toBe(command)
  return { command, state }
}

describe('the commands of calls', () => {
  it('end with their call, with their run, or with all', async () => {
    const commands = new CallCommands()
    const a = await started(commands, callOf('a'))
    const b = await started(commands, callOf('b'))
    const c = await started(commands, callOf('c', 'other'))
    const forgotten = () => [a, b, c].map(({ state }) => state.forgotten)
    await commands.endCall('a')
    expect(forgotten()).toEqual([1, 0, 0])
    await commands.endRun('run')
    expect(forgotten()).toEqual([1, 1, 0])
    await commands.close()
    expect(forgotten()).toEqual([1, 1, 1])
  })

  it('are left alone once they belong to their run, or have ended without a file', async () => {
    const commands = new CallCommands()
    const background = await started(commands, callOf('a'))
    commands.release(background.command)
    const ended = await started(commands, callOf('a'))
    ended.state.end()
    const loose = await started(commands, callOf('a'), { hasTemporaryFile: true })
    loose.state.end()
    await new Promise(setImmediate)
    await commands.endCall('a')
    expect([background, ended, loose].map(({ state }) => state.forgotten)).toEqual([0, 0, 1])
  })

  it('that are just being started when their call ends were never there', async () => {
    const commands = new CallCommands()
    const call = callOf('a')
    const { command, state } = commandOf(call)
    let stand = (_: ManagedCommand) => {}
    const starting = commands.start(call, () => new Promise((resolve) => (stand = resolve)))
    const refused = expect(starting).rejects.toMatchObject({
      ...{ code: 'ABORTED', message: 'The run was closed while its command was being started.' },
    })
    const ending = commands.endRun('run')
    stand(command)
    await Promise.all([ending, refused])
    expect(state.forgotten).toBe(1)
  })

  it('fail as they fail, unless their call has ended', async () => {
    const commands = new CallCommands()
    await expect(commands.start(callOf('a'), () => Promise.reject(new Error('own')))).rejects.toThrow('own')
    let fail = (_: Error) => {}
    const starting = commands.start(callOf('a'), () => new Promise((_, reject) => (fail = reject)))
    const refused = expect(starting).rejects.toMatchObject({ code: 'ABORTED', cause: { message: 'late' } })
    const ending = commands.endCall('a')
    fail(new Error('late'))
    await Promise.all([ending, refused])
  })

  it('are not started after the end', async () => {
    const commands = new CallCommands()
    await commands.close()
    let isStarted = false
    const starting = commands.start(callOf('a'), async () => {
      isStarted = true
      return commandOf(callOf('a')).command
    })
    await expect(starting).rejects.toMatchObject({ code: 'ABORTED' })
    expect(isStarted).toBe(false)
  })
})
