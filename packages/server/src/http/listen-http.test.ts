import { request as openRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { listenHttp } from './listen-http.ts'

const ping = defineTool({ name: 'ping', description: 'Pings.', input: z.strictObject({}), execute: () => 'pong' })
const held = { begun: () => {}, release: () => {}, wasAborted: false }
const hold = defineTool({
  name: 'hold',
  description: 'Waits.',
  input: z.strictObject({}),
  execute: (_, { signal }) =>
    new Promise<string>((resolve, reject) => {
      held.wasAborted = false
      held.release = () => resolve('released')
      signal.addEventListener('abort', () => {
        held.wasAborted = true
        reject(signal.reason)
      })
      held.begun()
    }),
})

let served: HttpServed
let caller = ''
beforeAll(async () => {
  served = await serveHttp(
    { tools: [ping, hold] },
    {
      allowedHosts: ['tools.example.org:8443'],
      allowedOrigins: ['https://app.example.org'],
      onUpgrade: (_, socket) => socket.end('upgraded'),
    },
  )
  caller = await served.newToken('caller', ['call'])
})
afterAll(() => served.close())

/** All that a server says to these bytes, until it closes the connection or has said `until`. */
async function say(
  bytes: string | readonly string[],
  { until, port = served.server.port }: { until?: RegExp; port?: number } = {},
) {
  const socket: Socket = connect(port, '127.0.0.1')
  let said = ''
  const done = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
    socket.on('data', (chunk) => {
      said += chunk
      if (until?.test(said)) resolve()
    })
  })
  for (const part of typeof bytes === 'string' ? [bytes] : bytes) socket.write(part)
  await done
  socket.destroy()
  return said
}

const HEAD = 'POST /v1/tools/ping/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const withToken = () => `${HEAD}Authorization: Bearer ${caller}\r\n`

describe('on the wire', () => {
  it('a plain request is answered', async () => {
    const said = await say(`${withToken()}Content-Length: 12\r\nConnection: close\r\n\r\n{"input":{}}`)
    expect(said).toMatch(/^HTTP\/1\.1 200 [\s\S]*"pong"/)
  })

  it.each([
    ['both a length and chunks', 'Content-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x'],
    ['two lengths', 'Content-Length: 12\r\nContent-Length: 13\r\n\r\n{"input":{}}'],
    ['a length that is none', 'Content-Length: +12\r\n\r\n{"input":{}}'],
    ['chunks by another name', 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['chunks that are not last', 'Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n'],
    ['a space before a colon', 'Content-Length : 12\r\n\r\n{"input":{}}'],
    ['a header on two lines', 'X-A: b\r\n c: d\r\nContent-Length: 12\r\n\r\n{"input":{}}\0'],
    ['a chunk whose size is not a number', 'Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n'],
    ['a bare line events', 'X: y\nContent-Length: 12\r\n\r\n{"input":{}}'],
  ])('%s never becomes two requests', async (_, rest) => {
    const said = await say(`${withToken()}${rest}`)
    const statuses = said.match(/^HTTP\/1\.1 \d+/gm) ?? []
    // One of them is read by every parser in the same way: a folded header is one header.
    expect(statuses.length).toBeLessThanOrEqual(1)
    if (_ !== 'a header on two lines') expect(statuses).toEqual(['HTTP/1.1 400'])
  })

  it.each([
    ['two hosts', 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n', 400],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    [
      'two tokens',
      `GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      400,
    ],
    ['a host that is none', 'GET /openapi.json HTTP/1.1\r\nHost: a b:c\r\n\r\n', 400],
    ['a foreign host', 'GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403],
    ['a foreign page', 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n', 403],
    ['a whole URL', 'GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['a backslash', 'GET /v1\\me HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
    ['TRACE', 'TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
    [
      'a name cut off in its code',
      'POST /v1/tools/%2/call HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n',
      401,
    ],
    ['dots in a path', 'GET /../../etc/passwd.txt HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
    ['dots in code', 'GET /assets/..%2f..%2fpackage.json HTTP/1.1\r\nHost: localhost\r\n\r\n', 404],
  ])('%s is refused', async (_, bytes, status) => {
    const said = await say(bytes, { until: /\r\n\r\n/ })
    expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })

  it('a head that is too large is refused', async () => {
    const said = await say(`${HEAD}X: ${'y'.repeat(20_000)}\r\n\r\n`)
    expect(said).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('a client that sends a head or a body drop by drop is cut off', async () => {
    const hasty = await serveHttp(
      { tools: [ping] },
      { headersTimeoutMs: 150, requestTimeoutMs: 300, timeoutCheckMs: 30 },
    )
    onTestFinished(() => hasty.close())
    const { port } = hasty.server
    const token = await hasty.newToken('caller', ['call'])
    const [head, body] = await Promise.all([
      say('GET /healthz HTTP/1.1\r\nHost: loc', { port }),
      say(`${HEAD}Authorization: Bearer ${token}\r\nContent-Length: 12\r\n\r\n{"in`, { port }),
    ])
    expect(head).toMatch(/^HTTP\/1\.1 408 /)
    expect(body).not.toMatch(/200/)
  })

  it('a client that announces too much gets an error before it sends it', async () => {
    const said = await say(`${withToken()}Content-Length: 99999999999\r\n\r\n`, { until: /more than/ })
    expect(said).toMatch(/^HTTP\/1\.1 413 /)
  })

  it('an encoded slash in a name stays part of the name', async () => {
    const said = await say(
      `POST /v1/tools/a%2Fcall%2F..%2Fping/call HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${caller}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
    expect(said).toContain('TOOL_NOT_FOUND')
  })

  it('what asks for another protocol goes to who speaks it, after the same checks', async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
    expect(await say(`GET /v1/ws HTTP/1.1\r\nHost: localhost\r\n${upgrade}`)).toBe('upgraded')
    expect(await say(`GET http://x/v1/ws HTTP/1.1\r\nHost: localhost\r\n${upgrade}`)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('a page of another origin', () => {
  const ask = (origin: string, rest: string) =>
    say(`${rest.replace('\r\n', `\r\nHost: tools.example.org:8443\r\nOrigin: ${origin}\r\nConnection: close\r\n`)}\r\n`)
  const preflight = 'OPTIONS /v1/tools/ping/call HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n'
  const me = () => `GET /v1/me HTTP/1.1\r\nAuthorization: Bearer ${caller}\r\n`

  it('that the owner allowed may ask and read the answer', async () => {
    const origin = 'https://app.example.org'
    expect(await ask(origin, preflight)).toMatch(/^HTTP\/1\.1 204 [\s\S]*access-control-allow-headers: authorization/)
    for (const request of [
      me(),
      `POST /v1/tools/ping/call HTTP/1.1\r\nAuthorization: Bearer ${caller}\r\nContent-Length: 0\r\n`,
    ]) {
      const said = await ask(origin, request)
      expect(said).toMatch(/^HTTP\/1\.1 200 /)
      expect(said).toContain(`access-control-allow-origin: ${origin}`)
      expect(said).not.toContain('allow-credentials')
    }
    const mcp = `POST /mcp HTTP/1.1\r\nAuthorization: Bearer ${caller}\r\nContent-Type: application/json\r\nContent-Length: 0\r\n`
    expect(await ask(origin, mcp)).toMatch(/^HTTP\/1\.1 400 [\s\S]*JSON/)
  })

  it('that nobody allowed may not', async () => {
    for (const request of [preflight, me()]) {
      const said = await ask('https://evil.example', request)
      expect(said).toMatch(/^HTTP\/1\.1 403 /)
      expect(said).not.toContain('access-control')
    }
  })
})

describe('a server', () => {
  it.each(['0.0.0.0', '::', '192.168.1.7', 'tools.example.org'])('does not listen on %s without TLS', async (host) => {
    await expect(listenHttp(served.app, { host })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('listens wider when its owner says so', async () => {
    const wide = await serveHttp({}, { host: '0.0.0.0', allowPlain: true })
    const { port } = wide.server
    const probe = 'GET /healthz HTTP/1.1\r\nHost: 10.0.0.7\r\nConnection: close\r\n\r\n'
    expect(await say(probe, { port })).toMatch(/^HTTP\/1\.1 200 /)
    await expect(listenHttp(served.app, { port })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await wide.close()
  })
})

it('closes immediately what is over the limit of connections, upgraded ones included, and serves the others', async () => {
  const own = await serveHttp({}, { maxConnections: 2, onUpgrade: (_, socket) => socket.write('upgraded') })
  const { port } = own.server
  const open = (text = '') => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    // Whoever is refused may see a reset.
    socket.on('error', () => {})
    return socket
  }
  const upgraded = open('GET /v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await new Promise((resolve) => upgraded.once('data', resolve))
  const probe = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const served = open(probe)
  await new Promise((resolve) => served.once('data', resolve))
  const refused = open(probe)
  expect(await new Promise((resolve) => refused.once('data', resolve).once('close', () => resolve('closed')))).toBe(
    'closed',
  )
  served.write(probe)
  expect(String(await new Promise((resolve) => served.once('data', resolve)))).toContain('200 OK')
  served.destroy()
  await expect.poll(() => say(probe, { port, until: /200 OK/ })).toContain('200 OK')
  upgraded.destroy()
  await own.close()
})

describe('closing', () => {
  /** A service of its own, with a call under way. */
  async function busy(graceMs: number) {
    const own = await serveHttp({ tools: [hold] }, { graceMs })
    const token = await own.newToken('caller', ['call', 'read'])
    const begun = new Promise<void>((resolve) => {
      held.begun = resolve
    })
    const answer = own.ask('POST', '/v1/tools/hold/call', token, {}).catch(() => undefined)
    await begun
    const events = openRequest(new URL('/v1/events', own.server.url), { headers: { authorization: `Bearer ${token}` } })
    const ended = new Promise<void>((resolve) => {
      events.on('response', (response) => response.resume().on('close', resolve))
    })
    events.on('error', () => {})
    events.end()
    await new Promise((resolve) => events.once('response', resolve))
    return { own, answer, ended }
  }

  it('ends streams immediately, lets calls under way end, and takes no more', async () => {
    const { own, answer, ended } = await busy(10_000)
    const closed = own.server.close()
    await ended
    await expect(own.ask('GET', '/healthz')).rejects.toThrow()
    held.release()
    expect((await answer)?.json).toMatchObject({ ok: true, data: 'released' })
    await closed
    await own.close()
  })

  it('cuts off what takes too long', async () => {
    const { own, answer } = await busy(20)
    await own.server.close()
    expect(await answer).toBeUndefined()
    await expect.poll(() => held.wasAborted).toBe(true)
    await own.close()
  })
})
