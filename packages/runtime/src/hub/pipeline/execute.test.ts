import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { decidedCall } from '../../../../../test/support/call-stages.ts'
import { type AnyTool, defineTool, type Retry } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createRedactor } from '../../records/redaction/redact.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { Call } from './call.ts'
import { Execution } from './execute.ts'
import { registerable } from './registered-tool.ts'

/** The error of a call that ran out of its time, 100 ms by default. */
const LATE = 'x did not finish within 100 ms.'
const stopped = () => new ToolError('ABORTED', 'stopped')
const failing = (retryAfterMs?: unknown) => new ToolError('UPSTREAM_ERROR', 'down', { details: { retryAfterMs } })

/** A promise that a test settles when it likes. */
function deferred() {
  let resolve: (value: unknown) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

interface Options {
  readonly retry?: Retry
  readonly abort?: ToolError
  readonly timeoutMs?: number
}

/** Executes a tool with 100 ms, or as many as are given, and 20 ms of grace; `end` is what became of it so far. */
function start(work: (call: Call) => unknown, { retry, abort, timeoutMs = 100 }: Options = {}) {
  const clock = fakeClock()
  const heard: unknown[] = []
  const call = new Call({ id: '1', run: 'r', wire: 'x', caller: 'c', options: {}, input: {} })
  const tool = defineTool({ name: 'x', description: 'x', input: {}, execute: () => work(call) })
  const decided = decidedCall(call, registerable({ ...tool, retry } as AnyTool, 'caller'))
  if (abort) call.abort(abort)
  const runtime = { clock, settings: { timeoutMs, graceMs: 20 }, redactor: createRedactor({}) } as unknown as Runtime
  const records = {
    append: ({ ok, error }: { ok: boolean; error?: { message: string } }) =>
      heard.push(error ? { ok, error: error.message } : { ok }),
  }
  const run = { records, starts: { add: () => heard.push('pending') } } as unknown as RunState
  const execution = new Execution(runtime, run, decided, { context: {} as never })
  const state: { end?: unknown } = {}
  const running = (async () => (retry ? execution.attemptAgain(retry) : execution.attempt()))().then(
    (value) => {
      state.end = { value }
    },
    (error: Error) => {
      state.end = error.message
    },
  )
  return { call, execution, clock, heard, state, running }
}

describe('a tool that is executed', () => {
  it.each<[string, unknown]>([
    ['a value', 7],
    ['nothing', null],
    ['an object', { then: 'no function' }],
    ['a text', 'then'],
  ])('and returns %s has ended, and was not pending', async (_, value) => {
    const { call, heard, state, running } = start(() => value)
    await running
    expect(state.end).toEqual({ value })
    expect([call.execution?.attempts, call.wasExecuted, heard]).toEqual([1, true, []])
  })

  it('and returns a promise is pending until that settles, and leaves no timer behind', async () => {
    const work = deferred()
    const { call, clock, heard, state, running } = start(() => work.promise)
    await clock.advance(99)
    expect([state.end, heard, clock.waiting]).toEqual([undefined, ['pending'], 1])
    work.resolve('done')
    await running
    expect([state.end, clock.waiting, call.onAbort, call.execution?.isAbandoned]).toEqual([
      { value: 'done' },
      0,
      undefined,
      false,
    ])
  })

  it('and fails ends with what it threw, immediately or later', async () => {
    const broken = () => {
      throw new Error('broken')
    }
    for (const run of [broken, async () => broken()]) {
      const { call, clock, state, running } = start(run)
      await running
      expect([state.end, clock.waiting, call.onAbort]).toEqual(['broken', 0, undefined])
    }
  })

  it('is not started when the call is stopped already', async () => {
    const { call, state, running } = start(() => 7, { abort: stopped() })
    await running
    expect([state.end, call.execution?.attempts, call.wasExecuted]).toEqual(['stopped', 0, false])
  })
})

describe('a tool that is stopped', () => {
  it('has its grace after its time, is then abandoned, and its outcome is recorded', async () => {
    const work = deferred()
    const { call, clock, heard, state } = start(() => work.promise)
    await clock.advance(99)
    expect(call.abortReason).toBeUndefined()
    await clock.advance(1)
    expect([call.abortReason?.message, state.end]).toEqual([LATE, undefined])
    await clock.advance(19)
    expect([state.end, call.execution?.isAbandoned]).toEqual([undefined, false])
    await clock.advance(1)
    expect([state.end, call.execution?.isAbandoned, clock.waiting, call.onAbort]).toEqual([LATE, true, 0, undefined])
    work.resolve('after all')
    await clock.advance(0)
    expect(heard).toEqual(['pending', { ok: true }])
  })

  it('and fails after it was left behind has its error told', async () => {
    const work = deferred()
    const { clock, heard, state } = start(() => work.promise)
    await clock.advance(120)
    const error = new Error('after all')
    work.reject(error)
    await clock.advance(0)
    expect([state.end, heard]).toEqual([LATE, ['pending', { ok: false, error: 'after all' }]])
  })

  it('and comes back within its grace ends with the reason, or with its own error', async () => {
    for (const [settle, end] of [
      [(work: ReturnType<typeof deferred>) => work.resolve('done'), 'stopped'],
      [(work: ReturnType<typeof deferred>) => work.reject(new Error('own')), 'own'],
    ] as const) {
      const work = deferred()
      const { call, clock, heard, state, running } = start(() => work.promise)
      call.abort(stopped())
      // Its own time no longer counts, only the grace does.
      expect(clock.waiting).toBe(1)
      await clock.advance(19)
      settle(work)
      await running
      expect([state.end, call.execution?.isAbandoned, clock.waiting, heard]).toEqual([end, false, 0, ['pending']])
    }
  })

  it('while it starts has its grace, too', async () => {
    const { call, clock, state } = start((started) => {
      started.abort(stopped())
      return new Promise(() => {})
    })
    await clock.advance(19)
    expect(state.end).toBeUndefined()
    await clock.advance(1)
    expect([state.end, call.execution?.isAbandoned]).toEqual(['stopped', true])
  })
})

it('a tool without any time is stopped immediately, while it runs or before it is repeated', async () => {
  const running = start(() => new Promise(() => {}), { timeoutMs: 0 })
  await running.clock.advance(0)
  expect(running.call.abortReason?.message).toBe('x did not finish within 0 ms.')
  const failed = start(async () => Promise.reject(failing(50)), { timeoutMs: 0, retry: { attempts: 2 } })
  await failed.clock.advance(0)
  expect([failed.state.end, failed.call.execution?.attempts]).toEqual(['x did not finish within 0 ms.', 1])
})

describe('a tool that may be repeated', () => {
  const retry = { attempts: 3, baseMs: 8 }

  it('is, as often as it says, only after an error that is worth it', async () => {
    let runs = 0
    const flaky = start(
      async () => {
        if (++runs < 3) throw failing()
        return runs
      },
      { retry },
    )
    await flaky.clock.advance(99)
    expect([flaky.state.end, flaky.call.execution?.attempts]).toEqual([{ value: 3 }, 3])
    const down = start(async () => Promise.reject(failing()), { retry })
    await down.clock.advance(99)
    expect([down.state.end, down.call.execution?.attempts]).toEqual(['down', 3])
    for (const error of [new Error('defect'), new ToolError('NOT_FOUND', 'gone')]) {
      const once = start(async () => Promise.reject(error), { retry })
      await once.clock.advance(99)
      expect([once.state.end, once.call.execution?.attempts]).toEqual([error.message, 1])
    }
    const never = start(async () => Promise.reject(failing()))
    await never.clock.advance(99)
    expect(never.call.execution?.attempts).toBe(1)
  })

  it('waits as long as the server asked, and no timer is left behind', async () => {
    let runs = 0
    const { call, clock, state } = start(
      async () => {
        if (++runs < 2) throw failing(50)
        return runs
      },
      { retry },
    )
    await clock.advance(49)
    expect(call.execution?.attempts).toBe(1)
    await clock.advance(1)
    expect([state.end, clock.waiting, call.onAbort]).toEqual([{ value: 2 }, 0, undefined])
  })

  it('ignores a delay from a server that is not a number', async () => {
    const { call, clock, state } = start(async () => Promise.reject(failing('500')), { retry })
    await clock.advance(99)
    expect([state.end, call.execution?.attempts]).toEqual(['down', 3])
  })

  it.each([100, 101, 5_000])('ends at its deadline when it would wait for %d ms', async (waitMs) => {
    const { call, clock, state } = start(async () => Promise.reject(failing(waitMs)), { retry })
    await clock.advance(99)
    expect(state.end).toBeUndefined()
    await clock.advance(1)
    expect([state.end, call.abortReason?.message, call.execution?.attempts]).toEqual([LATE, LATE, 1])
    expect(clock.waiting).toBe(0)
  })

  it('has one deadline for all attempts together', async () => {
    let runs = 0
    const { clock, call, state } = start(() => (++runs === 1 ? Promise.reject(failing(60)) : new Promise(() => {})), {
      retry,
    })
    await clock.advance(99)
    expect([call.execution?.attempts, call.abortReason]).toEqual([2, undefined])
    await clock.advance(1)
    expect(call.abortReason?.message).toBe(LATE)
    await clock.advance(20)
    expect(state.end).toBe(LATE)
  })

  it('is not repeated once its call is stopped, while it runs or while it waits', async () => {
    const waiting = start(async () => Promise.reject(failing(50)), { retry })
    await waiting.clock.advance(10)
    waiting.call.abort(stopped())
    await waiting.running
    expect([waiting.state.end, waiting.call.execution?.attempts, waiting.clock.waiting]).toEqual(['stopped', 1, 0])
    const work = deferred()
    const running = start(() => work.promise, { retry })
    running.call.abort(stopped())
    work.reject(failing())
    await running.running
    expect([running.state.end, running.call.execution?.attempts]).toEqual(['stopped', 1])
  })
})
