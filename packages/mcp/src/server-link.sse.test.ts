import { expect, it } from 'vitest'
import { scriptedHost } from '../../../test/support/scripted-mcp-server.ts'
import type { WebFetch } from '../../core/src/source.ts'
import { Pins } from './pins.ts'
import { ServerLink } from './server-link.ts'

/** A server that knows only the first protocol over HTTP, can be broken, and notes what it is asked. */
function sseServer() {
  const asked: string[] = []
  let isBroken = false
  let stream: ReadableStreamDefaultController<Uint8Array>
  const send = (event: string, data: string) =>
    stream.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`))
  const fetch: WebFetch = async (url, init = {}) => {
    const { method = 'GET', body } = init
    asked.push(`${method} ${new URL(String(url)).pathname}`)
    if (isBroken) return new Response('no', { status: 503 })
    if (method === 'GET') {
      const events = new ReadableStream<Uint8Array>({
        start(controller) {
          stream = controller
          send('endpoint', '/messages')
        },
      })
      return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
    }
    if (String(url).endsWith('/mcp')) return new Response('no', { status: 404 })
    const { id, method: name } = JSON.parse(String(body))
    const serverInfo = { name: 'sse', version: '1' }
    const greeting = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
    const result = name === 'initialize' ? greeting : { tools: [] }
    if (id !== undefined) setImmediate(() => send('message', JSON.stringify({ jsonrpc: '2.0', id, result })))
    return new Response(null, { status: 202 })
  }
  return { asked, fetch, break: () => (isBroken = true), mend: () => (isBroken = false) }
}

it('a server that spoke the first protocol is asked for the newer one again after it could not be reached', async () => {
  const server = sseServer()
  const { host } = scriptedHost({}, { webFetch: () => server.fetch })
  const link = new ServerLink({
    ...{ name: 'x', names: ['x'], host, env: {}, pins: new Pins(host), onTools: () => {} },
    server: { url: 'http://mcp.example/mcp', oauth: false },
  })
  const connectAgain = async () => {
    server.asked.length = 0
    await link.connect().catch(() => {})
    return server.asked[0]
  }
  expect(await connectAgain()).toBe('POST /mcp')
  expect(link.connection).toBeDefined()

  await link.connection!.close()
  await expect.poll(() => link.connection).toBeUndefined()
  server.break()
  // What it spoke is remembered, so that it is asked no more than needed.
  expect(await connectAgain()).toBe('GET /mcp')
  server.mend()
  // It may be another version of the server now.
  expect(await connectAgain()).toBe('POST /mcp')
  await link.close()
})
