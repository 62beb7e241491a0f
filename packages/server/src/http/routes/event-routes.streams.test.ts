import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../../test/support/http-served.ts'
import type { ServiceEvent } from '../../../../core/src/protocol/service.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

const ping = defineTool({
  name: 'ping',
  description: 'Pings.',
  input: z.strictObject({ text: z.string().default('') }),
  execute: ({ text }) => text,
})

const clock = fakeClock()
let served: HttpServed
let reader = ''
let approver = ''
let caller = ''
beforeAll(async () => {
  served = await serveHttp({ tools: [ping] }, { clock, maxWaitingBytes: 100_000, maxStreams: { all: 50, each: 3 } })
  reader = await served.newToken('reader', ['read'])
  approver = await served.newToken('approver', ['approve', 'call'])
  caller = await served.newToken('caller', ['call'])
})
afterAll(() => served.close())

interface Told {
  readonly id: string
  readonly event: ServiceEvent
}

/** Listens to events until it is closed. */
async function listen(token: string, { path = '/v1/events', headers = {} }: { path?: string; headers?: object } = {}) {
  const request: ClientRequest = openRequest(new URL(path, served.server.url), {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  request.end()
  const response = await new Promise<IncomingMessage>((resolve) => request.once('response', resolve))
  let text = ''
  const ended = new Promise<void>((resolve) => response.once('close', resolve))
  response.on('error', () => {})
  const told = (): Told[] =>
    text
      .split('\n\n')
      .filter((part) => part.includes('data: '))
      .map((part) => ({
        id: /^id: (.*)$/m.exec(part)?.[1] ?? '',
        event: JSON.parse(/^data: (.*)$/m.exec(part)![1]!) as ServiceEvent,
      }))
  const read = () => response.on('data', (chunk) => (text += chunk))
  const close = async () => {
    request.destroy()
    await ended
  }
  return { response, read, told, raw: () => text, ended, close }
}

/** Events that are always sent, to distinguish streams by. */
function publish(count: number, rule = 'x'): void {
  for (let index = 0; index < count; index++) {
    served.service.events.publish({
      type: 'run',
      run: { run: `r${index}`, caller: rule, startedAt: 0, endedAt: 0, calls: 0, failures: 0, denials: 0 },
    })
  }
}

describe('a stream of events', () => {
  it('sends calls as they happen, and resumes where it was after a break', async () => {
    const stream = await listen(reader)
    stream.read()
    expect(stream.response.headers['content-type']).toBe('text/event-stream')
    const { json } = await served.ask('POST', '/v1/tools/ping/call', caller, {})
    const isEnd = ({ event }: Told) =>
      event.type === 'call' && event.call.callId === json.callId && event.call.status === 'ok'
    await expect.poll(() => stream.told().some(isEnd)).toBe(true)
    const last = stream.told().at(-1)!
    await stream.close()
    publish(3)
    const resumed = await listen(reader, { headers: { 'last-event-id': last.id } })
    resumed.read()
    await expect.poll(() => resumed.told().length).toBe(3)
    expect(resumed.told().map(({ event }) => event.type)).toEqual(['run', 'run', 'run'])
    await resumed.close()
    const astray = await listen(reader, { path: '/v1/events?after=000000000000-7' })
    astray.read()
    await expect.poll(() => astray.told().map(({ event }) => event.type)).toEqual(['reset'])
    await astray.close()
  })

  it('tells calls as tool.started, tool.completed and tool.failed to those who ask for these names', async () => {
    const all = await listen(reader)
    const stream = await listen(reader, { path: '/v1/events?types=tool.started,tool.completed,tool.failed' })
    for (const each of [all, stream]) each.read()
    const names = () => stream.told().map(({ event }) => event.type)
    const { json: done } = await served.ask('POST', '/v1/tools/ping/call', caller, { input: { text: 'hi' } })
    await expect.poll(names).toEqual(['tool.started', 'tool.completed'])
    const { json: refused } = await served.ask('POST', '/v1/tools/ping/call', caller, { input: { text: 1 } })
    await expect.poll(names).toEqual(['tool.started', 'tool.completed', 'tool.failed'])
    const [start, end, failure] = stream.told()
    const { callId, tool, summary } = done as { callId: string; tool: string; summary: string }
    expect(start!.event).toEqual({
      type: 'tool.started',
      callId,
      tool,
      run: expect.any(String),
      time: expect.any(String),
    })
    expect(end!.event).toMatchObject({ type: 'tool.completed', callId, status: 'ok', summary })
    expect(failure!.event).toMatchObject({
      callId: (refused as { callId: string }).callId,
      status: 'error',
      error: { code: 'INPUT_SCHEMA_INVALID', message: expect.stringContaining('text') },
    })
    expect([start!.id, end!.id !== '', failure!.id !== '']).toEqual(['', true, true])
    expect(all.told().some(({ event }) => event.type.startsWith('tool.'))).toBe(false)
    await stream.close()
    const resumed = await listen(reader, {
      path: '/v1/events?types=tool.completed,tool.failed',
      headers: { 'last-event-id': end!.id },
    })
    resumed.read()
    await expect.poll(() => resumed.told().map(({ event }) => event.type)).toEqual(['tool.failed'])
    await resumed.close()
    await all.close()
    const unable = await listen(approver, { path: '/v1/events?types=tool.failed,presence' })
    unable.read()
    await served.ask('POST', '/v1/tools/ping/call', caller, { input: { text: 1 } })
    served.service.events.publish({ type: 'presence', people: [] })
    await expect.poll(() => unable.told().map(({ event }) => event.type)).toEqual(['presence'])
    await unable.close()
  })

  it('beats every fifteen seconds', async () => {
    const stream = await listen(reader)
    stream.read()
    await expect.poll(() => stream.raw()).toContain('retry: ')
    await clock.advance(15_001)
    await expect.poll(() => stream.raw()).toContain(': still here')
    await stream.close()
  })

  it('tells those who only answer nothing but what waits, and nobody else anything', async () => {
    const stream = await listen(approver)
    stream.read()
    publish(2)
    served.service.events.publish({ type: 'presence', people: [] })
    await expect.poll(() => stream.told().map(({ event }) => event.type)).toEqual(['presence'])
    await stream.close()
    expect((await served.ask('GET', '/v1/events', caller)).status).toBe(403)
    const some = await listen(reader, { path: '/v1/events?types=presence,tools-changed' })
    some.read()
    publish(2)
    served.service.events.publish({ type: 'presence', people: [] })
    await expect.poll(() => some.told().map(({ event }) => event.type)).toEqual(['presence'])
    await some.close()
  })

  it.each(['feature-changed', 'ability-changed'])('of features come by %s, their name or the old one', async (type) => {
    const stream = await listen(reader, { path: `/v1/events?types=${type}` })
    stream.read()
    const change = { type: 'feature-changed', feature: 'memory', subject: 'notes' } as const
    served.service.events.publish(change)
    await expect.poll(() => stream.told().map(({ event }) => event)).toEqual([change])
    await stream.close()
  })

  it('is cut off from a client that does not read, and can be resumed later', async () => {
    const stream = await listen(reader)
    // The kernel takes a few megabytes before anything waits here.
    publish(400, 'x'.repeat(40_000))
    await clock.advance(11_000)
    stream.read()
    await stream.ended
    const ids = stream.told().map(({ id }) => id)
    expect(ids.length).toBeLessThan(400)
    const resumed = await listen(reader, { headers: { 'last-event-id': ids.at(-1)! } })
    resumed.read()
    await expect.poll(() => resumed.told().length).toBeGreaterThan(0)
    const number = (id: string) => Number(id.split('-')[1])
    expect(number(resumed.told()[0]!.id)).toBe(number(ids.at(-1)!) + 1)
    await resumed.close()
  })

  it('ends when its token is revoked', async () => {
    const secret = await served.newToken('short-lived', ['read'])
    const stream = await listen(secret)
    stream.read()
    const { json } = await served.ask('GET', '/v1/tokens', await served.newToken('boss', ['admin']))
    const { id } = json.tokens.find(({ name }: { name: string }) => name === 'short-lived')
    await served.tokens.remove(id)
    await clock.advance(31_000)
    await stream.ended
  })

  it('is one of a few that a principal may have', async () => {
    const streams = await Promise.all([listen(reader), listen(reader), listen(reader)])
    const refused = await served.ask('GET', '/v1/events', reader)
    expect([refused.status, refused.json.error.code]).toEqual([429, 'RATE_LIMITED'])
    await Promise.all(streams.map(({ close }) => close()))
    await expect
      .poll(async () => {
        const again = await listen(reader)
        await again.close()
        return again.response.statusCode
      })
      .toBe(200)
  })
})
