import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Store } from '../packages/core/src/store.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

const nothing = z.strictObject({})
const ping = defineTool({
  name: 'net.ping',
  description: 'Answers pong, for tests.',
  input: nothing,
  execute: () => 'pong',
})

/** A tool with an effect that can be counted. */
function counter() {
  let count = 0
  const tool = defineTool({
    name: 'count.up',
    description: 'Counts up by one, for tests.',
    input: z.strictObject({ by: z.int().default(1) }),
    capabilities: ['memory'],
    execute: ({ by }) => (count += by),
  })
  return { tool, count: () => count }
}

describe('large arguments', () => {
  const take = defineTool({
    name: 'data.take',
    description: 'Takes any data, for tests.',
    input: z.strictObject({ data: z.unknown(), note: z.string().default('') }),
    execute: () => 'taken',
  })
  const wide = (entries: number) => Object.fromEntries(Array.from({ length: entries }, (_, i) => [`k${i}`, i]))

  it('are refused when they have more keys and elements than the limit', async () => {
    const hub = testHub({ tools: [take] })
    expect(await hub.call(take, { data: wide(49_999) })).toMatchObject({ ok: true })
    expect(await hub.call(take, { data: wide(50_000) })).toMatchObject({
      ok: false,
      error: { code: 'INPUT_SCHEMA_INVALID', fix: { hint: expect.stringContaining('limits.entries') } },
    })
    await hub.close()
    const wider = testHub({ tools: [take], limits: { inputEntries: 50_001 } })
    expect(await wider.call(take, { data: wide(50_000) })).toMatchObject({ ok: true })
    await wider.close()
  })

  it('are on record by their size and their hash only', async () => {
    const hub = testHub({ tools: [take] })
    const records: unknown[] = []
    hub.onRecord(({ event }) => records.push(event))
    await hub.call(take, { data: 'x'.repeat(100), note: 'small' })
    await hub.call(take, { data: 'x'.repeat(3_000) })
    expect(records).toContainEqual(expect.objectContaining({ args: { data: 'x'.repeat(100), note: 'small' } }))
    const large = expect.objectContaining({ argsHash: expect.stringMatching(/^[0-9a-f]{64}$/), argsBytes: 3_011 })
    expect(records).toContainEqual(large)
    expect(JSON.stringify(records)).not.toContain('x'.repeat(3_000))
    await hub.close()
  })

  it('count as several calls in a rate', async () => {
    const hub = testHub({ tools: [take], limits: { rate: { perSecond: 0.001, burst: 12 } } })
    expect(await hub.call(take, { data: 'x'.repeat(1_000_000) })).toMatchObject({ ok: true })
    expect(await hub.call(take, { data: 'x'.repeat(1_000_000) })).toMatchObject({ error: { code: 'RATE_LIMITED' } })
    expect(await hub.call(take, { data: 'x' })).toMatchObject({ ok: true })
    await hub.close()
  })
})

describe('budgets', () => {
  it('tell at three quarters and stop at the limit, naming scope, numbers and the key to raise', async () => {
    const hub = testHub({ tools: [ping], limits: { run: { calls: 4 } } })
    const results = []
    for (let i = 0; i < 5; i++) results.push(await hub.call(ping, {}))
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, true, false])
    expect(results[2]!.meta.notices?.join()).toMatch(/3 of 4|75/)
    expect(results[4]!.error).toMatchObject({ code: 'BUDGET_EXCEEDED', fix: { key: 'limits.run.calls' } })
    expect((await hub.call(ping, {}, { run: 'another' })).ok).toBe(true)
    await hub.close()
  })

  it('tell it after what the tool itself told, to the caller and on record', async () => {
    const telling = defineTool({
      name: 'net.telling',
      description: 'Tells something with its result, for tests.',
      input: nothing,
      execute(_, ctx) {
        ctx.notice('the mirror answered')
        return 'x'.repeat(80)
      },
    })
    const hub = testHub({ tools: [telling], limits: { run: { bytes: 100 } } })
    const { meta } = await hub.call(telling, {})
    expect(meta.notices).toEqual(['the mirror answered', expect.stringMatching(/^This run has used 8\d of 100 bytes/)])
    await hub.endRun(hub.run)
    const ended = (await eventsOf(hub)).filter(({ type }) => type === 'call-ended')
    expect(ended).toMatchObject([{ tool: 'net.telling', notices: meta.notices }])
    await hub.close()
  })

  it('count per session and per tool too, and a call that never ran costs nothing', async () => {
    const { tool } = counter()
    const hub = testHub({
      tools: [ping, tool],
      limits: { session: { calls: 2 }, tools: { 'net.ping': { calls: 1 } } },
      approve: () => ({ decision: 'deny' }),
    })
    for (let i = 0; i < 3; i++) await hub.call(tool, {}, { session: 's' })
    expect((await hub.call(ping, {}, { session: 's' })).ok).toBe(true)
    expect((await hub.call(ping, {}, { session: 's' })).error?.code).toBe('BUDGET_EXCEEDED')
    await hub.close()
  })

  it.each([
    ['limits.run.time', { run: { wallMs: 500 }, session: { wallMs: 501 } }],
    ['limits.session.time', { run: { wallMs: 501 }, session: { wallMs: 500 } }],
    ['limits.tools["net.slow"].time', { run: { wallMs: 501 }, tools: { 'net.slow': { wallMs: 500 } } }],
  ])('of wall time bound the call that would overrun %s, and name it', async (key, limits) => {
    const clock = fakeClock()
    const slow = defineTool({
      name: 'net.slow',
      description: 'Never comes back, for tests.',
      input: nothing,
      execute: () => new Promise<string>(() => {}),
    })
    const hub = testHub({ tools: [slow], clock, limits })
    const call = hub.call(slow, {}, { session: 's' })
    await clock.advance(500)
    await clock.advance(1_000)
    expect((await call).error).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: `net.slow used up the 500 ms that were left of the time budget (${key}).`,
      fix: { key },
    })
    await hub.close()
  })

  it('of time stand still while a person is asked about a call that the tool makes', async () => {
    const clock = fakeClock()
    let answer: ((reply: { decision: 'allow' }) => void) | undefined
    const worker = defineTool({
      name: 'net.worker',
      description: 'Calls a tool that asks, then another that never answers, for tests.',
      input: nothing,
      execute: async (_, ctx) => {
        const { ok } = await ctx.call('count.up', { by: 3 })
        done.push(ok)
        return new Promise<string>(() => {})
      },
    })
    const done: boolean[] = []
    const { tool, count } = counter()
    const hub = testHub({
      tools: [worker, tool],
      clock,
      policy: [{ ask: 'count.up' }, { allow: '*' }],
      limits: { timeoutMs: 1_000 },
      approve: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    })
    const call = hub.call(worker, {})
    await expect.poll(() => answer).toBeDefined()
    await clock.advance(5_000)
    answer!({ decision: 'allow' })
    await expect.poll(() => done).toEqual([true])
    expect(count()).toBe(3)
    await clock.advance(1_000)
    await clock.advance(5_000)
    expect((await call).error?.code).toBe('TIMEOUT')
    await hub.close()
  })
})

describe('rate and concurrency', () => {
  it('refuses what comes too fast, says how long to wait, and lets it through later', async () => {
    const clock = fakeClock()
    const hub = testHub({ tools: [ping], clock, limits: { rate: { perSecond: 1, burst: 2 } } })
    const codes = []
    for (let i = 0; i < 3; i++) codes.push((await hub.call(ping, {})).error?.code)
    expect(codes).toEqual([undefined, undefined, 'RATE_LIMITED'])
    await clock.advance(1_000)
    expect((await hub.call(ping, {})).ok).toBe(true)
    await hub.close()
  })

  it('never runs more concurrently than the owner allows, and keeps the order of results', async () => {
    let running = 0
    let most = 0
    const tool = defineTool({
      name: 'net.busy',
      description: 'Counts how many run concurrently, for tests.',
      input: z.strictObject({ n: z.int() }),
      async execute({ n }) {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return n
      },
    })
    const hub = testHub({ tools: [tool], limits: { concurrency: 8, tools: { 'net.busy': { concurrency: 3 } } } })
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => hub.call(tool, { n })))
    expect(results.map(({ data }) => data)).toEqual(Array.from({ length: 50 }, (_, n) => n))
    expect(most).toBe(3)
    await hub.close()
  })
})

describe('the circuit breaker', () => {
  const flaky = (code: 'UPSTREAM_ERROR' | 'NOT_FOUND') =>
    defineTool({
      name: 'net.flaky',
      description: 'Fails as its input says, for tests.',
      input: z.strictObject({ n: z.int() }),
      execute({ n }): number {
        if (n >= 0) throw new ToolError(code, `failure ${n}`)
        return n
      },
    })

  it('pauses a tool that keeps failing, and tries it again after a while', async () => {
    const clock = fakeClock()
    const tool = flaky('UPSTREAM_ERROR')
    const hub = testHub({ tools: [tool], clock })
    for (let n = 0; n < 5; n++) await hub.call(tool, { n })
    expect((await hub.call(tool, { n: -1 })).error).toMatchObject({ code: 'CIRCUIT_OPEN', retryable: true })
    await clock.advance(30_000)
    expect((await hub.call(tool, { n: -1 })).ok).toBe(true)
    await hub.close()
  })

  it('lets another call try when the one that was to try never ran', async () => {
    const clock = fakeClock()
    const tool = flaky('UPSTREAM_ERROR')
    const answers = ['allow', 'allow', 'allow', 'allow', 'allow', 'deny', 'allow'] as const
    let asked = 0
    const approve = () => ({ decision: answers[asked++]! })
    const hub = testHub({ tools: [tool], clock, policy: [{ ask: 'net.flaky' }], approve })
    for (let n = 0; n < 5; n++) await hub.call(tool, { n })
    await clock.advance(30_000)
    expect((await hub.call(tool, { n: -1 })).error?.code).toBe('APPROVAL_DENIED')
    expect(await hub.call(tool, { n: -1 })).toMatchObject({ ok: true })
    await hub.close()
  })

  it('pauses only what the failures are about, where a tool says that', async () => {
    const tool = { ...flaky('UPSTREAM_ERROR'), circuit: (_: unknown, run: string) => run }
    const hub = testHub({ tools: [tool] })
    for (let n = 0; n < 5; n++) await hub.call(tool, { n }, { run: 'broken' })
    const paused = await hub.call(tool, { n: -1 }, { run: 'broken' })
    expect(paused.error).toMatchObject({ code: 'CIRCUIT_OPEN', message: expect.stringContaining('net.flaky (broken)') })
    expect((await hub.call(tool, { n: -1 }, { run: 'fine' })).ok).toBe(true)
    await hub.close()
  })

  it('does not count what the caller is to blame for', async () => {
    const tool = flaky('NOT_FOUND')
    const hub = testHub({ tools: [tool] })
    for (let n = 0; n < 20; n++) await hub.call(tool, { n })
    expect((await hub.call(tool, { n: -1 })).ok).toBe(true)
    await hub.close()
  })
})

describe('idempotency', () => {
  it('gives one effect for one key, joins a call under way, and refuses other arguments', async () => {
    const { tool, count } = counter()
    const hub = testHub({ tools: [tool] })
    const key = { idempotencyKey: 'once' }
    const [first, second] = await Promise.all([hub.call(tool, {}, key), hub.call(tool, {}, key)])
    const third = await hub.call(tool, {}, key)
    expect([first.data, second.data, third.data]).toEqual([1, 1, 1])
    expect([second.meta.cached, third.meta.cached]).toEqual([true, true])
    expect(new Set([first.callId, second.callId, third.callId]).size).toBe(3)
    expect(count()).toBe(1)
    expect((await hub.call(tool, { by: 2 }, key)).error?.code).toBe('CONFLICT')
    await hub.close()
  })

  it('forgets the key of a call that was stopped while the store looked it up', async () => {
    const { tool, count } = counter()
    const store = createMemoryStore()
    const { keys } = store
    let begin = () => {}
    let answer = () => {}
    const looking = new Promise<void>((resolve) => (begin = resolve))
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const slowKeys: Store['keys'] = {
      async look(key) {
        begin()
        await answered
        return keys.look(key)
      },
      claim: (key, claim) => keys.claim(key, claim),
      finish: (key, end) => keys.finish(key, end),
      release: (key, owner) => keys.release(key, owner),
    }
    const hub = testHub({ tools: [tool], store: { ...store, keys: slowKeys } })
    const stopper = new AbortController()
    const stopped = hub.call(tool, {}, { idempotencyKey: 'once', signal: stopper.signal })
    await looking
    stopper.abort()
    expect((await stopped).error?.code).toBe('ABORTED')
    const again = hub.call(tool, {}, { idempotencyKey: 'once' })
    answer()
    expect((await again).data).toBe(1)
    expect(count()).toBe(1)
    await hub.close()
  })

  it('makes a key of request, task, tool and arguments when the caller names both', async () => {
    const { tool, count } = counter()
    const hub = testHub({ tools: [tool] })
    const task = { requestId: 'r1', taskId: 't1' }
    await hub.call(tool, {}, task)
    await hub.call(tool, {}, task)
    await hub.call(tool, { by: 10 }, task)
    await hub.call(tool, {}, { ...task, taskId: 't2' })
    await hub.call(tool, {})
    expect(count()).toBe(13)
    await hub.close()
  })

  it('forgets a key whose call never ran, so that it can be tried again', async () => {
    const { tool, count } = counter()
    let answer: 'allow' | 'deny' = 'deny'
    const hub = testHub({ tools: [tool], approve: () => ({ decision: answer }) })
    expect((await hub.call(tool, {}, { idempotencyKey: 'k' })).status).toBe('denied')
    answer = 'allow'
    expect((await hub.call(tool, {}, { idempotencyKey: 'k' })).ok).toBe(true)
    expect(count()).toBe(1)
    await hub.close()
  })
})

describe('loops', () => {
  it('of the same failing call are warned about, then stopped', async () => {
    const tool = defineTool({
      name: 'net.lost',
      description: 'Never finds anything, for tests.',
      input: z.strictObject({ what: z.string() }),
      execute({ what }): string {
        throw new ToolError('NOT_FOUND', `No ${what} here.`)
      },
    })
    const hub = testHub({ tools: [tool] })
    const results = []
    for (let i = 0; i < 6; i++) results.push(await hub.call(tool, { what: 'key' }))
    expect(results[2]!.meta.notices?.length).toBe(1)
    expect(results[5]!.error?.code).toBe('LOOP_DETECTED')
    expect((await hub.call(tool, { what: 'other' })).error?.code).toBe('NOT_FOUND')
    await hub.close()
  })
})

describe('overflow', () => {
  const big = (overflow?: 'head' | 'tail' | 'middle' | 'artifact') =>
    defineTool({
      name: 'text.big',
      description: 'Gives a long text, for tests.',
      input: nothing,
      overflow,
      execute: () => `BEGIN${'.'.repeat(50_000)}END`,
    })

  it('cuts the middle at 30,000 characters, says how many were cut, and keeps the whole as an artifact', async () => {
    const tool = big()
    const hub = testHub({ tools: [tool] })
    const result = await hub.call(tool, {})
    const [block] = result.content
    const text = block?.type === 'text' ? block.text : ''
    expect(text.length).toBeLessThanOrEqual(30_000)
    expect(text).toMatch(/^BEGIN.*END$/s)
    const { cutChars, artifact } = result.meta.truncated!
    expect(text).toContain(`${cutChars!.toLocaleString('en-US')} characters cut`)
    expect(Buffer.from(await hub.artifact(artifact!)).toString()).toBe(result.data)
    expect(result.artifacts.map(({ ref }) => ref)).toEqual([artifact])
    await hub.close()
  })

  it('keeps the head, the tail or only a reference when the tool says so', async () => {
    const texts: Record<string, string> = {}
    for (const mode of ['head', 'tail', 'artifact'] as const) {
      const tool = big(mode)
      const hub = testHub({ tools: [tool], limits: { outputChars: 5_000 } })
      const [block] = (await hub.call(tool, {})).content
      texts[mode] = block?.type === 'text' ? block.text : ''
      await hub.close()
    }
    expect(texts.head).toMatch(/^BEGIN/)
    expect(texts.tail).toMatch(/END$/)
    expect(texts.artifact?.length).toBeLessThanOrEqual(1_000)
    expect(texts.artifact).toContain('artifact:')
  })
})
