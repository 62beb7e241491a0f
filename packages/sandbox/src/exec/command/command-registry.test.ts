import { describe, expect, it } from 'vitest'
import { holdingClock } from '../../../../../test/support/holding-clock.ts'
import { endedProcess, startCommand } from '../../../../../test/support/managed-command.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { BackgroundCommands, commandId } from './command-registry.ts'
import { commandArgv } from './command-request.ts'

describe('the table of background commands', () => {
  it('shows each run its own commands and no other', async () => {
    const table = new BackgroundCommands(fakeClock())
    const ids = [table.newId('one'), table.newId('two')]
    const commands = [
      await startCommand('sleep 30', { id: ids[0]!, call: { run: 'one' } }),
      await startCommand('sleep 30', { id: ids[1]!, call: { run: 'two' } }),
    ]
    for (const command of commands) table.add(command)
    expect(ids[0]).toMatch(/^[a-z]+-[a-z]+-[0-9a-f]{4}$/)
    expect(table.list('one').map(({ id }) => id)).toEqual([ids[0]])
    expect(table.find('one', ids[1]!)).toBeUndefined()
    expect(table.find('two', ids[1]!)).toBe(commands[1])
    await commands[1]!.kill()
    expect(table.remove('one', ids[1]!)).toBe(false)
    expect(table.list('__proto__')).toEqual([])
    await table.endRun('two')
    expect(commands[0]!.isRunning).toBe(true)
    await table.close()
    expect(commands.map((command) => command.state().signal)).toEqual(['SIGKILL', 'SIGKILL'])
    expect(table.list('one')).toEqual([])
  })

  it('forgets one that has ended when asked, never one that runs', async () => {
    const table = new BackgroundCommands(fakeClock())
    const command = await startCommand('sleep 30', { id: 'a' })
    table.add(command)
    expect(table.remove('run-1', 'a')).toBe(false)
    await command.kill()
    expect(table.list('run-1')).toMatchObject([{ id: 'a', status: 'exited' }])
    expect(table.remove('run-1', 'a')).toBe(true)
    expect(table.remove('run-1', 'a')).toBe(false)
  })

  it('keeps the finished for 30 minutes', async () => {
    const clock = holdingClock()
    const table = new BackgroundCommands(clock)
    const command = await startCommand(['true'], { id: 'a' })
    table.add(command)
    await command.ended()
    await clock.advance(30 * 60_000 - 1)
    expect(table.find('run-1', 'a')).toBe(command)
    await clock.advance(1)
    expect(table.find('run-1', 'a')).toBeUndefined()
    expect([clock.waiting, clock.holding]).toEqual([0, 0])
  })

  it('keeps at most 64 finished a run, the oldest go first', async () => {
    const clock = fakeClock()
    const table = new BackgroundCommands(clock)
    for (let number = 1; number <= 70; number += 1) {
      const command = await startCommand([], { id: `id-${number}`, clock, process: endedProcess() })
      await command.ended()
      table.add(command)
      await clock.advance(1)
    }
    const kept = table.list('run-1').map(({ id }) => id)
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([64, 'id-7', 'id-70'])
    await table.close()
    expect(clock.waiting).toBe(0)
  })

  it('takes only so many that run', async () => {
    const table = new BackgroundCommands(fakeClock())
    const commands = await Promise.all(
      Array.from({ length: 33 }, (_, index) => startCommand(['sleep', '30'], { id: `id-${index}` })),
    )
    for (const command of commands.slice(0, 32)) table.add(command)
    expect(() => table.add(commands[32]!)).toThrow(
      expect.objectContaining({
        code: 'CONFLICT',
        message: 'This run already has 32 commands in the background, which is the limit.',
        fix: expect.objectContaining({ hint: 'Wait for one to end, or kill one that is not needed.' }),
      }),
    )
    await Promise.all([table.close(), commands[32]!.kill()])
  })

  it('lists those that an earlier hub lost, for their run only', async () => {
    const lost = { run: 'one', id: 'calm-otter-3f2a', command: 'npm start', startedAt: '2026-01-01T00:00:00.000Z' }
    const table = new BackgroundCommands(fakeClock(), [lost])
    expect(table.list('one')).toEqual([
      {
        ...{ id: lost.id, command: 'npm start', cwd: '', sandbox: 'none', startedAt: lost.startedAt, status: 'lost' },
        ...{ timedOut: false, durationMs: 0, isBackground: true, isWaiting: false, bytes: 0 },
      },
    ])
    expect(table.list('two')).toEqual([])
    expect(table.find('one', lost.id)).toBeUndefined()
    expect(table.remove('two', lost.id)).toBe(false)
    expect(table.remove('one', lost.id)).toBe(true)
    expect(table.list('one')).toEqual([])
  })
})

it('is made of two words and four digits, and of no id that is taken', () => {
  const ids = Array.from({ length: 200 }, () => commandId(() => false))
  for (const id of ids) expect(id).toMatch(/^[a-z]{3,}-[a-z]{3,}-[0-9a-f]{4}$/)
  expect(new Set(ids).size).toBeGreaterThan(190)
  const refused: string[] = []
  const id = commandId((tried) => refused.length < 3 && refused.push(tried) > 0)
  expect([refused.length, refused.includes(id)]).toEqual([3, false])
})

it('runs a line by bash without its files of settings, and words as they are', () => {
  expect(commandArgv({ argv: ['ls', '-l'] })).toEqual(['ls', '-l'])
  expect(commandArgv({ command: '-x; ls' })).toEqual([...['/bin/bash', '--noprofile', '--norc', '-c', '--', '-x; ls']])
})
