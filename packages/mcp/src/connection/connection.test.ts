import * as sdk from '@modelcontextprotocol/client'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { type Received, type Script, scriptedHost } from '../../../../test/support/scripted-mcp-server.ts'
import type { BaseContext } from '../../../core/src/tool.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { ServerToolDefinition } from '../definitions.ts'
import { McpConnection } from './connection.ts'

const go = { tool: 'go', input: { type: 'object' } } as unknown as ServerToolDefinition
const done = { result: { content: [{ type: 'text', text: 'done' }], resultType: 'complete' } }
const { signal } = new AbortController()

async function open(script: Script) {
  const scripted = scriptedHost(script)
  const { host } = scripted
  const connection = await McpConnection.open({ name: 's', server: { command: 'x' }, host, env: {}, known: {}, signal })
  return { ...scripted, connection, program: scripted.programs[0]! }
}

/** A call and what its person sees. */
function openCall(run = 'r', stop = new AbortController()) {
  const told: string[] = []
  const notices: string[] = []
  const asked: unknown[] = []
  const ask = async (question: unknown) => {
    asked.push(question)
    return { values: { yes: true } }
  }
  const ctx = {
    run,
    signal: stop.signal,
    ask,
    notice: (text: string) => notices.push(text),
    progress: (text: string) => told.push(text),
  }
  return { ctx: ctx as unknown as BaseContext, told, notices, asked, stop }
}

describe('the tools of a server', () => {
  const page = (count: number, nextCursor?: string) => ({
    result: { tools: Array.from({ length: count }, (_, index) => ({ name: `${nextCursor}-${index}` })), nextCursor },
  })
  const list = async (pages: (cursor: string | undefined) => object, capabilities?: object) => {
    const cursors: (string | undefined)[] = []
    const reply = ({ params }: Received) => {
      cursors.push(params?.cursor)
      return pages(params?.cursor)
    }
    const { connection } = await open({ reply, ...(capabilities && { capabilities }) })
    const { definitions, leftOut } = await connection.list(signal)
    await connection.close()
    return { tools: definitions.length, leftOut, cursors }
  }
  const rest = [{ tool: 'the rest', why: 'it offers more than 1000 tools or 100 pages of them' }]

  it('are none where it has none', async () => {
    expect(await list(() => page(1), {})).toEqual({ tools: 0, leftOut: [], cursors: [] })
  })

  it('come page by page, until no next page is named, or the same one again', async () => {
    expect(await list((cursor) => (cursor ? page(2) : page(1, 'b')))).toEqual({
      tools: 3,
      leftOut: [],
      cursors: [undefined, 'b'],
    })
    expect(await list((cursor) => page(1, cursor ? 'b' : 'a'))).toMatchObject({
      leftOut: [{ tool: 'b-0' }],
      cursors: [undefined, 'a', 'b'],
    })
  })

  it('are at most 1,000', async () => {
    expect(await list((cursor) => (cursor ? page(0) : page(1_000, 'b')))).toEqual({
      tools: 1_000,
      leftOut: [],
      cursors: [undefined, 'b'],
    })
    expect(await list((cursor) => (cursor ? page(1) : page(1_000, 'b')))).toEqual({
      tools: 1_000,
      leftOut: rest,
      cursors: [undefined, 'b'],
    })
    expect(await list(() => page(1_001, 'b'))).toEqual({ tools: 1_000, leftOut: rest, cursors: [undefined] })
  })

  it('come on at most 100 pages', async () => {
    const pages =
      (last: number) =>
      (cursor = '1') =>
        page(1, Number(cursor) < last ? String(Number(cursor) + 1) : undefined)
    expect(await list(pages(100))).toMatchObject({ tools: 100, leftOut: [] })
    expect(await list(pages(101))).toMatchObject({ tools: 100, leftOut: rest })
  })

  it('may be watched where it says so', async () => {
    let changes = 0
    const onChange = () => void changes++
    expect(await (await open({})).connection.watch(onChange, signal)).toBe('impossible')
    const watched = await open({ capabilities: { tools: { listChanged: true } } })
    expect(await watched.connection.watch(onChange, signal)).toBe('watching')
    watched.program.send({ method: 'notifications/tools/list_changed' })
    await expect.poll(() => changes).toBe(1)
    const refuse = () => ({ error: { code: -32601, message: 'no' } })
    const modern = await open({ era: 'modern', capabilities: { tools: { listChanged: true } }, reply: refuse })
    expect(await modern.connection.watch(onChange, signal)).toBe('ended')
    expect(modern.program.received.at(-1)).toMatchObject({ params: { notifications: { toolsListChanged: true } } })
  })
})

describe('a call', () => {
  it('sends the name and the arguments, and hands the answer on', async () => {
    const { connection, program } = await open({ reply: () => done })
    expect([connection.era, connection.info?.name, connection.reason]).toEqual(['legacy', 'scripted', undefined])
    expect(await connection.call(go, { a: 1 }, openCall().ctx)).toMatchObject({ content: done.result.content })
    expect(program.received.at(-1)).toMatchObject({ method: 'tools/call', params: { name: 'go', arguments: { a: 1 } } })
  })

  it('passes progress on, in short lines, at most 1,000 times', async () => {
    const { connection } = await open({
      reply: ({ params }, program) => {
        const tell = (progress: object) =>
          program.send({
            method: 'notifications/progress',
            params: { progressToken: params._meta.progressToken, ...progress },
          })
        tell({ progress: 1 })
        tell({ progress: 2, total: 3 })
        tell({ progress: 3, message: `\n${'x'.repeat(500)}` })
        for (let count = 4; count <= 1_001; count++) tell({ progress: count, total: 9, message: 'm' })
        return done
      },
    })
    const { ctx, told } = openCall()
    await connection.call(go, {}, ctx)
    expect(told.slice(0, 4)).toEqual(['1', '2 of 3', `\\n${'x'.repeat(499)} (3)`, 'm (4 of 9)'])
    expect(told).toHaveLength(1_000)
  })

  it('ends with the reason of who stopped it', async () => {
    const { ctx, stop } = openCall()
    const reason = new ToolError('ABORTED', 'stopped')
    const { connection } = await open({ reply: () => void stop.abort(reason) })
    await expect(connection.call(go, {}, ctx)).rejects.toBe(reason)
  })

  it('ends with why its server broke, or with what it said', async () => {
    const broken = await open({ reply: (_, program) => void program.exit(3) })
    await expect(broken.connection.call(go, {}, openCall().ctx)).rejects.toThrow('s ended with exit code 3.')
    expect(broken.connection.reason).toMatchObject({ message: 's ended with exit code 3.' })
    expect(await broken.connection.closed).toBe(broken.connection.reason)
    const refusing = await open({ reply: () => ({ error: { code: -5, message: 'no' } }) })
    await expect(refusing.connection.call(go, {}, openCall().ctx)).rejects.toMatchObject({
      code: 'EXEC_FAILED',
      message: 's answered with error -5: no',
    })
  })
})

describe('what a server asks in between', () => {
  const form = { type: 'object', properties: { yes: { type: 'boolean' } } }
  const elicitation = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: form } }
  const asking = (inputRequests: object | undefined, requestState?: string) => ({
    result: { resultType: 'input_required', inputRequests, requestState },
  })
  const calls = (received: readonly Received[]) =>
    received.filter(({ method }) => method === 'tools/call').map(({ params }) => params)

  it('is answered in the next round, with the state of the server', async () => {
    const rounds = [asking({ one: elicitation, two: elicitation }, 'state'), done]
    const { connection, program } = await open({ era: 'modern', reply: () => rounds.shift() })
    const { ctx, asked } = openCall()
    expect(await connection.call(go, { a: 1 }, ctx)).toMatchObject({ content: done.result.content })
    expect(asked).toHaveLength(2)
    const accepted = { action: 'accept', content: { yes: true } }
    expect(calls(program.received)[1]).toMatchObject({
      name: 'go',
      arguments: { a: 1 },
      inputResponses: { one: accepted, two: accepted },
      requestState: 'state',
    })
  })

  it('may be nothing: then the call is tried again after 250 ms', async () => {
    const rounds = [asking(undefined, 'state'), done]
    const { connection, program, clock } = await open({ era: 'modern', reply: () => rounds.shift() })
    const calling = connection.call(go, {}, openCall().ctx)
    await expect.poll(() => clock.waiting).toBe(1)
    await clock.advance(249)
    expect(calls(program.received)).toHaveLength(1)
    await clock.advance(1)
    expect(await calling).toMatchObject({ content: done.result.content })
    expect(calls(program.received)[1]).toMatchObject({ requestState: 'state' })
    expect(calls(program.received)[1]).not.toHaveProperty('inputResponses')
  })

  it('ends after ten rounds', async () => {
    const { connection, program } = await open({ era: 'modern', reply: () => asking({ one: elicitation }) })
    const calling = connection.call(go, {}, openCall().ctx)
    await expect(calling).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 's still asked after 10 rounds.',
      retryable: false,
    })
    expect(calls(program.received)).toHaveLength(10)
    expect(calls(program.received)[1]).not.toHaveProperty('requestState')
  })

  it('is refused if it is not a question', async () => {
    const { connection } = await open({ era: 'modern', reply: () => asking({ one: { method: 'roots/list' } }) })
    const rejected = await connection.call(go, {}, openCall().ctx).catch((error: unknown) => error)
    expect(rejected).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 's wants roots/list, which this hub does not offer.',
      retryable: false,
    })
  })

  it('goes to the person behind the calls of one run, in the old protocol', async () => {
    const waiting: Received[] = []
    const { connection, program } = await open({ reply: (received) => void waiting.push(received) })
    const [one, two, other] = [openCall('r'), openCall('r'), openCall('q')]
    const calling = [connection.call(go, {}, one.ctx), connection.call(go, {}, two.ctx)]
    const answerTo = async (id: string) => {
      program.send({ id, ...elicitation })
      await expect.poll(() => program.received.find((received) => received.id === id)).toBeDefined()
      return program.received.find((received) => received.id === id)!.result
    }
    expect(await answerTo('first')).toEqual({ action: 'accept', content: { yes: true } })
    expect([one.asked, two.asked].map((asked) => asked.length)).toEqual([0, 1])
    calling.push(connection.call(go, {}, other.ctx))
    expect(await answerTo('second')).toEqual({ action: 'cancel' })
    for (const { notices } of [one, two, other]) {
      expect(notices).toEqual(['s asked something, and it cannot be known for which of 3 calls.'])
    }
    for (const { id } of waiting) program.send({ id, ...done })
    await Promise.all(calling)
    expect(await answerTo('third')).toEqual({ action: 'cancel' })
    expect(one.notices).toHaveLength(1)
  })
})

it('asks nobody a question that still waits when the call is over', async () => {
  const waiting: Received[] = []
  const { connection, program } = await open({ reply: (received) => void waiting.push(received) })
  const { ctx, asked } = openCall()
  let answer: (value: object) => void = () => {}
  const ask = (question: unknown) => {
    asked.push(question)
    return new Promise<object>((resolve) => (answer = resolve))
  }
  const calling = connection.call(go, {}, { ...ctx, ask } as unknown as BaseContext)
  const requestedSchema = { type: 'object', properties: { yes: { type: 'boolean' } } }
  for (const id of ['first', 'second']) {
    program.send({ id, method: 'elicitation/create', params: { message: 'Sure?', requestedSchema } })
  }
  await expect.poll(() => asked.length).toBe(1)
  program.send({ id: waiting[0]!.id, ...done })
  await calling
  answer({ values: {} })
  await expect.poll(() => program.received.find(({ id }) => id === 'second')?.result).toEqual({ action: 'cancel' })
  expect(asked).toHaveLength(1)
})

describe('a connection', () => {
  const connected = async (others: object = {}) => {
    const client = new sdk.Client({ name: 'x', version: '1' })
    const [transport] = sdk.InMemoryTransport.createLinkedPair()
    const clock = fakeClock()
    const whole = {
      client,
      transport: Object.assign(transport, others),
      era: 'legacy',
      info: undefined,
      sdk,
      hasHeaders: false,
    } as const
    return { connection: new McpConnection('s', whole as never, clock, new Set()), clock }
  }
  const http = (status: number) => new sdk.SdkHttpError(sdk.SdkErrorCode.ClientHttpNotImplemented, 'no', { status })

  it('is over from the beginning where its client has no transport any more', async () => {
    const { connection } = await connected()
    expect(await connection.closed).toMatchObject({ code: 'UPSTREAM_ERROR', message: 'The connection to s is lost.' })
  })

  it.each([
    [404, true],
    [400, true],
    [403, false],
    [405, false],
    [401, false],
  ])('with status %i has lost its session: %s', async (status, hasLost) => {
    const { connection } = await connected({ sessionId: '1' })
    expect(connection.hasLostSession(http(status))).toBe(hasLost)
    expect(connection.hasLostSession(new ToolError('UPSTREAM_ERROR', 'no', { cause: http(status) }))).toBe(hasLost)
    expect(connection.hasLostSession(new Error('no', { cause: http(status) }))).toBe(false)
    expect((await connected()).connection.hasLostSession(http(status))).toBe(false)
  })

  it('waits a second for its server to hear that it is over', async () => {
    const { connection, clock } = await connected({ terminateSession: () => new Promise(() => {}) })
    let isClosed = false
    const closing = connection.close().then(() => (isClosed = true))
    await clock.advance(999)
    expect(isClosed).toBe(false)
    await clock.advance(1)
    expect(await closing).toBe(true)
    const refusing = await connected({ terminateSession: () => Promise.reject(new Error('no')) })
    await refusing.connection.close()
  })
})
