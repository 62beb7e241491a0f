import { ToolError } from '@tool-hub/core/errors'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../test/support/events-of.ts'
import type { CallEvent } from '../../../core/src/events.ts'
import { type Context, defineTool } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'

const open: TestHub[] = []
const hubOf: typeof testHub = (options) => {
  const hub = testHub(options)
  open.push(hub as TestHub)
  return hub
}
afterEach(async () => {
  for (const hub of open.splice(0)) await hub.close({ abort: true })
})

const shout = defineTool({
  name: 'text.shout',
  description: 'Write a text in capitals, for tests.',
  input: z.strictObject({ text: z.string(), times: z.int().default(1) }),
  output: z.strictObject({ text: z.string() }),
  execute: ({ text, times }) => ({ text: text.toUpperCase().repeat(times) }),
})

describe('the road of a call', () => {
  it('gives data, content for a model, evidence and the rule that decided', async () => {
    const hub = hubOf({ tools: [shout] })
    const result = await hub.call(shout, { text: 'hi' })
    expect(result).toMatchObject({ ok: true, status: 'ok', tool: 'text.shout', data: { text: 'HI' } })
    expect(result.content).toEqual([{ type: 'text', text: '{"text":"HI"}' }])
    expect(result.evidence).toEqual([
      { type: 'tool', ref: result.callId, summary: 'text.shout: returned an object with text' },
    ])
    expect(result.meta.rule).toContain('pure tool')
  })

  it('fills defaults itself and refuses what does not fit, with the key and the nearest name', async () => {
    const hub = hubOf({ tools: [shout] })
    expect((await hub.callDynamic('text.shout', { text: 'a', times: 3 })).data).toEqual({ text: 'AAA' })
    const wrong = await hub.callDynamic('text.shout', { txt: 'a' })
    expect(wrong.error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect(wrong.error?.message).toContain('text')
    const typo = await hub.callDynamic('text.shuot', { text: 'a' })
    expect(typo.error).toMatchObject({ code: 'TOOL_NOT_FOUND', fix: { hint: expect.stringContaining('text.shout') } })
  })

  it('takes the same tool by value, by canonical and by wire name', async () => {
    const hub = hubOf({ tools: [shout] })
    for (const name of ['text.shout', 'text_shout']) {
      expect((await hub.callDynamic(name, { text: 'x' })).tool).toBe('text.shout')
    }
    const stranger = defineTool({ ...shout, execute: () => ({ text: 'stranger' }) } as never)
    expect((await hub.call(stranger, { text: 'x' } as never)).error?.code).toBe('TOOL_NOT_FOUND')
  })

  it('translates a dialect at the first step: policy and records see the canonical call', async () => {
    const tool = defineTool({
      ...shout,
      dialects: {
        coding: {
          name: 'loud',
          input: z.strictObject({ say: z.string() }),
          toInput: ({ say }: { say: string }) => ({ text: say }),
          toModel: ({ text }: { text: string }) => `LOUD ${text}`,
        },
      },
    } as never)
    const hub = hubOf({ tools: [tool], policy: [{ deny: 'text.shout', when: { caller: 'script' } }] })
    const result = await hub.callDynamic('loud', { say: 'a' })
    expect(result.content).toEqual([{ type: 'text', text: 'LOUD A' }])
    expect((await hub.callDynamic('loud', { text: 'a' })).error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect((await hub.callDynamic('loud', { say: 'a' }, { callerKind: 'script' })).status).toBe('denied')
    const ended = (await eventsOf(hub)).find(({ type }) => type === 'call-ended')
    expect(ended).toMatchObject({ tool: 'text.shout', wire: 'loud', args: { text: 'a', times: 1 } })
  })

  it('streams its events in order and ends with the result exactly once', async () => {
    const slow = defineTool({
      name: 'text.slow',
      description: 'Tell how far it is, for tests.',
      input: z.strictObject({}),
      async execute(_, ctx) {
        ctx.progress('half')
        await Promise.resolve()
        ctx.progress('done')
        return 'ok'
      },
    })
    const hub = hubOf({ tools: [slow] })
    const events: CallEvent[] = []
    for await (const event of hub.stream(slow, {})) events.push(event)
    expect(events.map(({ type }) => type)).toEqual(['call-started', 'call-progressed', 'call-progressed', 'call-ended'])
  })

  it('stops the call of a reader who stops reading', async () => {
    let stopped = false
    const endless = defineTool({
      name: 'text.endless',
      description: 'Runs until it is stopped, for tests.',
      input: z.strictObject({}),
      execute: (_, ctx) =>
        new Promise((_, reject) => {
          ctx.signal.addEventListener('abort', () => {
            stopped = true
            reject(ctx.signal.reason)
          })
          ctx.progress('on my way')
        }),
    })
    const hub = hubOf({ tools: [endless] })
    for await (const event of hub.stream(endless, {})) if (event.type === 'call-progressed') break
    await hub.close()
    expect(stopped).toBe(true)
  })

  it('lets a tool call another one under its own run, and records who was the parent', async () => {
    const outer = defineTool({
      name: 'text.outer',
      description: 'Calls another tool, for tests.',
      input: z.strictObject({}),
      async execute(_, ctx) {
        const inner = await ctx.call(shout, { text: 'in' })
        return inner.ok ? inner.data.text : inner.error.code
      },
    })
    const hub = hubOf({ tools: [shout, outer] })
    const result = await hub.call(outer, {})
    expect(result.data).toBe('IN')
    const inner = (await eventsOf(hub)).find((event) => event.type === 'call-ended' && event.tool === 'text.shout')
    expect(inner).toMatchObject({ parent: result.callId })
  })
})

describe('the one end of a call', () => {
  const nothing = z.strictObject({})
  const hanging = defineTool({
    name: 'text.hang',
    description: 'Never settles and ignores its signal, for tests.',
    input: nothing,
    timeoutMs: 100,
    execute: () => new Promise<string>(() => {}),
  })

  it('comes after the time limit of the name that was called, where it has one of its own', async () => {
    const clock = fakeClock()
    const quick = { ...hanging, dialects: { quick: { name: 'hang_briefly', timeoutMs: 40 } } }
    const call = hubOf({ tools: [quick], clock }).callDynamic('hang_briefly', {})
    await clock.advance(40)
    await clock.advance(1_000)
    expect((await call).error?.message).toBe('text.hang did not finish within 40 ms.')
  })

  it('comes after the time limit and the grace, for a tool that ignores its signal', async () => {
    const clock = fakeClock()
    const hub = hubOf({ tools: [hanging], clock })
    const call = hub.call(hanging, {})
    await clock.advance(100)
    await clock.advance(1_000)
    const result = await call
    expect(result).toMatchObject({
      ok: false,
      status: 'timeout',
      error: { code: 'TIMEOUT' },
      meta: { abandoned: true },
    })
    expect(await endsOf(hub)).toEqual([[result.callId, 'timeout']])
  })

  it('records what an abandoned tool did after all', async () => {
    let finish: (text: string) => void = () => {}
    const late = defineTool({
      ...hanging,
      name: 'text.late',
      execute: () => new Promise<string>((resolve) => (finish = resolve)),
    } as never)
    const clock = fakeClock()
    const hub = hubOf({ tools: [late], clock })
    const call = hub.callDynamic('text.late', {})
    await clock.advance(2_000)
    const result = await call
    finish('too late')
    await clock.advance(0)
    expect((await eventsOf(hub)).at(-1)).toMatchObject({ type: 'call-late', callId: result.callId, ok: true })
    expect(await endsOf(hub)).toHaveLength(1)
  })

  it('comes immediately when the caller has stopped already, and the tool never starts', async () => {
    let started = false
    const execute = () => {
      started = true
      return { text: '' }
    }
    const tool = defineTool({ ...shout, execute } as never)
    const hub = hubOf({ tools: [tool] })
    const result = await hub.callDynamic('text.shout', { text: 'x' }, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ status: 'aborted', error: { code: 'ABORTED' } })
    expect(started).toBe(false)
  })

  it('is aborted when the caller stops, and the tool hears it through its signal', async () => {
    const controller = new AbortController()
    const tool = defineTool({
      name: 'text.wait',
      description: 'Waits for its signal, for tests.',
      input: nothing,
      execute: (_, ctx) =>
        new Promise<never>((_, reject) => {
          ctx.signal.addEventListener('abort', () => reject(new Error('heard it')))
          controller.abort()
        }),
    })
    const hub = hubOf({ tools: [tool] })
    const result = await hub.call(tool, {}, { signal: controller.signal })
    expect(result.status).toBe('aborted')
    expect(await endsOf(hub)).toEqual([[result.callId, 'aborted']])
  })

  it('keeps a thrown error of ours, and hides a defect behind a call id with the stack in the audit', async () => {
    const failing = defineTool({
      name: 'text.fail',
      description: 'Fails as its input says, for tests.',
      input: z.strictObject({ how: z.enum(['ours', 'error', 'text']) }),
      execute({ how }): string {
        if (how === 'ours') throw new ToolError('NOT_FOUND', 'No such note.', { hint: 'List the notes.' })
        if (how === 'text') throw 'a text'
        throw new Error('No customer 7.')
      },
    })
    const hub = hubOf({ tools: [failing] })
    const ours = await hub.call(failing, { how: 'ours' })
    expect(ours.error).toEqual({
      code: 'NOT_FOUND',
      message: 'No such note.',
      retryable: false,
      fix: { hint: 'List the notes.' },
    })
    for (const [how, message] of [
      ['error', 'No customer 7.'],
      ['text', 'a text'],
    ] as const) {
      const failed = await hub.call(failing, { how })
      expect(failed.error).toMatchObject({ code: 'TOOL_FAILED', message })
      expect(JSON.stringify(failed)).not.toContain('pipeline.test')
    }
    const recorded = (await eventsOf(hub)).filter(({ type }) => type === 'call-ended')
    expect(recorded[1]).toMatchObject({ error: { stack: expect.stringContaining('pipeline.test') } })
  })

  it('retries only where the tool says it is safe, only what is worth it, and says how often', async () => {
    let tries = 0
    const flaky = defineTool({
      name: 'text.flaky',
      description: 'Works at the third attempt, for tests.',
      input: nothing,
      retry: { attempts: 3, baseMs: 10 },
      execute() {
        if (++tries < 3) throw new ToolError('UPSTREAM_ERROR', 'Not yet.')
        return 'there'
      },
    })
    const clock = fakeClock()
    const hub = hubOf({ tools: [flaky], clock })
    const call = hub.call(flaky, {})
    await clock.advance(60_000)
    expect(await call).toMatchObject({ ok: true, data: 'there', meta: { attempts: 3 } })
  })

  it('is the end of all rights: a context that a tool kept does nothing any more', async () => {
    let kept: Context<'read:fs' | 'write:fs' | 'network'> | undefined
    const keeper = defineTool({
      name: 'text.keep',
      description: 'Keeps its context, for tests.',
      input: nothing,
      capabilities: ['read:fs', 'write:fs', 'network'],
      execute(_, ctx) {
        kept = ctx
        return 'done'
      },
    })
    const hub = hubOf({ tools: [keeper, shout] })
    const result = await hub.call(keeper, {})
    expect(result.ok).toBe(true)
    expect(kept?.signal.aborted).toBe(true)
    const late = [
      () => kept?.fs.writeText('late.md', 'x'),
      () => kept?.fs.readText('late.md'),
      () => kept?.fetch('http://127.0.0.1/'),
      () => kept?.call(shout, { text: 'x' }),
      () => kept?.artifact('x'),
      async () => kept?.evidence({ type: 'text', ref: 'x', summary: 'x' }),
    ]
    for (const act of late)
      await expect(act()).rejects.toMatchObject({ code: expect.stringMatching(/ABORTED|HTTP_DISALLOWED_HOST/) })
    expect(result.evidence).toHaveLength(1)
  })

  it('does not start anything after close, and says so', async () => {
    const hub = testHub({ tools: [shout] })
    await hub.close()
    expect((await hub.call(shout, { text: 'x' })).error).toMatchObject({
      code: 'ABORTED',
      message: expect.stringContaining('closed'),
    })
  })
})

async function endsOf(hub: TestHub): Promise<unknown[]> {
  const events = await eventsOf(hub)
  return events.flatMap((event) => (event.type === 'call-ended' ? [[event.callId, event.status]] : []))
}

it('gives tools a context that nobody can change for others, with whatever handles', async () => {
  const chains: object[] = []
  const look = defineTool({
    name: 'test.look',
    description: 'Keeps what its context is made of.',
    input: z.strictObject({}),
    capabilities: ['read:fs', 'network', 'exec', 'memory', 'canvas'],
    targets: () => ({ 'read:fs': [], network: [], exec: [], memory: [], canvas: [] }),
    execute(_, ctx) {
      for (let each = Object.getPrototypeOf(ctx); each !== Object.prototype; each = Object.getPrototypeOf(each))
        chains.push(each)
      return 'seen'
    },
  })
  const hub = testHub({ tools: [look] })
  expect((await hub.call(look, {})).ok).toBe(true)
  expect(chains).toHaveLength(2)
  expect(chains.every((each) => Object.isFrozen(each))).toBe(true)
  await hub.close()
})
