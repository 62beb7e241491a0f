import * as sdk from '@modelcontextprotocol/client'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import type { WebFetch } from '../../../core/src/source.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { openSse, openStreamable } from './web-transport.ts'

const url = new URL('http://mcp.example/mcp')
const headers = { 'X-Key': 'open-sesame', accept: 'mine' }
const road = (fetch: WebFetch, others: object = {}) => ({
  server: 's',
  url,
  headers,
  fetch,
  authProvider: undefined,
  sdk,
  clock: fakeClock(),
  ...others,
})
const stream = (text: string, isOpen = false) =>
  new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(text))
        if (!isOpen) controller.close()
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )
const ping = { jsonrpc: '2.0', id: 7, method: 'ping' } as const

describe('streamable HTTP', () => {
  it('sends the headers of the owner to the server', async () => {
    const seen: Headers[] = []
    const transport = openStreamable(
      road(async (_, init) => {
        seen.push(new Headers(init?.headers))
        return new Response(null, { status: 202 })
      }),
    )
    await transport.start()
    await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([seen[0]!.get('x-key'), seen[0]!.get('accept'), seen[0]!.get('content-type')]).toEqual([
      'open-sesame',
      'mine',
      'application/json',
    ])
    await transport.close()
  })

  it('ends a request whose stream ends without an answer', async () => {
    const transport = openStreamable(road(async () => stream(': nothing\n\n')))
    const heard: unknown[] = []
    transport.onmessage = (message) => void heard.push(message)
    await transport.start()
    await transport.send(ping)
    const error = { code: -32000, message: 'its stream ended without an answer', data: { isStreamEnded: true } }
    await expect.poll(() => heard).toEqual([{ jsonrpc: '2.0', id: 7, error }])
    await transport.close()
  })

  it('reports the end of a stream only to its listener', async () => {
    const transport = openStreamable(road(async () => stream(': nothing\n\n')))
    const heard: unknown[] = []
    transport.onmessage = (message) => void heard.push(message)
    await transport.start()
    let ended = 0
    await transport.send(ping, { onRequestStreamEnd: () => void ended++ } as never)
    await expect.poll(() => ended).toBe(1)
    expect(heard).toEqual([])
    await transport.close()
  })

  it('ends an answer that has over ten million bytes', async () => {
    const transport = openStreamable(
      road(async () => new Response('x'.repeat(10_000_001), { headers: { 'content-type': 'application/json' } })),
    )
    await transport.start()
    await expect(transport.send(ping)).rejects.toThrow(/more than 10000000 bytes/)
    await transport.close()
  })

  it('signs its requests where somebody signed in', async () => {
    const asked: (string | null)[] = []
    const authProvider = { token: async () => 'a-1' }
    const fetch: WebFetch = async (_, init) => {
      asked.push(new Headers(init?.headers).get('authorization'))
      return new Response(null, { status: 202 })
    }
    const transport = openStreamable(road(fetch, { authProvider }))
    await transport.start()
    await transport.send({ jsonrpc: '2.0', method: 'notifications/x' })
    expect(asked[0]).toBe('Bearer a-1')
    await transport.close()
    const first = openSse(
      road(
        async (_, init) => {
          asked.push(new Headers(init?.headers).get('authorization'))
          return stream('event: endpoint\ndata: /messages\n\n', true)
        },
        { authProvider },
      ),
    )
    await first.start()
    expect(asked.at(-1)).toBe('Bearer a-1')
    await first.close()
  })
})

it('sends the headers of the owner to no place to sign in that the server names', async () => {
  const seen = new Map<string, string | null>()
  const challenge = { 'www-authenticate': 'Bearer resource_metadata="https://auth.example/about"' }
  const fetch: WebFetch = async (place, init) => {
    seen.set(new URL(place).origin, new Headers(init?.headers).get('x-key'))
    return new Response(null, String(place) === url.href ? { status: 401, headers: challenge } : { status: 404 })
  }
  const authProvider = {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
    clientInformation: () => ({ client_id: 'me' }),
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => '',
  }
  const transport = openStreamable(road(fetch, { authProvider }))
  await transport.start()
  await transport.send(ping).catch(() => {})
  expect([seen.get('http://mcp.example'), seen.get('https://auth.example')]).toEqual(['open-sesame', null])
  await transport.close()
})

describe('SSE of the first protocol', () => {
  /** A stream that the test breaks, and what follows. */
  async function open() {
    const asked: string[] = []
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(given) {
        controller = given
        given.enqueue(new TextEncoder().encode('event: endpoint\ndata: /messages\n\n'))
      },
    })
    const transport = openSse(
      road(async (place, init) => {
        asked.push(`${init?.method ?? 'GET'} ${String(place)} ${new Headers(init?.headers).get('x-key')}`)
        if (init?.method === 'POST') return new Response(null, { status: 202 })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      }),
    )
    const errors: Error[] = []
    let closed = 0
    transport.onerror = (error) => void errors.push(error)
    transport.onclose = () => void closed++
    await transport.start()
    return { transport, asked, errors, closed: () => closed, end: () => controller!.close() }
  }

  it('is over with its stream, instead of a new session that knows nothing of this one', async () => {
    const { transport, asked, errors, closed, end } = await open()
    await transport.send(ping)
    expect(asked).toEqual(['GET http://mcp.example/mcp open-sesame', 'POST http://mcp.example/messages open-sesame'])
    expect(transport.reason).toBeUndefined()
    end()
    await expect.poll(closed).toBe(1)
    expect(transport.reason).toMatchObject({ code: 'UPSTREAM_ERROR', message: 'The connection to s broke.' })
    expect(errors.length).toBeGreaterThan(0)
    expect(asked).toHaveLength(2)
  })

  it('continues after an error of another stream', async () => {
    const { transport, errors, closed } = await open()
    transport.onerror!(new Error('a message that is no JSON'))
    expect([errors.length, closed(), transport.reason]).toEqual([1, 0, undefined])
    await transport.close()
  })

  it('knows why it could not begin, where that is an error of the table', async () => {
    for (const [failure, reason] of [
      [new ToolError('HTTP_TIMEOUT', 'slow'), true],
      [new Error('no'), false],
    ] as const) {
      const transport = openSse(road(() => Promise.reject(failure)))
      await expect(transport.start()).rejects.toThrow(failure.message)
      expect(transport.reason).toBe(reason ? failure : undefined)
    }
  })
})
