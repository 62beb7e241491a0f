import type { CallPort } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../../../core/src/call.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { KnownSchedule } from './definition.ts'
import { executeCalls, failedOutcome } from './execute-calls.ts'

const ok = (summary = '', labels?: string[]) => ({ ok: true, status: 'ok', summary, meta: { labels } })
const failed = (status: string, message: string, summary = '') => ({
  ...{ ok: false, status, summary, tool: 'core/x', meta: {} },
  error: { code: 'POLICY_DENIED', message },
})

/** Makes calls that end as told, one after the other. */
function executing(
  results: readonly unknown[],
  more: object = {},
  checkContinue: () => Promise<string | undefined> = async () => undefined,
) {
  const clock = fakeClock()
  const [called, ended]: [unknown[], string[]] = [[], []]
  const left = [...results]
  const door = {
    async call(tool: string, input: unknown, { signal, ...options }: { signal: AbortSignal }) {
      called.push([tool, input, options])
      const result = left.shift()
      if (result !== 'hang') return result as ToolResult
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(failed('aborted', 'It was stopped.') as unknown as ToolResult))
      })
    },
    endRun: async (run: string) => void ended.push(run),
  }
  const stop = new AbortController()
  const calls = results.map((_, index) => ({ tool: `t${index}`, ...(index > 0 && { input: { index } }) }))
  const definition = {
    calls,
    timeoutMs: 5_000,
    continueOnError: false,
    createdBy: { by: 'x', tainted: false },
    ...more,
  }
  const outcome = executeCalls({
    known: { row: { name: 'job' }, definition } as unknown as KnownSchedule,
    rights: { caller: 'x' },
    runId: 'run-1',
    host: { clock, as: () => door as unknown as CallPort },
    signal: stop.signal,
    checkContinue,
  })
  return { outcome, clock, called, ended, stop }
}

describe('the calls of a schedule', () => {
  it('are made in their order, in a run that is ended, and leave no timer behind', async () => {
    const { outcome, clock, called, ended } = executing([ok('one'), ok('two')])
    expect(await outcome).toEqual({ status: 'ok', summary: 'two', untrusted: false })
    const options = { run: 'run-1', purpose: 'schedule job', userText: ['1'] }
    expect(called).toEqual([
      ['t0', {}, options],
      ['t1', { index: 1 }, options],
    ])
    expect([ended, clock.waiting]).toEqual([['run-1'], 0])
  })

  it('pass what a person wrote as user text, and nothing that an agent wrote', async () => {
    const calls = [{ tool: 't', input: { to: ['ann', 'bob'], amount: 5, more: { note: 'hi' }, isUrgent: true } }]
    const textsOf = async (createdBy: object) => {
      const { outcome, called } = executing([ok()], { calls, createdBy })
      await outcome
      return called
        .map((call) => (call as [string, unknown, object])[2])
        .map((options) => 'userText' in options && options.userText)
    }
    expect(await textsOf({ by: 'owner', tainted: false })).toEqual([['ann', 'bob', '5', 'hi']])
    expect(await textsOf({ by: 'owner', tainted: true })).toEqual([false])
    expect(await textsOf({ by: 'agent', callId: 'c', run: 'r', tainted: false })).toEqual([false])
  })

  it('say nothing where the last one says nothing', async () => {
    expect(await executing([ok('one'), ok('')]).outcome).toEqual({ status: 'ok', untrusted: false })
  })

  it('stop at the first that fails, or go on and tell of the first', async () => {
    const results = [ok('one'), failed('denied', 'First.'), failed('error', 'Second.'), ok('last')]
    const first = { status: 'denied', error: 'core/x: POLICY_DENIED First.', untrusted: false }
    const stopping = executing(results)
    expect(await stopping.outcome).toEqual(first)
    expect(stopping.called).toHaveLength(2)
    const going = executing(results, { continueOnError: true })
    expect(await going.outcome).toEqual({ ...first, summary: 'last' })
    expect(going.called).toHaveLength(4)
  })

  it('count as from outside where one of them, or who made the schedule, was there', async () => {
    expect(await executing([ok('', ['untrusted']), ok()]).outcome).toMatchObject({ untrusted: true })
    expect(await executing([ok('', ['other'])]).outcome).toMatchObject({ untrusted: false })
    const tainted = executing([ok()], { createdBy: { by: 'x', tainted: true } })
    expect(await tainted.outcome).toMatchObject({ untrusted: true })
    expect(tainted.called[0]).toMatchObject(['t0', {}, { untrusted: true }])
  })

  it('are asked before each but the first whether they may go on', async () => {
    let asked = 0
    const { outcome, called } = executing([ok('one'), ok('two', ['untrusted']), ok()], {}, async () =>
      ++asked === 2 ? 'Enough.' : undefined,
    )
    expect(await outcome).toEqual({ status: 'aborted', error: 'Enough.', untrusted: true })
    expect(called).toHaveLength(2)
  })

  it('are stopped when their time is over', async () => {
    const { outcome, clock, ended } = executing(['hang'])
    await clock.advance(4_999)
    expect(ended).toEqual([])
    await clock.advance(1)
    expect(await outcome).toEqual({
      ...{ status: 'timeout', error: 'Timed out after 5000 ms.', untrusted: false },
    })
    expect(ended).toEqual(['run-1'])
  })

  it('are stopped with the hub, which is not a timeout', async () => {
    const { outcome, stop } = executing(['hang'])
    stop.abort()
    expect(await outcome).toMatchObject({ status: 'aborted', error: 'core/x: POLICY_DENIED It was stopped.' })
  })

  it('are reported in 500 characters', async () => {
    const whole = await executing([ok('x'.repeat(500))]).outcome
    expect(whole.summary).toBe('x'.repeat(500))
    const cut = await executing([ok('x'.repeat(501))]).outcome
    expect(cut.summary).toBe(`${'x'.repeat(499)}…`)
    expect(failedOutcome(new Error('y'.repeat(501)))).toEqual({ status: 'error', error: `${'y'.repeat(499)}…` })
    expect((await executing([failed('error', 'z'.repeat(500))]).outcome).error).toHaveLength(500)
  })
})
