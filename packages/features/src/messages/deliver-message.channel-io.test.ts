import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { ChannelRequest, SentRequest } from './channel.ts'
import { createChannelIo } from './deliver-message.ts'
import { isUnknown, LOOK_THERE } from './send-errors.ts'

const answer = () => new Response('taken', { status: 202, headers: { 'x-id': '7' } })

/** The io of one message; `web` answers its requests. */
function createIo(web: (url: string, init: RequestInit) => Response | Promise<Response> = answer) {
  const [asked, shown, hidden]: [unknown[], SentRequest[], string[]] = [[], [], []]
  const stop = new AbortController()
  const host = {
    secret: (name: string) => (name === 'key' ? 'value-of-key' : undefined),
    hide: (values: readonly string[]) => void hidden.push(...values),
    redact: (text: string) => text.replaceAll('hunter2', '[redacted]'),
    clock: fakeClock(1_000),
  }
  const io = createChannelIo({
    ...{ channel: 'ops', signal: stop.signal, callId: 'c1', run: 'r1', caller: 'me', isTainted: true },
    host,
    web: (async (url: string, init: RequestInit) => {
      asked.push([url, init])
      return web(url, init)
    }) as never,
    announce: async (request) => void shown.push(request),
  })
  return { io, asked, shown, hidden, stop }
}
const post = (more: Partial<ChannelRequest> = {}): ChannelRequest => ({ method: 'POST', ...more })
const URL_TEXT = 'https://x.org/hunter2'

describe('the io of a channel', () => {
  it('knows what the message is about, the time, and secrets, which are hidden from then on', () => {
    const { io, hidden } = createIo()
    expect(io).toMatchObject({ channel: 'ops', callId: 'c1', run: 'r1', caller: 'me', isTainted: true })
    expect(io.now()).toBe(1_000)
    expect([io.secret('key'), io.secret('other')]).toEqual(['value-of-key', undefined])
    expect(hidden).toEqual(['value-of-key'])
  })

  it('asks without following redirects, and gives the answer', async () => {
    const { io, asked, stop } = createIo()
    const got = await io.fetch(URL_TEXT, post({ headers: { a: 'b' }, body: 'text' }))
    expect([got.status, got.text, got.headers.get('x-id')]).toEqual([202, 'taken', '7'])
    const init = { method: 'POST', headers: { a: 'b' }, body: 'text', redirect: 'error', signal: stop.signal }
    expect(asked).toEqual([[URL_TEXT, init]])
  })

  it('says before what goes out, without secrets', async () => {
    const { io, shown } = createIo()
    await io.fetch(URL_TEXT, post({ body: 'say hunter2' }))
    await io.fetch(URL_TEXT, post({ body: new Uint8Array(5) }))
    await io.fetch(URL_TEXT, post({ body: new Uint8Array(5), shownBody: 'a hunter2 file', shownUrl: 'https://…' }))
    await io.fetch(URL_TEXT, { method: 'GET' })
    const url = 'https://x.org/[redacted]'
    expect(shown).toEqual([
      { type: 'http', method: 'POST', url, headers: {}, body: 'say [redacted]' },
      { type: 'http', method: 'POST', url, headers: {}, body: '(5 bytes)' },
      { type: 'http', method: 'POST', url: 'https://…', headers: {}, body: 'a [redacted] file' },
      { type: 'http', method: 'GET', url, headers: {} },
    ])
  })

  it.each([
    ...['authorization', 'Authorization', 'cookie', 'proxy-authorization', 'x-api-key', 'x-apikey', 'my-token-id'].map(
      (name) => [name, '(hidden)'] as const,
    ),
    ...['client-secret', 'webhook-signature', 'x-signature-v2'].map((name) => [name, '(hidden)'] as const),
    ...['content-type', 'x-authorization-type', 'cookies', 'x-cookie'].map((name) => [name, 'a [redacted]'] as const),
  ])('shows of the header %s: %s', async (name, value) => {
    const { io, shown } = createIo()
    await io.fetch(URL_TEXT, post({ headers: { [name]: 'a hunter2' } }))
    expect(shown[0]!.headers).toEqual({ [name]: value })
  })

  it('reads 64 KB of an answer and no more', async () => {
    const text = async (chars: number) =>
      (await createIo(() => new Response('x'.repeat(chars))).io.fetch(URL_TEXT, post())).text
    expect(await text(65_536)).toHaveLength(65_536)
    expect(await text(65_537)).toHaveLength(65_536)
    expect((await createIo(() => new Response(null)).io.fetch(URL_TEXT, post())).text).toBe('')
  })

  it('does not wait for the rest of an answer that has said enough', async () => {
    let chunks = 0
    const endless = new ReadableStream({
      pull(controller) {
        chunks++
        controller.enqueue(new Uint8Array(32_768))
      },
    })
    await createIo(() => new Response(endless)).io.fetch(URL_TEXT, post())
    expect(chunks).toBeLessThanOrEqual(4)
  })
})

describe('a request that fails', () => {
  it.each([
    new ToolError('HTTP_DISALLOWED_HOST', 'x.org is not allowed.'),
    new ToolError('INPUT_SCHEMA_INVALID', 'Not a URL.'),
    new ToolError('CONFIG_INVALID', 'No certificate.'),
    new ToolError('UPSTREAM_ERROR', 'No connection to x.org:443.'),
    new ToolError('UPSTREAM_ERROR', 'The name x.org does not resolve.'),
    new ToolError('UPSTREAM_ERROR', 'The server redirects (307) elsewhere.'),
  ])('never left this machine: %s', async (error) => {
    const { io } = createIo(() => Promise.reject(error))
    await expect(io.fetch(URL_TEXT, post())).rejects.toBe(error)
  })

  it.each([
    new ToolError('UPSTREAM_ERROR', 'It said: No connection to the database.'),
    new ToolError('HTTP_TIMEOUT', 'It took too long.'),
    new Error('No connection to x.org:443.'),
  ])('may have arrived: %s', async (error) => {
    const { io } = createIo(() => Promise.reject(error))
    const failed = await io.fetch(URL_TEXT, post()).catch((thrown: unknown) => thrown as ToolError)
    expect(failed).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: `It is not known whether the message reached ops: ${error.message}.`,
      retryable: false,
      fix: { hint: LOOK_THERE },
      cause: error,
    })
    expect(isUnknown(failed)).toBe(true)
  })

  it('says at most 300 characters of why, without secrets', async () => {
    const { io } = createIo(() => Promise.reject(new Error(`hunter2${'x'.repeat(400)}`)))
    await expect(io.fetch(URL_TEXT, post())).rejects.toThrow(
      `It is not known whether the message reached ops: [redacted]${'x'.repeat(290)}.`,
    )
  })

  it('is stopped before it begins, or while it is under way', async () => {
    const stopped = createIo()
    stopped.stop.abort(new Error('enough'))
    await expect(stopped.io.fetch(URL_TEXT, post())).rejects.toThrow(/^enough$/)
    expect(stopped.asked).toEqual([])
    const under = createIo(() => {
      under.stop.abort(new Error('enough'))
      throw new Error('lost')
    })
    await expect(under.io.fetch(URL_TEXT, post())).rejects.toThrow(/^enough$/)
  })
})
