import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { ProgramEnd } from '../../../core/src/commands.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { isTrusted } from './live-session.ts'
import { runCommand } from './run-command.ts'
import type { CommandRunner, SessionTask } from './runner.ts'

/** A program that does what a test tells it. */
function running(more: Partial<CommandRunner> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const clock = fakeClock()
  const stop = new AbortController()
  const [started, stops]: [unknown[], unknown[]] = [[], []]
  let finish = (_: ProgramEnd) => {}
  const ended = new Promise<ProgramEnd>((resolve) => {
    finish = resolve
  })
  const program = { stdin, stdout, stderr, ended, stop: async (how: unknown) => void stops.push(how) }
  const host = {
    ...{ clock, secret: () => undefined, hide() {} },
    startProgram: async (wish: unknown) => {
      started.push(wish)
      return program
    },
  }
  const work = { id: 's1', task: 'Work.', tools: [], signal: stop.signal, async *messages() {} }
  const task = { host, work, runner: 'agent' } as unknown as SessionTask
  const result = runCommand({ type: 'command', argv: ['agent', '-p'], ...more }, task)
  result.catch(() => {})
  const end = (said: string, how: Partial<ProgramEnd> = {}, complaint = '') => {
    stderr.end(complaint)
    stdout.end(said)
    finish({ code: 0, ...how } as ProgramEnd)
  }
  return { result, end, started, stops, stop, stdin, stdout, stderr, finish, clock }
}

describe('a program that works in a session', () => {
  it('is started as its owner says, and gone when it is over', async () => {
    const { result, end, started, stops } = running({ cwd: '/srv', env: { A: 'b' }, sandbox: true })
    end('Fine.\n')
    expect(await result).toBe('Fine.')
    expect(started).toEqual([{ argv: ['agent', '-p'], env: { A: 'b' }, cwd: '/srv', access: {} }])
    expect(stops).toEqual([{ graceMs: 500 }])
    const plain = running()
    plain.end('x')
    await plain.result
    expect(plain.started).toEqual([{ argv: ['agent', '-p'], env: {} }])
    const sandboxed = running({ sandbox: { network: false } as never })
    sandboxed.end('x')
    await sandboxed.result
    expect(sandboxed.started).toMatchObject([{ access: { network: false } }])
  })

  it.each<[Partial<CommandRunner>, Partial<ProgramEnd>, string, string]>([
    [{}, { code: 3 }, 'oh\u001b[31m', 'The runner ended with exit code 3. It said: oh\\u{1b}[31m'],
    [{}, { code: 3 }, ' \n', 'The runner ended with exit code 3.'],
    [{}, { code: null, signal: 'SIGKILL' } as never, '', 'The runner was ended by SIGKILL.'],
    [{ speaks: 'jsonl' }, {}, 'bye', 'The runner ended with exit code 0 without saying done. It said: bye'],
    [{ speaks: 'jsonl' }, { code: 1 }, '', 'The runner ended with exit code 1.'],
    [
      {},
      { code: 3 },
      `${'x'.repeat(5)}${'y'.repeat(1_000)}`,
      `The runner ended with exit code 3. It said: ${'y'.repeat(1_000)}`,
    ],
  ])('%j that ends with %j says why', async (more, how, complaint, message) => {
    const { result, end } = running(more)
    end('', how, complaint)
    await expect(result).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', message })
  })

  it('may close its input before it has read its task', async () => {
    const { result, end, stdin } = running()
    await expect.poll(() => stdin.listenerCount('error')).toBeGreaterThan(0)
    stdin.emit('error', new Error('EPIPE'))
    end('Fine.')
    expect(await result).toBe('Fine.')
  })

  it('is not waited for when it has said that it is done', async () => {
    const { result, stdout, stops } = running({ speaks: 'jsonl' })
    stdout.write('{"type":"done","text":"Fine."}\n')
    expect(await result).toBe('Fine.')
    expect(stops).toEqual([{ graceMs: 500 }])
  })

  it('has half a second after its end to say why', async () => {
    const { result, stdout, stderr, finish, clock } = running()
    stderr.write('half')
    stdout.end()
    finish({ code: 3 } as ProgramEnd)
    await expect.poll(() => clock.waiting).toBe(1)
    await clock.advance(499)
    expect(clock.waiting).toBe(1)
    await clock.advance(1)
    await expect(result).rejects.toThrow('It said: half')
  })

  it('is stopped with its session, with its reason', async () => {
    const { result, end, stop, stops } = running()
    await expect.poll(() => stops.length).toBe(0)
    stop.abort(new Error('enough'))
    await expect.poll(() => stops.length).toBe(1)
    end('too late')
    await expect(result).rejects.toThrow(/^enough$/)
    expect(stops).toEqual([{ graceMs: 500 }, { graceMs: 500 }])
  })

  it.each([
    [{ type: 'command', argv: ['x'] }, false],
    [{ type: 'command', argv: ['x'], trust: true }, true],
    [{ type: 'url', url: 'https://x' }, false],
    [{ type: 'url', url: 'https://x', trust: true }, true],
    [{ run: async () => '' }, true],
  ] as const)('%j is trusted: %s', (runner, isIt) => {
    expect(isTrusted(runner)).toBe(isIt)
  })
})
