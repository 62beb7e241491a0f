import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../core/src/tool.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import { OngoingCall } from './call/ongoing-call.ts'
import { serveMcpStdio } from './serve.ts'

let closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

let stopped = 0
const tools = [
  defineTool({
    name: 'say',
    description: 'Says it.',
    input: z.strictObject({ text: z.string() }),
    execute: ({ text }) => text,
  }),
  defineTool({
    name: 'hang',
    description: 'Waits until it is stopped.',
    input: z.strictObject({}),
    execute: (_, ctx) =>
      new Promise((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          stopped++
          reject(ctx.signal.reason)
        })
      }),
  }),
]

/** A client that writes what it likes. */
async function connect({ introduce = true } = {}) {
  const hub = testHub({ tools }) as unknown as TestHub
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const server = await serveMcpStdio(hub, { stdin, stdout })
  closers.push(
    () => hub.close(),
    () => server.close(),
  )
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const write = (line: string) => stdin.write(`${line}\n`)
  const send = (message: object) => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const next = async () => JSON.parse((await lines.next()).value)
  const call = (id: unknown, name: string, input: object = {}, more: object = {}) =>
    send({ id, method: 'tools/call', params: { name, arguments: input, ...more } })
  if (introduce) {
    const clientInfo = { name: 'raw', version: '1' }
    send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
    await next()
    send({ method: 'notifications/initialized' })
  }
  return { hub, server, stdin, write, send, next, call }
}

describe('a call over stdio', () => {
  it('answers with the number it was asked by, whatever it is, each call by itself', async () => {
    const { next, call } = await connect()
    for (const id of [1, 'one', '', -7]) {
      call(id, 'say', { text: 'hi' })
      expect(await next()).toEqual({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'hi' }] } })
    }
    for (let id = 0; id < 20; id++) call(id, 'say', { text: `${id}` })
    const answers = await Promise.all(Array.from({ length: 20 }, next))
    for (const { id, result } of answers) expect(result.content[0].text).toBe(`${id}`)
  })

  it('says what is wrong as the protocol has it', async () => {
    const { next, call, send, hub } = await connect()
    call(1, 'no_such_tool')
    expect(await next()).toMatchObject({ id: 1, error: { code: -32602, message: 'Unknown tool: no_such_tool' } })
    call(2, 'say', { text: 3 })
    expect(await next()).toMatchObject({ id: 2, result: { isError: true } })
    for (const params of [undefined, { name: 3 }, { name: 'say', arguments: 'x' }, { name: '' }]) {
      send({ id: 3, method: 'tools/call', params })
      expect(await next()).toMatchObject({ id: 3, error: { code: expect.any(Number) } })
    }
    expect(hub.list().length).toBeGreaterThan(0)
  })

  it('leaves ids that are none, or odd, to the SDK, and continues', async () => {
    const { next, call, write } = await connect()
    for (const id of [{ a: 1 }, [1], true, null, 1.5, 1e300]) call(id, 'say', { text: 'hi' })
    write('{"jsonrpc":"2.0","id":{"__proto__":1},"method":"tools/call","params":{"__proto__":{},"name":"say"}}')
    write(
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${'{"arguments":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
    )
    write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"toString":1}}}')
    call('x'.repeat(1_000), 'say', { text: 'long' })
    call(9, 'say', { text: 'still here' })
    const seen = []
    do seen.push(await next())
    while (seen.at(-1).id !== 9)
    expect(seen.at(-1)).toMatchObject({ result: { content: [{ text: 'still here' }] } })
  })

  it('is refused when a thousand are under way', async () => {
    const { next, call } = await connect()
    for (let id = 1; id <= 1_000; id++) call(id, 'hang')
    call('one more', 'say', { text: 'hi' })
    expect(await next()).toMatchObject({ id: 'one more', error: { message: expect.stringContaining('1000 calls') } })
    call('with meta', 'say', { text: 'hi' }, { _meta: {} })
    expect(await next()).toMatchObject({ id: 'with meta', error: { message: expect.stringContaining('1000 calls') } })
  })

  it('outlives lines that are no messages', async () => {
    const { next, call, write } = await connect()
    for (const line of ['', 'nonsense', '[]', '3', 'null', '{"jsonrpc":"1.0","id":1,"method":"tools/call"}'])
      write(line)
    call(9, 'say', { text: 'still here' })
    expect(await next()).toMatchObject({ id: 9, result: { content: [{ text: 'still here' }] } })
  })

  it('is stopped when it is cancelled, without an answer, and when the client goes', async () => {
    const { next, call, send, stdin, server } = await connect()
    stopped = 0
    call(1, 'hang')
    call(5, 'say', { text: 'under way' })
    await next()
    send({ method: 'notifications/cancelled', params: { requestId: 99 } })
    send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    call(2, 'say', { text: 'after' })
    expect(await next()).toMatchObject({ id: 2 })
    expect(stopped).toBe(1)
    call(3, 'hang')
    call(4, 'say', { text: 'x' })
    await next()
    stdin.end()
    await server.closed
    expect(stopped).toBe(2)
  })

  it('may have _meta, and is left to the SDK before the client has initialized the connection', async () => {
    const { next, call } = await connect()
    call(1, 'say', { text: 'with meta' }, { _meta: { progressToken: 1 } })
    expect(await next()).toMatchObject({ id: 1, result: { content: [{ text: 'with meta' }] } })
    const stranger = await connect({ introduce: false })
    stranger.call(1, 'say', { text: 'hi' })
    expect(await stranger.next()).toMatchObject({ id: 1 })
  })

  it('ends the connection at a line without an end', async () => {
    const { stdin, server } = await connect()
    stdin.write('x'.repeat(5_000_000))
    await server.closed
  })
})

describe('the signal of a call', () => {
  const start = (work: (signal: AbortSignal) => void | Promise<void>) => {
    const callDynamic = async (_: string, __: object, { signal }: { signal: AbortSignal }) => work(signal)
    const home = { hub: { callDynamic }, asksApprovals: false, forms: new Map(), onEnd: () => {} }
    const given = { name: 'say', run: 'r', input: {}, caller: 'mcp:raw', canAsk: false }
    const toResult = () => ({ content: [] })
    return new OngoingCall(home as never, { ...given, toResult })
  }

  it('is that of an earlier call only if nobody listens to it any more, and it was not aborted', async () => {
    const signals: AbortSignal[] = []
    const note = (signal: AbortSignal) => void signals.push(signal)
    await start((signal) => {
      note(signal)
      signal.addEventListener('abort', () => {})
    }).ended
    for (let count = 0; count < 2; count++) await start(note).ended
    const aborted = start(note)
    aborted.abort(new Error('stopped'))
    await aborted.ended
    await start(note).ended
    expect(signals.map((signal) => signals.indexOf(signal))).toEqual([0, 1, 1, 1, 4])
  })

  it('is not aborted by a call that has ended', async () => {
    const earlier = start(() => {})
    await earlier.ended
    let used: AbortSignal | undefined
    const next = start(async (signal) => {
      used = signal
      await new Promise(() => {})
    })
    earlier.abort(new Error('too late'))
    earlier.cancel(new Error('too late'))
    expect(used?.aborted).toBe(false)
    next.abort(new Error('stopped'))
    expect(used?.aborted).toBe(true)
  })
})
