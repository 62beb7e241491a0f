import { request as openRequest } from 'node:http'
import { ToolError } from '@tool-hub/core/errors'
import { apiError } from '@tool-hub/core/protocol/shapes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../../test/support/http-served.ts'
import { toolResult } from '../../../../core/src/protocol/calls.ts'
import { defineTool } from '../../../../core/src/tool.ts'

const add = defineTool({
  name: 'test/math.add',
  description: 'Adds two numbers.',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  output: z.strictObject({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: z.strictObject({}),
  execute: () => {
    throw new ToolError('CONFLICT', 'It is there already.')
  },
})
const counted = { count: 0 }
const count = defineTool({
  name: 'count',
  description: 'Counts its calls.',
  input: z.strictObject({}),
  capabilities: ['send'],
  execute: () => ({ count: ++counted.count }),
})
/** A call that waits until the test says so, or its signal. */
const held = { begun: () => {}, release: () => {}, outcome: '' }
const hold = defineTool({
  name: 'hold',
  description: 'Waits.',
  input: z.strictObject({}),
  execute: (_, ctx) =>
    new Promise<string>((resolve, reject) => {
      held.release = () => {
        held.outcome ||= 'released'
        resolve('released')
      }
      ctx.signal.addEventListener('abort', () => {
        held.outcome ||= 'aborted'
        reject(ctx.signal.reason)
      })
      ctx.progress('waiting')
      held.begun()
    }),
})

let served: HttpServed
let caller = ''
let reader = ''
let admin = ''
beforeAll(async () => {
  served = await serveHttp({ tools: [add, fail, count, hold] })
  caller = await served.newToken('caller', ['call'])
  reader = await served.newToken('reader', ['read'])
  admin = await served.newToken('admin', ['admin'])
})
afterAll(() => served.close())

/** Starts the tool that waits, over a connection that the test can break off. */
async function startHold(headers: Record<string, string> = {}) {
  const begun = new Promise<void>((resolve) => {
    held.begun = resolve
  })
  held.outcome = ''
  const request = openRequest(new URL('/v1/tools/hold/call', served.server.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${caller}`, 'content-type': 'application/json', ...headers },
  })
  request.on('error', () => {})
  request.end('{"input":{}}')
  await begun
  return request
}

describe('a call', () => {
  it.each(['test%2Fmath.add/call', 'test_math_add/call', '%74est%2fmath%2Eadd/call', 'test_math_add/call?trace=1'])(
    'of %s gives its result',
    async (path) => {
      const { status, json, headers } = await served.ask('POST', `/v1/tools/${path}`, caller, {
        input: { a: 1, b: 2 },
      })
      expect(status).toBe(200)
      expect(toolResult.parse(json)).toMatchObject({ ok: true, tool: 'test/math.add', data: { sum: 3 } })
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  it('that failed, was refused or named nothing is answered with 200 and what is wrong', async () => {
    const codes = async (name: string, body: unknown) => {
      const { status, json } = await served.ask('POST', `/v1/tools/${name}/call`, caller, body)
      return [status, json.error.code]
    }
    expect(await codes('fail', {})).toEqual([200, 'CONFLICT'])
    expect(await codes('test_math_add', { input: { a: 'x', b: 2 } })).toEqual([200, 'INPUT_SCHEMA_INVALID'])
    expect(await codes('nothing', { input: {} })).toEqual([200, 'TOOL_NOT_FOUND'])
    expect(await codes('constructor', { input: {} })).toEqual([200, 'TOOL_NOT_FOUND'])
    expect(await codes('..%2F..%2Fetc', { input: {} })).toEqual([200, 'TOOL_NOT_FOUND'])
  })

  it.each(['%zz', '%E0%A4', '%00'])('whose name cannot be read names no tool: %s', async (name) => {
    const { status, json } = await served.ask('POST', `/v1/tools/${name}/call`, caller, {})
    expect({ status, code: toolResult.parse(json).error?.code }).toEqual({ status: 200, code: 'TOOL_NOT_FOUND' })
  })

  it.each([
    ['GET', '/v1/tools/fail/call', 405],
    ['POST', '/v1/tools//call', 404],
    ['POST', '/v1/tools/test/math.add/call', 404],
    ['POST', '/v1/tools/fail/call/', 404],
    ['POST', '/v1/tools/fail/called', 404],
  ])('is made by no other method or path: %s %s', async (method, path, status) => {
    expect((await served.ask(method, path, caller)).status).toBe(status)
  })

  it('of which nothing is said but the name has no arguments', async () => {
    const { json } = await served.ask('POST', '/v1/tools/count/call', caller)
    expect(json).toMatchObject({ ok: true })
  })

  it('that would only be rehearsed does nothing', async () => {
    const before = counted.count
    const { json } = await served.ask('POST', '/v1/tools/count/call', caller, { input: {}, dryRun: true })
    expect(json).toMatchObject({ ok: true, meta: { dryRun: true } })
    expect(counted.count).toBe(before)
  })

  it('with one key has one effect, whether the key is a header or in the body', async () => {
    const before = counted.count
    const call = (body: unknown, headers: Record<string, string> = {}) =>
      served.ask('POST', '/v1/tools/count/call', caller, body, headers)
    const first = await call({ input: {} }, { 'idempotency-key': 'one' })
    const again = await call({ input: {}, idempotencyKey: 'one' })
    expect(again.json).toMatchObject({ data: first.json.data, meta: { cached: true } })
    expect(counted.count).toBe(before + 1)
    expect((await call({ input: {}, idempotencyKey: 'two' }, { 'idempotency-key': 'one' })).status).toBe(400)
    expect((await call({ input: {} }, { 'idempotency-key': 'x'.repeat(513) })).status).toBe(400)
  })

  it('stops when its client goes away', async () => {
    const request = await startHold()
    request.destroy()
    await expect.poll(() => held.outcome).toBe('aborted')
  })

  it('continues when its client goes away and left a key, and gives its result to who asks again', async () => {
    const request = await startHold({ 'idempotency-key': 'kept' })
    const gone = new Promise((resolve) => request.once('close', resolve))
    request.destroy()
    await gone
    const again = served.ask('POST', '/v1/tools/hold/call', caller, { input: {} }, { 'idempotency-key': 'kept' })
    held.release()
    expect((await again).json).toMatchObject({ ok: true, data: 'released' })
    expect(held.outcome).toBe('released')
  })

  it('tells what happens on the way to who asks for events, its end last', async () => {
    held.begun = () => held.release()
    const { headers, text } = await served.ask(
      'POST',
      '/v1/tools/hold/call',
      caller,
      {},
      { accept: 'text/event-stream' },
    )
    expect(headers.get('content-type')).toBe('text/event-stream')
    const events = text.split('\n\n').filter(Boolean)
    expect(events.map((event) => /^event: (.*)$/m.exec(event)?.[1])).toEqual([
      'call-started',
      'call-progressed',
      'call-ended',
    ])
    const last = JSON.parse(/^data: (.*)$/m.exec(events.at(-1)!)![1]!)
    expect(last.result).toMatchObject({ ok: true, data: 'released' })
  })

  it('of sixty-four concurrent ones gives each its own', async () => {
    const sums = await Promise.all(
      Array.from({ length: 64 }, (_, a) =>
        served.ask('POST', '/v1/tools/test_math_add/call', caller, { input: { a, b: 1 } }),
      ),
    )
    expect(sums.map(({ json }) => json.data.sum)).toEqual(Array.from({ length: 64 }, (_, a) => a + 1))
  })

  it('is on record under the name of who made it', async () => {
    const { json } = await served.ask('POST', '/v1/tools/fail/call', caller, {})
    const { json: detail } = await served.ask('GET', `/v1/calls/${json.callId}`, reader)
    expect(detail.call).toMatchObject({
      callId: json.callId,
      tool: 'fail',
      error: 'CONFLICT',
      principal: 'token:caller',
    })
    const { json: run } = await served.ask('GET', `/v1/runs/${detail.call.run}`, reader)
    expect(run.calls.map(({ callId }: { callId: string }) => callId)).toContain(json.callId)
    const { json: verified } = await served.ask('GET', `/v1/audit/verify?run=${detail.call.run}`, reader)
    expect(verified.ok).toBe(true)
    const { text } = await served.ask('GET', `/v1/runs/${detail.call.run}/export`, reader)
    expect(text).toContain(json.callId)
  })
})

describe('a body', () => {
  it.each([
    ['no JSON', '{', 'application/json', 400],
    ['no object', '[]', 'application/json', 400],
    ['unknown fields', '{"inputs":{}}', 'application/json', 400],
    ['text that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400],
    ['another type', '{}', 'text/plain', 415],
    ['no type', '{}', '', 415],
    ['11 MB', `{"input":{"text":"${'x'.repeat(11_000_000)}"}}`, 'application/json', 413],
  ])('of %s is refused with what is wrong', async (_, body, type, status) => {
    const response = await fetch(new URL('/v1/tools/count/call', served.server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${caller}`, 'content-type': type },
      body,
    })
    expect(response.status).toBe(status)
    expect(apiError.safeParse(await response.json()).success).toBe(true)
  })

  it('of more keys and elements than a call may have is refused before it is parsed', async () => {
    // It is no JSON either, which nobody has noticed.
    const { status, json } = await served.ask('POST', '/v1/tools/count/call', caller, `[${'1,'.repeat(60_000)}`)
    expect([status, json.error.code]).toEqual([400, 'INPUT_SCHEMA_INVALID'])
    expect(json.error.message).toContain('over 50000 keys and elements')
  })

  it('that says nothing of its length is counted as it comes', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(`${' '.repeat(500_000)}`))
      },
    })
    const send = (path: string, token: string) =>
      fetch(new URL(path, served.server.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body,
        duplex: 'half',
      } as RequestInit)
    // Endless: a client that continues to send is cut off at last, after or before the answer was read.
    const answer = await send('/v1/tokens', admin).then(
      ({ status }) => status,
      () => 'cut',
    )
    expect([413, 'cut']).toContain(answer)
  })

  it('of more than 1 MB is too large for anything but a call', async () => {
    const { status, json } = await served.ask('POST', '/v1/policy/test', reader, { yaml: 'x'.repeat(1_100_000) })
    expect([status, json.error.code]).toEqual([413, 'FILE_TOO_LARGE'])
  })

  it('nested forty thousand deep ends with an error of its own', async () => {
    const deep = `{"input":${'['.repeat(40_000)}${']'.repeat(40_000)}}`
    const { status, json } = await served.ask('POST', '/v1/tools/test_math_add/call', caller, deep)
    expect([status, json.ok]).toEqual([200, false])
    expect(json.error.code).toBe('INPUT_SCHEMA_INVALID')
  })
})

it('nothing failed that nobody expected', () => {
  expect(served.errors).toEqual([])
})
