import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { eventsOf } from '../../../../../test/support/events-of.ts'
import { eventually } from '../../../../../test/support/eventually.ts'
import type { ToolResult } from '../../../../core/src/call.ts'
import type { CallEvent } from '../../../../core/src/events.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import type { ClientCall, ClientToolDefinition } from '../../../../core/src/source.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../../testing/src/tool-contract.ts'
import { type ClientConnection, connectClient } from './connect-client.ts'

const hubs: TestHub[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(hubs.splice(0).map((hub) => hub.close({ abort: true })))
})

function open(options: HubOptions = {}): TestHub {
  const hub = testHub(options) as TestHub
  hubs.push(hub)
  return hub
}

const define = (name: string, others: object = {}): ClientToolDefinition => ({
  function: {
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
  },
  ...others,
})

/** A client whose calls the test holds. */
function held(hub: TestHub, options: Partial<Parameters<typeof connectClient>[1]> = {}) {
  const client = connectClient(hub, { name: 'editor', tools: [define('open_file')], ...options })
  const calls: ClientCall[] = []
  client.onCall((call) => void calls.push(call))
  const given = (count = 1) => eventually(() => expect(calls).toHaveLength(count), { interval: 1 })
  return { client, calls, given }
}

const refusals = async (hub: TestHub) =>
  (await eventsOf(hub)).flatMap((event) =>
    event.type === 'answer-refused' ? [{ callId: event.callId, by: event.by, reason: event.reason }] : [],
  )

describe('a client with tools of its own', () => {
  it('gets the call, answers it once, and the caller hears that it was pending', async () => {
    const hub = open()
    const { client, calls, given } = held(hub)
    const events: CallEvent[] = []
    const calling = hub.callDynamic('open_file', { n: 1 }, { onEvent: (event) => events.push(event) })
    await given()
    expect(calls[0]).toMatchObject({ tool: 'open_file', input: { n: 1 }, run: hub.run })
    await client.answer(calls[0]!.callId, { data: { opened: true } })
    expect(await calling).toMatchObject({ ok: true, callId: calls[0]!.callId, data: { opened: true } })
    expect(events).toContainEqual({
      type: 'call-pending',
      callId: calls[0]!.callId,
      tool: 'open_file',
      message: 'Tool execution delegated to client',
    })
    expect((await eventsOf(hub)).map(({ type }) => type)).toContain('call-pending')
  })

  it('is asked for by policy, under its own target, before it receives a call', async () => {
    const asked: string[][] = []
    const hub = open({
      approve: ({ targets }) => {
        asked.push([...targets])
        return { decision: 'deny', reason: 'not now' }
      },
    })
    const { calls } = held(hub)
    expect((await hub.callDynamic('open_file', {})).error?.code).toBe('APPROVAL_DENIED')
    expect(asked).toEqual([['remote client:editor/open_file']])
    expect(calls).toEqual([])
    const allowing = open({ policy: [{ deny: 'remote', on: 'client:editor/*' }] })
    held(allowing)
    expect((await allowing.callDynamic('open_file', {})).error?.code).toBe('POLICY_DENIED')
  })

  it('shows its tools to models as it defined them', async () => {
    const hub = open()
    held(hub, { tools: [{ name: 'editor.paint', title: 'Paint\u202e', input: z.strictObject({ color: z.string() }) }] })
    expect(hub.cards().find(({ tool }) => tool === 'editor.paint')).toMatchObject({
      name: 'editor_paint',
      title: 'Paint\\u{202e}',
      capabilities: ['remote'],
      parameters: { properties: { color: { type: 'string' } } },
    })
    expect((await hub.callDynamic('editor.paint', {})).error?.code).toBe('INPUT_SCHEMA_INVALID')
  })

  it('gets several calls in the order in which they became pending, and may answer them in any', async () => {
    const hub = open()
    const client = connectClient(hub, { name: 'editor', tools: [define('open_file')] })
    const results = [1, 2, 3].map((n) => hub.callDynamic('open_file', { n }))
    const calls: ClientCall[] = []
    for await (const call of client.calls()) if (calls.push(call) === 3) break
    expect(calls.map(({ input }) => input)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    for (const { callId, input } of calls.toReversed()) await client.answer(callId, { data: input })
    expect((await Promise.all(results)).map(({ data }) => data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  it('gives calls to one listener at a time, and keeps them while there is none', async () => {
    const hub = open()
    const client = connectClient(hub, { name: 'editor', tools: [define('open_file')] })
    const first: unknown[] = []
    const stop = client.onCall(({ input, callId }) => {
      first.push(input)
      return client.answer(callId, { data: 1 })
    })
    expect(() => client.onCall(() => {})).toThrow('takes the calls of this client already')
    await hub.callDynamic('open_file', { n: 1 })
    stop()
    const waiting = hub.callDynamic('open_file', { n: 2 })
    const iterator = client.calls()
    const { value } = (await iterator.next()) as { value: ClientCall }
    await client.answer(value.callId, { data: 2 })
    expect((await waiting).data).toBe(2)
    const next = iterator.next()
    await client.close()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(first).toEqual([{ n: 1 }])
  })

  it('ends a call whose listener fails', async () => {
    const hub = open()
    const client = connectClient(hub, { name: 'editor', tools: [define('open_file')] })
    client.onCall(async () => {
      throw new Error('no editor')
    })
    expect((await hub.callDynamic('open_file', {})).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'open_file failed at the client editor: its listener failed: no editor',
    })
  })
})

describe('an answer', () => {
  /** One call after the other, each answered as the test says. */
  async function answered(
    client: ClientConnection,
    hub: TestHub,
    answer: Parameters<ClientConnection['answer']>[1],
    tool = 'open_file',
  ): Promise<ToolResult> {
    const stop = client.onCall(({ callId }) => client.answer(callId, answer))
    const result = await hub.callDynamic(tool, {})
    stop()
    return result
  }

  it('is data, content for the model, or an error', async () => {
    const hub = open()
    const client = connectClient(hub, { name: 'editor', tools: [define('open_file')] })
    expect((await answered(client, hub, { data: null })).data).toBeNull()
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const
    const text = { type: 'text', text: 'a picture' } as const
    const shown = await answered(client, hub, { content: [text, image], details: { n: 1 } })
    expect(shown.content).toEqual([text, { type: 'image', data: 'aGk=', mediaType: 'image/png' }])
    expect(shown.data).toMatchObject({ details: { n: 1 } })
    expect((await answered(client, hub, { content: 'just text' })).content).toEqual([
      { type: 'text', text: 'just text' },
    ])
    expect((await answered(client, hub, { error: { message: 'disk \u001b full' } })).error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'open_file failed at the client editor: disk \\u{1b} full',
    })
  })

  it('is checked against the output schema', async () => {
    const hub = open()
    const output = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
    const client = connectClient(hub, { name: 'editor', tools: [define('count', { output })] })
    expect((await answered(client, hub, { data: { n: 1 } }, 'count')).data).toEqual({ n: 1 })
    expect((await answered(client, hub, { data: { n: 'x' } }, 'count')).error?.code).toBe('OUTPUT_SCHEMA_INVALID')
  })

  it('that is invalid is refused, and the call continues to wait', async () => {
    const hub = open()
    const { client, calls, given } = held(hub, { tools: [define('open_file'), define('count', { output: {} })] })
    const calling = hub.callDynamic('open_file', {})
    await given()
    const { callId } = calls[0]!
    const deep = JSON.parse(`${'['.repeat(60)}1${']'.repeat(60)}`)
    const bad = [
      null,
      {},
      { data: 1, error: 'x' },
      { content: [{ type: 'video' }] },
      { error: {} },
      { data: 'x'.repeat(11_000_000) },
      { data: deep },
    ]
    for (const answer of bad)
      await expect(client.answer(callId, answer as never)).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    await client.answer(callId, { data: 'good' })
    expect((await calling).data).toBe('good')
    const counting = hub.callDynamic('count', {})
    await given(2)
    await expect(client.answer(calls[1]!.callId, { content: 'x' })).rejects.toThrow('it needs data')
    await client.answer(calls[1]!.callId, { data: 1 })
    expect((await counting).ok).toBe(true)
  })

  it('that comes twice is refused and put on record', async () => {
    const hub = open()
    const { client, calls, given } = held(hub)
    const calling = hub.callDynamic('open_file', {})
    await given()
    const { callId } = calls[0]!
    const both = await Promise.allSettled([
      client.answer(callId, { data: 'first' }),
      client.answer(callId, { data: 'second' }),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect((await calling).data).toBe('first')
    await expect(client.answer(callId, { data: 'third' })).rejects.toMatchObject({ code: 'CONFLICT' })
    const refusal = { callId, by: 'client:editor', reason: 'it is answered already' }
    expect(await refusals(hub)).toEqual([refusal, refusal])
  })

  it('that comes after the time was over is late, refused and put on record', async () => {
    const clock = fakeClock()
    const hub = open({ clock })
    const { client, calls, given } = held(hub, {
      tools: [define('open_file'), define('quick', { timeoutMs: 500 })],
      timeoutMs: 5_000,
    })
    const slow = hub.callDynamic('open_file', {})
    const quick = hub.callDynamic('quick', {})
    await given(2)
    await clock.advance(500)
    expect(await quick).toMatchObject({ status: 'timeout', error: { code: 'TIMEOUT' } })
    await clock.advance(4_500)
    const result = await slow
    expect(result).toMatchObject({ status: 'timeout' })
    expect(result.meta.abandoned).toBeUndefined()
    expect(calls[0]!.signal.aborted).toBe(true)
    await expect(client.answer(calls[0]!.callId, { data: 1 })).rejects.toThrow('late: the call ended with TIMEOUT')
    expect((await refusals(hub)).map(({ reason }) => reason)).toEqual(['late: the call ended with TIMEOUT'])
  })

  it('to a call that its caller stopped is late; the client is notified of the stop', async () => {
    const hub = open()
    const { client, calls, given } = held(hub)
    const abort = new AbortController()
    const calling = hub.callDynamic('open_file', {}, { signal: abort.signal })
    await given()
    const { callId, signal } = calls[0]!
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve))
    abort.abort()
    await stopped
    expect((await calling).status).toBe('aborted')
    await expect(client.answer(callId, { data: 1 })).rejects.toThrow('ABORTED')
    expect(await refusals(hub)).toHaveLength(1)
  })

  it('of another client, or to no call at all, is refused and put on record', async () => {
    const hub = open()
    const { calls, given, client } = held(hub)
    const stranger = connectClient(hub, { name: 'stranger' })
    const calling = hub.callDynamic('open_file', {})
    await given()
    const { callId } = calls[0]!
    await expect(stranger.answer(callId, { data: 'forged' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(stranger.answer('call-none', { data: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await client.answer(callId, { data: 'real' })
    expect((await calling).data).toBe('real')
    expect(await refusals(hub)).toEqual([
      { callId, by: 'client:stranger', reason: 'it is a call of another client' },
      { callId: 'call-none', by: 'client:stranger', reason: 'no such call' },
    ])
  })
})

describe('the tools of a client', () => {
  it('come and go while it is connected', async () => {
    const hub = open()
    const { client } = held(hub)
    expect(client.define([define('second'), define('open_file', { timeoutMs: 9 })])).toEqual([])
    expect(hub.registry.get('second')?.timeoutMs).toBe(60_000)
    expect(hub.registry.get('open_file')?.timeoutMs).toBe(9)
    client.remove('second')
    expect((await hub.callDynamic('second', {})).error?.code).toBe('TOOL_NOT_FOUND')
  })

  it('can come with a call and go with it', async () => {
    const hub = open()
    const { client, calls, given } = held(hub)
    const both = [client.call(define('brief'), { n: 1 }), client.call(define('brief'), { n: 2 })]
    await given(2)
    await expect(client.call(define('brief', { timeoutMs: 5 }), {})).rejects.toMatchObject({ code: 'CONFLICT' })
    await client.answer(calls[0]!.callId, { data: 'a' })
    expect((await both[0]!).data).toBe('a')
    expect(hub.registry.get('brief')).toBeDefined()
    await client.answer(calls[1]!.callId, { data: 'b' })
    expect((await both[1]!).data).toBe('b')
    expect(hub.registry.get('brief')).toBeUndefined()
    await expect(client.call(define('read'), {})).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('are gone with it, and every call that waits ends with CLIENT_GONE', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = open()
    const { client, calls, given } = held(hub)
    const waiting = [hub.callDynamic('open_file', {}), hub.callDynamic('open_file', {})]
    await given(2)
    await client.close()
    for (const result of await Promise.all(waiting))
      expect(result).toMatchObject({ status: 'error', error: { code: 'CLIENT_GONE', retryable: true } })
    expect((await hub.callDynamic('open_file', {})).error?.code).toBe('TOOL_NOT_FOUND')
    await expect(client.answer(calls[0]!.callId, { data: 1 })).rejects.toThrow('late: the client was gone')
    await expect(client.call(define('brief'), {})).rejects.toMatchObject({ code: 'CLIENT_GONE' })
    expect(client.define(define('more'))).toEqual([{ name: 'more', why: 'The client editor went away.' }])
    expect(await refusals(hub)).toHaveLength(1)
  })

  it('never take the name of another tool, and it gets an error', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = open()
    const { client, calls, given } = held(hub)
    const other = connectClient(hub, {
      name: 'other',
      tools: [
        define('open_file'),
        define('read'),
        define('core/fs.readText', { override: true }),
        define('message'),
        define('bash'),
        define('load_skill'),
        define('mcp/github.create_issue'),
        define('MCP_github_create_issue'),
        define('core_fs_readTextt'),
        define('fine'),
        define('no name'),
      ],
    })
    expect(other.refused.map(({ name }) => name)).toEqual([
      'open_file',
      'read',
      'core/fs.readText',
      'message',
      'bash',
      'load_skill',
      'mcp/github.create_issue',
      'MCP_github_create_issue',
      'core_fs_readTextt',
      'no name',
    ])
    expect(other.refused[0]!.why).toBe('The name open_file is taken by the tool open_file.')
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('The client other cannot bring'), 'ToolHubWarning')
    expect(hub.registry.get('read')?.name).toBe('core/fs.readText')
    expect(hub.registry.get('fine')).toBeDefined()
    const calling = hub.callDynamic('open_file', {})
    await given()
    await client.answer(calls[0]!.callId, { data: 'mine' })
    expect((await calling).data).toBe('mine')
  })

  it('are refused when their definition is not usable, and spoil no list', () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = open()
    const bad = [
      null,
      { function: { name: 'a' }, timeoutMs: -1 },
      { name: 'b', description: 'x'.repeat(10_001) },
      { name: 'c', input: { type: 'string' } },
      { name: 'd', input: { type: 'object', properties: { x: 1 } } },
      { name: 'e', input: { type: 'object', description: 'x'.repeat(100_001) } },
      { name: 'f', input: 'no schema' },
    ]
    const client = connectClient(hub, { name: 'editor', tools: bad as never })
    expect(client.refused).toHaveLength(bad.length)
    expect(hub.cards().length).toBeGreaterThan(0)
    expect(() => connectClient(hub, { name: 'a b' })).toThrow('Invalid client name')
  })

  it('are bounded in number, and so are the calls that wait', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const hub = open({ runs: false })
    const tools = Array.from({ length: 257 }, (_, index) => define(`tool_${index}`))
    const { client, given } = held(hub, { tools })
    expect(client.refused).toEqual([{ name: 'tool_256', why: expect.stringContaining('256 tools') }])
    const waiting = Array.from({ length: 1_001 }, () => hub.callDynamic('tool_0', {}))
    await given(1_000)
    expect((await waiting.at(-1)!).error?.code).toBe('RATE_LIMITED')
    await client.close()
    const ends = await Promise.all(waiting)
    expect(ends.filter(({ error }) => error?.code === 'CLIENT_GONE')).toHaveLength(1_000)
  })
})
