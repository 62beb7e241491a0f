import { type ErrorCode, ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { decidedCall, validCall } from '../../../../../test/support/call-stages.ts'
import type { ToolResult } from '../../../../core/src/call.ts'
import type { RateStore } from '../../../../core/src/store.ts'
import { type AnyTool, type Capability, defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { BudgetLedger } from '../../limits/budget.ts'
import { Breakers, LoopDetector } from '../../limits/failures.ts'
import { Idempotency } from '../../limits/idempotency.ts'
import { RateLimiter } from '../../limits/throughput.ts'
import type { Runtime } from '../runtime.ts'
import { Call, type DecidedCall } from './call.ts'
import { claimKey, keyOf, releaseLimits, takeLimits } from './limits.ts'
import { registerable } from './registered-tool.ts'
import type { Settled } from './settle.ts'

/** The limits of a hub: two failures until a pause, three equal ones until a loop, four concurrent calls, a cost of ten. */
function world({ principal, isSlow = false }: { readonly principal?: string; readonly isSlow?: boolean } = {}) {
  const clock = fakeClock()
  const { rates, budgets, keys } = createMemoryStore()
  const slowRates: RateStore = { ...rates, take: async (...args) => rates.take(...args) }
  const runtime = {
    identity: { principal },
    clock,
    limits: {
      breakers: new Breakers({ failures: 2, coolDownMs: 1_000 }, clock),
      loops: new LoopDetector({ warnAt: 2, stopAt: 3 }),
      rate: new RateLimiter({ all: { perSecond: 1, burst: 4 } }, isSlow ? slowRates : rates, clock),
      budget: new BudgetLedger({ run: { cost: 10 } }, budgets, clock),
      idempotency: new Idempotency<ToolResult>(keys, clock),
    },
  } as unknown as Runtime
  return { clock, runtime }
}

let calls = 0
function callOf({
  run = 'r',
  key = undefined as string | undefined,
  capabilities = ['memory'] as Capability[],
  more = {},
} = {}) {
  const options = { ...(key !== undefined && { idempotencyKey: key }), ...more }
  const call = new Call({ id: `call-${++calls}`, run, wire: 'x.y', caller: 'c', options, input: { a: 1 } })
  const tool = defineTool({ name: 'x.y', description: 'x', input: {}, capabilities, costUnits: 3, execute: () => 1 })
  return decidedCall(call, registerable(tool as AnyTool, 'caller'))
}

const executed = (call: DecidedCall) => {
  call.call.execution = { enteredMark: performance.now(), waitedMs: 0 } as never
  call.call.limits.reservation ??= { notices: [], wallMs: 0, settle: () => [], release: () => {} }
  return call
}

function ended(code?: ErrorCode, data?: unknown): Settled {
  const error = code && { code, message: 'it failed' }
  return { result: { ok: code === undefined, callId: 'first', data, error, meta: { attempts: 1 } } as never, bytes: 5 }
}

describe('the key of a call', () => {
  it.each<[string, Parameters<typeof callOf>[0], RegExp | undefined]>([
    ['the caller’s own', { key: 'own', more: { requestId: 'q', taskId: 't' } }, /^own$/],
    ['the caller’s own, also of a tool without effects', { key: '', capabilities: [] }, /^$/],
    ['made of request and task', { more: { requestId: 'q', taskId: 't' } }, /^auto:[0-9a-f]{64}$/],
    ['made of the name of a call that may be sent again', { more: { repeatKey: 'c-1' } }, /^auto:[0-9a-f]{64}$/],
    [
      'none of that name for a tool that only reads',
      { capabilities: ['read:fs'], more: { repeatKey: 'c-1' } },
      undefined,
    ],
    ['none without a request', { more: { taskId: 't' } }, undefined],
    ['none without a task', { more: { requestId: 'q' } }, undefined],
    [
      'none for a tool that only reads',
      { capabilities: ['read:fs'], more: { requestId: 'q', taskId: 't' } },
      undefined,
    ],
  ])('is %s', (_, options, key) => {
    const made = keyOf(callOf(options).call)
    if (key === undefined) expect(made).toBeUndefined()
    else expect(made).toMatch(key)
  })

  it('is another one for another request, task or argument', () => {
    const keys = [
      callOf({ more: { requestId: 'q', taskId: 't' } }),
      callOf({ more: { requestId: 'q', taskId: 'u' } }),
      callOf({ more: { requestId: 'p', taskId: 't' } }),
    ]
    const other = callOf({ more: { requestId: 'q', taskId: 't' } })
    other.call.replaceInput({ a: 2 })
    validCall(other.call, other.tool)
    expect(new Set([...keys, other].map(({ call }) => keyOf(call))).size).toBe(4)
    expect(keyOf(callOf({ more: { requestId: 'q', taskId: 't' } }).call)).toBe(keyOf(keys[0]!.call))
  })
})

describe('a call with a key', () => {
  /** What a second call with the same key gets after the first one ended so; `undefined` if it is to be executed. */
  async function again(
    first: DecidedCall,
    settled: Settled,
    second: DecidedCall = callOf({ key: 'k' }),
    principal?: string,
  ) {
    const { runtime } = world({ principal })
    expect(await claimKey(runtime, first)).toBeUndefined()
    await first.call.limits.key!.begin()
    await releaseLimits(runtime, first.call, settled)
    return claimKey(runtime, second)
  }

  it('is new once, and its result is that of the same call, made again, under the id of that', async () => {
    const second = callOf({ key: 'k' })
    const settled = ended(undefined, { n: 1 })
    const known = await again(executed(callOf({ key: 'k' })), settled, second)
    expect(known).toEqual({
      result: { ...settled.result, callId: second.call.id, meta: { attempts: 1, cached: true } },
      bytes: 0,
    })
    expect(second.call.limits.key).toBeUndefined()
    expect(claimKey(world().runtime, callOf())).toBeUndefined()
  })

  it('gives a failure again only where it may have had an effect', async () => {
    const failure = ended('UPSTREAM_ERROR')
    expect((await again(executed(callOf({ key: 'k' })), failure))?.result.error?.code).toBe('UPSTREAM_ERROR')
    const reading = () => callOf({ key: 'k', capabilities: ['read:fs'] })
    expect(await again(executed(reading()), failure, reading())).toBeUndefined()
    expect((await again(executed(reading()), ended(), reading()))?.result.ok).toBe(true)
    expect(await again(callOf({ key: 'k' }), failure)).toBeUndefined()
  })

  it('belongs to its run, or to its principal in every run', async () => {
    const other = () => callOf({ key: 'k', run: 'other' })
    expect(await again(executed(callOf({ key: 'k' })), ended(), other())).toBeUndefined()
    expect((await again(executed(callOf({ key: 'k' })), ended(), other(), 'token:ci'))?.result.ok).toBe(true)
  })

  it('waits for the same call that is under way, and is executed itself when that was not', async () => {
    const { runtime } = world()
    for (const [first, isKnown] of [
      [executed(callOf({ key: 'k' })), true],
      [callOf({ key: 'l' }), false],
    ] as const) {
      await claimKey(runtime, first)
      const second = callOf({ key: keyOf(first.call) })
      const waiting = claimKey(runtime, second)!
      await releaseLimits(runtime, first.call, ended())
      expect((await waiting) !== undefined).toBe(isKnown)
      expect(second.call.limits.key !== undefined).toBe(!isKnown)
    }
  })

  it('is not waited for past an abort', async () => {
    const { runtime } = world()
    await claimKey(runtime, callOf({ key: 'k' }))
    const second = callOf({ key: 'k' })
    const waiting = claimKey(runtime, second)
    await new Promise(setImmediate)
    second.call.abort(new ToolError('ABORTED', 'stopped'))
    await expect(waiting).rejects.toThrow('stopped')
  })
})

describe('a call that takes its limits', () => {
  it.each([false, true])('is counted with its cost and its size, where the store is slow: %s', async (isSlow) => {
    const { runtime } = world({ isSlow })
    const take = async (inputBytes = 0) => {
      const call = callOf()
      call.call.inputBytes = inputBytes
      await takeLimits(runtime, call)
      return call
    }
    const first = await take()
    expect(first.call.limits.reservation).toBeDefined()
    expect(first.call.report.notices).toEqual([])
    await take()
    const third = await take()
    expect(third.call.report.notices).toEqual([expect.stringContaining('9 of 10')])
    await expect(take()).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await expect(take()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })

  it('counts large arguments as more calls', async () => {
    const { runtime } = world()
    const call = callOf()
    call.call.inputBytes = 400_000
    await takeLimits(runtime, call)
    expect(() => takeLimits(runtime, callOf())).toThrow(expect.objectContaining({ code: 'RATE_LIMITED' }))
  })

  it('that never runs gives its cost back', async () => {
    const { clock, runtime } = world()
    for (let n = 0; n < 8; n++) {
      await clock.advance(1_000)
      const call = callOf()
      await takeLimits(runtime, call)
      await releaseLimits(runtime, call.call, ended('ABORTED'))
    }
  })

  it('costs nothing where its tool says no cost', async () => {
    const { clock, runtime } = world()
    for (let n = 0; n < 12; n++) {
      await clock.advance(1_000)
      const { call, tool } = callOf()
      const free = registerable({ ...tool.tool, costUnits: undefined } as AnyTool, 'caller')
      await takeLimits(runtime, decidedCall(call, free))
    }
  })

  it('is refused while its tool is paused, before anything is counted', async () => {
    const { runtime } = world()
    for (let n = 0; n < 2; n++) runtime.limits.breakers.record('x.y', 'failed', false)
    for (let n = 0; n < 6; n++) expect(() => takeLimits(runtime, callOf())).toThrow(/paused/)
  })
})

describe('a call that is over', () => {
  it('frees its place', async () => {
    const { runtime } = world()
    let isFree = false
    const call = callOf()
    call.call.limits.release = () => {
      isFree = true
    }
    await releaseLimits(runtime, call.call, ended())
    expect(isFree).toBe(true)
  })

  it.each<[ErrorCode | undefined, unknown, boolean]>([
    ['UPSTREAM_ERROR', undefined, true],
    // A command that failed has told something: its tool works.
    ['UPSTREAM_ERROR', { exitCode: 1 }, false],
    ['NOT_FOUND', undefined, false],
    [undefined, 'fine', false],
  ])('with %s and data %j: pauses its tool after two: %s', async (code, data, isPaused) => {
    const { runtime } = world()
    for (let n = 0; n < 2; n++) await releaseLimits(runtime, executed(callOf()).call, ended(code, data))
    if (isPaused) expect(() => runtime.limits.breakers.refusePaused('x.y')).toThrow(/paused/)
    else runtime.limits.breakers.refusePaused('x.y')
  })

  it('and was to try a paused tool lets another one try when it never ran', async () => {
    const { clock, runtime } = world()
    for (let n = 0; n < 2; n++) runtime.limits.breakers.record('x.y', 'failed', false)
    await clock.advance(1_000)
    const probe = callOf()
    probe.call.limits.isProbe = runtime.limits.breakers.check('x.y')
    expect(probe.call.limits.isProbe).toBe(true)
    await releaseLimits(runtime, callOf().call, ended('CIRCUIT_OPEN'))
    expect(() => runtime.limits.breakers.refusePaused('x.y')).toThrow(/another call is trying/)
    await releaseLimits(runtime, probe.call, ended('ABORTED'))
    runtime.limits.breakers.refusePaused('x.y')
  })

  it('after the pause of its tool began does not end it', async () => {
    const { runtime } = world()
    const early = executed(callOf())
    for (let n = 0; n < 2; n++) runtime.limits.breakers.record('x.y', 'failed', false)
    await releaseLimits(runtime, early.call, ended())
    expect(() => runtime.limits.breakers.refusePaused('x.y')).toThrow(/paused/)
  })

  it('warns of a loop, which the next call is refused for; one that never ran does not count', async () => {
    const { runtime } = world()
    const fail = async (call: Call) => releaseLimits(runtime, call, ended('NOT_FOUND'))
    expect(await fail(callOf().call)).toEqual([])
    expect(await fail(executed(callOf()).call)).toEqual([])
    expect(await fail(executed(callOf()).call)).toEqual([expect.stringContaining('x.y failed the same way 2 times')])
    await fail(executed(callOf()).call)
    expect(() => takeLimits(runtime, callOf())).toThrow(expect.objectContaining({ code: 'LOOP_DETECTED' }))
    await releaseLimits(runtime, executed(callOf()).call, ended())
    await takeLimits(runtime, callOf())
  })

  it('counts another failure of the same call as another one', async () => {
    const { runtime } = world()
    await releaseLimits(runtime, executed(callOf()).call, ended('NOT_FOUND'))
    expect(await releaseLimits(runtime, executed(callOf()).call, ended('CONFLICT'))).toEqual([])
  })

  it.each(['immediately', 'late'])('reports that the store fails %s, for its key and for its budget', async (when) => {
    const broken = (what: string) => () => {
      if (when === 'late') return Promise.reject(new Error(`no ${what}`))
      throw new Error(`no ${what}`)
    }
    const text = (what: string) => `The usage of this call could not be stored: no ${what}`
    const { runtime } = world()
    const call = callOf()
    call.call.limits.key = { begin: () => {}, finish: broken('key') }
    call.call.limits.reservation = {
      notices: [],
      wallMs: 0,
      settle: broken('settled'),
      release: broken('released'),
    } as never
    expect(await releaseLimits(runtime, call.call, ended())).toEqual([text('key'), text('released')])
    expect(await releaseLimits(runtime, executed(call).call, ended())).toEqual([text('key'), text('settled')])
    call.call.limits.key = undefined
    expect(await releaseLimits(runtime, call.call, ended())).toEqual([text('settled')])
  })

  it('gives the loop as its last notice, and counts no time that a person took', async () => {
    const { runtime } = world()
    const spent: { wallMs: number; bytes: number }[] = []
    const notices = async (call: Call) => {
      const settle = (used: { wallMs: number; bytes: number }) => {
        spent.push(used)
        return ['three quarters are used']
      }
      call.limits.reservation = { notices: [], wallMs: 0, settle, release: () => {} } as never
      return releaseLimits(runtime, call, ended('NOT_FOUND'))
    }
    const first = executed(callOf())
    first.call.execution = { enteredMark: performance.now() - 60_000, waitedMs: 50_000 } as never
    expect(await notices(first.call)).toEqual(['three quarters are used'])
    const second = executed(callOf())
    second.call.execution = { enteredMark: performance.now(), waitedMs: 60_000 } as never
    expect(await notices(second.call)).toEqual(['three quarters are used', expect.stringContaining('2 times')])
    expect(spent.map(({ bytes }) => bytes)).toEqual([5, 5])
    expect(spent[0]!.wallMs).toBeGreaterThanOrEqual(10_000)
    expect(spent[0]!.wallMs).toBeLessThan(50_000)
    expect(spent[1]!.wallMs).toBe(0)
  })
})
