import { request as openRequest } from 'node:http'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../packages/client/src/create-client.ts'
import type { HubOptions } from '../packages/core/src/options.ts'
import type { Store } from '../packages/core/src/store.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { type HttpServed, serveHttp } from './support/http-served.ts'
import { useServedHubs } from './support/mcp-served.ts'

const send = defineTool({
  name: 'mail.send',
  description: 'Sends.',
  input: z.strictObject({ to: z.string() }),
  capabilities: ['remote'],
  targets: ({ to }) => ({ remote: `mail:${to}` }),
  execute: ({ to }) => `sent to ${to}`,
})
const pick = defineTool({
  name: 'lunch.pick',
  description: 'Asks what to eat.',
  input: z.strictObject({}),
  execute: async (_, ctx) => (await ctx.ask({ question: 'Soup or salad?' })).answer,
})

/** Approvals wait in the store, for the first who answers. */
const asking: HubOptions = {
  tools: [send, pick],
  policy: [{ ask: 'remote' }],
  approve: undefined,
  approvals: { inbox: true },
}

const waitingIds = async ({ approvals: asks }: Store) => (await asks.list({ state: 'waiting' })).map(({ id }) => id)
const oneWaits = async (store: Store) => {
  await expect.poll(() => waitingIds(store), { timeout: 100_000 }).toHaveLength(1)
  return (await waitingIds(store))[0]!
}

describe('an approval that a call over HTTP waits for', () => {
  let served: HttpServed
  afterEach(() => served.close())

  function post(token: string) {
    const request = openRequest(new URL('/v1/tools/mail.send/call', served.server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    request.on('error', () => {})
    request.end('{"input":{"to":"ada"}}')
    return request
  }

  it('keeps the connection alive: headers after 15 s, then a space every 15 s, then the result', async () => {
    const clock = fakeClock()
    served = await serveHttp(asking, { clock })
    const token = await served.newToken('agent', ['call'])
    const request = post(token)
    const answered = new Promise<{ readonly text: () => string; readonly ended: Promise<unknown> }>((resolve) =>
      request.once('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part) => (text += part))
        resolve({ text: () => text, ended: new Promise((end) => response.once('end', end)) })
      }),
    )
    const id = await oneWaits(served.service.store)
    await clock.advance(15_000)
    const { text, ended } = await answered
    for (let minute = 0; minute < 59; minute++) await clock.advance(60_000)
    await expect.poll(() => text().length).toBeGreaterThan(200)
    expect(text().trim()).toBe('')
    await served.hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    await ended
    expect(JSON.parse(text())).toMatchObject({ ok: true, data: 'sent to ada' })
  })

  it('outlives its caller, and the same call made again uses the answer', async () => {
    served = await serveHttp(asking)
    const token = await served.newToken('agent', ['call'])
    const request = post(token)
    const id = await oneWaits(served.service.store)
    const closed = new Promise((resolve) => request.once('close', resolve))
    const ended = new Promise((resolve) =>
      served.hub.onEvent((event) => event.type === 'call-ended' && resolve(event.result.error?.message)),
    )
    request.destroy()
    await closed
    expect(await ended).toBe('The client closed the connection.')
    expect(await waitingIds(served.service.store)).toEqual([id])
    const again = served.ask('POST', '/v1/tools/mail.send/call', token, { input: { to: 'ada' } })
    await expect.poll(() => ownerOf(served, id)).not.toBeNull()
    expect(await waitingIds(served.service.store)).toEqual([id])
    await served.hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    expect((await again).json).toMatchObject({ ok: true, data: 'sent to ada', meta: { approvedBy: 'anna' } })
  })

  it('that was answered while nobody waited is used by the same call, once', async () => {
    served = await serveHttp(asking)
    const token = await served.newToken('agent', ['call'])
    const request = post(token)
    const id = await oneWaits(served.service.store)
    request.destroy()
    await expect.poll(() => ownerOf(served, id)).toBeNull()
    await served.hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    const client = createClient({ url: served.server.url, token })
    expect(await client.call('mail.send', { to: 'ada' })).toMatchObject({ ok: true, data: 'sent to ada' })
    const third = post(token)
    expect(await oneWaits(served.service.store)).not.toBe(id)
    third.destroy()
  })

  it('does not run when the token of its caller was revoked meanwhile', async () => {
    served = await serveHttp(asking)
    const token = await served.newToken('agent', ['call'])
    const call = createClient({ url: served.server.url, token }).call('mail.send', { to: 'ada' })
    const id = await oneWaits(served.service.store)
    const known = (await served.service.tokens.list()).find(({ name }) => name === 'agent')!
    await served.service.tokens.remove(known.id)
    await served.hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    expect(await call).toMatchObject({
      ok: false,
      error: {
        code: 'FORBIDDEN',
        message: 'token:agent may no longer call mail.send: its token was revoked or has expired.',
      },
    })
  })

  it('is withdrawn when the caller stops its call on purpose', async () => {
    served = await serveHttp(asking)
    const stop = new AbortController()
    const call = served.hub.callDynamic('mail.send', { to: 'ada' }, { signal: stop.signal })
    await oneWaits(served.service.store)
    stop.abort()
    expect((await call).error?.code).toBe('ABORTED')
    await expect.poll(() => waitingIds(served.service.store)).toEqual([])
  })

  it('is not blamed on a server that cannot be reached', async () => {
    served = await serveHttp(asking)
    const client = createClient({
      url: served.server.url,
      token: await served.newToken('agent', ['call']),
      fetch: async () => {
        const cause = Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' })
        throw new TypeError('fetch failed', { cause })
      },
    })
    await expect(client.call('mail.send', { to: 'ada' })).rejects.toThrow(/was reached, but .* repeat the same call/)
  })

  it('a question outlives its caller, too', async () => {
    served = await serveHttp(asking)
    const token = await served.newToken('agent', ['call'])
    const questions = async () => (await served.service.store.approvals.list({ state: 'waiting' })).map(({ id }) => id)
    const stop = new AbortController()
    const client = createClient({ url: served.server.url, token })
    const first = client.call('lunch.pick', {}, { signal: stop.signal }).catch(() => 'gone')
    await expect.poll(questions).toHaveLength(1)
    const [id] = await questions()
    stop.abort()
    expect(await first).toBe('gone')
    await expect.poll(() => ownerOf(served, id!)).toBeNull()
    const again = client.call('lunch.pick', {})
    await expect.poll(() => ownerOf(served, id!)).not.toBeNull()
    expect(await questions()).toEqual([id])
    await served.hub.questions.reply(id!, 'Soup')
    expect(await again).toMatchObject({ ok: true, data: 'Soup' })
  })
})

describe('an approval that a call over MCP waits for', () => {
  const { serve, connect } = useServedHubs()
  const call = { name: 'mail_send', arguments: { to: 'ada' } }
  const textOf = (result: unknown) =>
    (result as { content: { text?: string }[] }).content.map(({ text }) => text ?? '').join('\n')

  it.each(['legacy', 'modern'] as const)('is answered before a %s client gives up, and continues', async (era) => {
    const clock = fakeClock()
    const store = createMemoryStore()
    const { hub, url } = await serve({ ...asking, store }, { clock })
    const client = await connect(url, era)
    const first = client.callTool(call)
    const id = await oneWaits(store)
    await clock.advance(45_000)
    const waiting = await first
    expect(waiting.isError).toBe(true)
    expect(textOf(waiting)).toMatch(/^APPROVAL_UNAVAILABLE: mail_send waits for an approval .* Repeat the same call/)
    expect(await waitingIds(store)).toEqual([id])
    const again = client.callTool(call)
    await expect.poll(() => hub.approvals.list().length, { timeout: 100_000 }).toBe(1)
    expect(await waitingIds(store)).toEqual([id])
    await hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    expect(textOf(await again)).toBe('sent to ada')
  })

  it.each(['legacy', 'modern'] as const)('a question of a %s client is, too', async (era) => {
    const clock = fakeClock()
    const store = createMemoryStore()
    const { hub, url } = await serve({ ...asking, tools: [], store }, { clock })
    const client = await connect(url, era)
    const question = { name: 'core_ask_user', arguments: { question: 'Soup or salad?' } }
    const first = client.callTool(question)
    const id = await oneWaits(store)
    await clock.advance(45_000)
    expect(textOf(await first)).toMatch(
      /^APPROVAL_UNAVAILABLE: core_ask_user waits for an answer .* Repeat the same call/,
    )
    expect(await waitingIds(store)).toEqual([id])
    const again = client.callTool(question)
    await expect.poll(() => hub.questions.list().length, { timeout: 100_000 }).toBe(1)
    await hub.questions.reply(id, 'Soup')
    expect(textOf(await again)).toContain('Soup')
  })

  it('is sent as progress every 15 s to a client that asks for it', async () => {
    const clock = fakeClock()
    const store = createMemoryStore()
    const { hub, url } = await serve({ ...asking, store }, { clock })
    const client = await connect(url, 'legacy')
    const heard: string[] = []
    const result = client.callTool(call, {
      onprogress: ({ message }: { message?: string }) => void heard.push(message ?? ''),
      resetTimeoutOnProgress: true,
    } as never)
    const id = await oneWaits(store)
    for (let beat = 0; beat < 8; beat++) await clock.advance(15_000)
    await expect.poll(() => heard.length).toBe(8)
    expect(heard.at(-1)).toBe(`mail_send waits for an approval (${id}).`)
    await hub.approvals.answer(id, { decision: 'allow', by: 'anna' })
    expect(textOf(await result)).toBe('sent to ada')
  })

  it('stays when the client runs out of patience, and goes when somebody cancels', async () => {
    const store = createMemoryStore()
    const { hub, url } = await serve({ ...asking, store })
    const client = await connect(url, 'legacy')
    await expect(client.callTool(call, { timeout: 500 } as never)).rejects.toThrow(/timed out/i)
    const id = await oneWaits(store)
    const stop = new AbortController()
    const again = client.callTool(call, { signal: stop.signal } as never)
    await expect.poll(() => hub.approvals.list().map((each) => each.id)).toEqual([id])
    stop.abort('The person pressed Escape.')
    await expect(again).rejects.toThrow()
    await expect.poll(() => waitingIds(store)).toEqual([])
  })

  it('keeps the form that the client shows; the same call waits for its answer', async () => {
    const clock = fakeClock()
    let answer: (reply: { action: 'accept'; content: Record<string, string> }) => void = () => {}
    let forms = 0
    const onForm = () => {
      forms++
      return new Promise<{ action: 'accept'; content: Record<string, string> }>((resolve) => {
        answer = resolve
      })
    }
    const { url } = await serve({ ...asking, approvals: {} }, { clock, elicitation: true })
    const client = await connect(url, 'legacy', { onForm })
    const first = client.callTool(call)
    await expect.poll(() => forms).toBe(1)
    await clock.advance(45_000)
    expect(textOf(await first)).toContain('Repeat the same call')
    const again = client.callTool(call)
    await expect.poll(() => clock.waiting).toBeGreaterThan(0)
    answer({ action: 'accept', content: { decision: 'allow', remember: 'once' } })
    expect(textOf(await again)).toBe('sent to ada')
    expect(forms).toBe(1)
  })
})

/** The process that waits for the answer to a request; `null` if none does. */
async function ownerOf({ service }: HttpServed, id: string): Promise<string | null> {
  return (await service.store.approvals.find(id))!.owner
}
