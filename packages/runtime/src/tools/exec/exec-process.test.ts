import { describe, expect, it } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import type { CommandResult } from './command-result.ts'
import { execProcess } from './exec-process.ts'
import { execRun } from './exec-run.ts'

const PROCESS = 'core/exec.process'

/** A hub with a command in the background. */
async function started(command: string, more = {}) {
  const files = fileHub({}, { tools: [execRun, execProcess], policy: [{ allow: 'exec' }] })
  const result = await files.call('exec', { command, background: true, ...more })
  const { sessionId } = result.data as CommandResult
  const act = async (action: string, input = {}) => files.call(PROCESS, { action, sessionId, ...input })
  return { ...files, sessionId, act, result }
}

/** Polls until the command says what is awaited: news may come in pieces. */
async function untilSays(act: Awaited<ReturnType<typeof started>>['act'], words: string): Promise<CommandResult> {
  for (let timeout = 0; ; timeout = 10_000) {
    const { command } = (await act('poll', { timeout })).data as { command: CommandResult }
    if (command.tail.includes(words) || command.status === 'exited') return command
  }
}

describe('core/exec.process', () => {
  it('polls a command in the background until its end', async () => {
    const { act, result, sessionId } = await started('echo one; read -r line; echo "got $line"')
    expect(result).toMatchObject({ ok: true, data: { status: 'running', sessionId } })
    expect((await untilSays(act, 'one')).status).toBe('running')
    await act('submit', { data: 'two' })
    expect(await untilSays(act, 'got two')).toMatchObject({ tail: expect.stringContaining('got two') })
  })

  it('continues in the background after yieldMs', async () => {
    const { call } = fileHub({}, { tools: [execRun, execProcess], policy: [{ allow: 'exec' }] })
    const { data, content } = await call('exec', { command: 'echo begun; sleep 60', yieldMs: 300 })
    const { sessionId, status } = data as CommandResult
    expect(status).toBe('running')
    expect(content[0]).toMatchObject({ text: expect.stringContaining(`as session ${sessionId}`) })
    expect((await call('process', { action: 'list' })).content[0]).toMatchObject({
      text: expect.stringContaining(`${sessionId}  running`),
    })
  })

  it('kills, then forgets', async () => {
    const { act, call } = await started('sleep 60')
    expect((await act('remove')).error).toMatchObject({ code: 'CONFLICT' })
    expect((await act('kill')).data).toMatchObject({ command: { status: 'exited' } })
    expect((await act('remove')).data).toMatchObject({ removed: 1 })
    expect((await act('poll')).error).toMatchObject({
      code: 'NOT_FOUND',
      fix: { hint: 'No command is in the background.' },
    })
    expect((await call(PROCESS, { action: 'list' })).data).toMatchObject({ sessions: [] })
  })

  it('clears all that have ended and leaves the others', async () => {
    const { act, call, sessionId } = await started('true')
    await untilSays(act, 'never said')
    const other = (await call('exec', { command: 'sleep 60', background: true })).data as CommandResult
    expect((await call(PROCESS, { action: 'clear' })).data).toMatchObject({ removed: 1 })
    const { sessions } = (await call(PROCESS, { action: 'list' })).data as { sessions: { sessionId: string }[] }
    expect(sessions.map((session) => session.sessionId)).toEqual([other.sessionId])
    expect(sessionId).not.toBe(other.sessionId)
  })

  it('reads the log from any line on', async () => {
    const { act } = await started('seq 1 5000')
    await untilSays(act, 'never said')
    expect((await act('log', { offset: 2_500, limit: 3 })).data).toMatchObject({
      log: { text: '2500\n2501\n2502\n', from: 2_500, to: 2_502, totalLines: 5_000 },
    })
    expect((await act('log', { limit: 2 })).data).toMatchObject({ log: { text: '4999\n5000\n' } })
  })

  it('presses keys: Ctrl-C ends a command that has a terminal', async () => {
    const { act } = await started("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done", {
      pty: true,
    })
    await untilSays(act, 'ready')
    await act('send-keys', { keys: ['C-c'] })
    expect(await untilSays(act, 'never said')).toMatchObject({ exitCode: 5, tail: expect.stringContaining('caught') })
  })

  it('closes the input of a command that reads to the end', async () => {
    const { act } = await started('cat; echo end')
    await act('write', { data: 'text\n', eof: true })
    expect((await untilSays(act, 'never said')).stdout).toBe('text\nend\n')
  })

  it('notices that a command waits for an answer', async () => {
    const { act } = await started('printf "Proceed? [y/N] "; read -r answer; echo "said $answer"')
    await untilSays(act, 'Proceed?')
    for (;;) {
      const { command } = (await act('poll', { timeout: 5_000 })).data as { command: CommandResult }
      if (command.isWaiting) break
    }
    await act('submit', { data: 'y' })
    expect((await untilSays(act, 'said y')).tail).toContain('said y')
  })

  it.each([
    ['poll', {}],
    ['send-keys', { keys: ['C-c'] }],
    ['kill', {}],
  ])('%s of a session that is unknown, or of another run, fails immediately', async (action, more) => {
    const { hub, sessionId } = await started('sleep 60')
    const unknown = await hub.callDynamic(PROCESS, { action, sessionId: 'no-such-1', ...more })
    expect(unknown.error).toMatchObject({ code: 'NOT_FOUND', fix: { hint: `There are: ${sessionId} (running).` } })
    const other = await hub.callDynamic(PROCESS, { action, sessionId, ...more }, { run: 'another-run' })
    expect(other.error).toMatchObject({ code: 'NOT_FOUND', fix: { hint: 'No command is in the background.' } })
  })

  it.each([
    ['a session', { action: 'poll' }],
    ['keys', { action: 'send-keys', sessionId: '$' }],
    ['keys that there are', { action: 'send-keys', sessionId: '$', keys: ['Hyper-x'] }],
    ['data', { action: 'write', sessionId: '$' }],
    ['at most 30 s', { action: 'poll', sessionId: '$', timeout: 30_001 }],
  ])('needs %s', async (_, input) => {
    const { call, sessionId } = await started('sleep 60')
    const named = 'sessionId' in input ? { ...input, sessionId } : input
    expect((await call(PROCESS, named)).error).toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
  })

  it('asks for input to a command, where only some commands are allowed', async () => {
    const policy = [{ ask: 'exec' }, { allow: 'exec', on: 'cat' }]
    const { call } = fileHub({}, { tools: [execRun, execProcess], policy, approve: () => ({ decision: 'deny' }) })
    const { sessionId } = (await call('exec', { argv: ['cat'], background: true })).data as CommandResult
    expect((await call(PROCESS, { action: 'write', sessionId, data: 'x' })).error?.code).toBe('APPROVAL_DENIED')
    expect((await call(PROCESS, { action: 'poll', sessionId })).ok).toBe(true)
  })
})
