import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type FakeClock, fakeClock } from '../../../../testing/src/fake-clock.ts'
import { createNetworkGuard, type NetworkCall, type NetworkGuard, type NetworkGuardOptions } from '../network-guard.ts'
import { nextHop } from './exchange.ts'
import type { Hop } from './http-request.ts'

let server: Server
let port: number
let answer: RequestListener
let guards: NetworkGuard[]
let clock: FakeClock

beforeEach(async () => {
  guards = []
  clock = fakeClock()
  server = createServer((request, response) => answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  await Promise.all(guards.map((guard) => guard.close()))
  server.closeAllConnections()
  server.close()
})

const expire = () => clock.advance(1000)
const never = new AbortController().signal
const code = (expected: string) => expect.objectContaining({ code: expected })

/** The handle of a guard whose every name is public and whose every connection ends at the local server. */
function fetchWith(options: Partial<NetworkGuardOptions> = {}, call: Partial<NetworkCall> = {}) {
  const guard = createNetworkGuard({
    allowedHosts: ['*'],
    privateRanges: [],
    maxBytes: 10_000,
    timeoutMs: 1000,
    userAgent: 'hub/1',
    resolve: async () => ['93.184.216.34'],
    dial: () => connect(port, '127.0.0.1'),
    clock,
    ...options,
  })
  guards.push(guard)
  return guard.handle({ signal: () => never, ...call })
}

it('returns answers of any status as results', async () => {
  answer = (_, response) => response.writeHead(503, { 'x-a': ['1', '2'] }).end('busy')
  const response = await fetchWith()('http://example.com/')
  expect([response.status, response.headers['x-a'], await response.text()]).toEqual([503, '1, 2', 'busy'])
})

it('decodes compressed bodies and charsets', async () => {
  const bodies = {
    gzip: gzipSync('grüße'),
    deflate: deflateSync('grüße'),
    br: brotliCompressSync('grüße'),
    'br, gzip': gzipSync(brotliCompressSync('grüße')),
  }
  for (const [encoding, body] of Object.entries(bodies)) {
    answer = (_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(body)
    expect(await (await fetchWith()('http://example.com/')).text(), encoding).toBe('grüße')
  }
  answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset="latin1"' }).end(Buffer.from([0xe9]))
  expect(await (await fetchWith()('http://example.com/')).text()).toBe('é')
  answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end()
  expect((await fetchWith()('http://example.com/', { method: 'HEAD' })).status).toBe(200)
})

it('stops a body over the limit, announced, unannounced or packed', async () => {
  answer = (_, response) => response.end('x'.repeat(10_001))
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(/10001 bytes, the limit is 10000/)
  await expect(fetchWith()('http://example.com/', { maxBytes: 10 })).rejects.toThrow(/limit is 10\b/)
  await expect(fetchWith({}, { maxBytes: 20 })('http://example.com/', { maxBytes: 99 })).rejects.toThrow(
    /limit is 20\b/,
  )
  await expect(fetchWith()('http://example.com/', { maxBytes: Number.NaN })).rejects.toThrow(code('HTTP_TOO_LARGE'))
  answer = (_, response) => {
    const more = () => response.write('x'.repeat(1000), () => !response.destroyed && setImmediate(more))
    more()
  }
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(code('HTTP_TOO_LARGE'))
  const bomb = gzipSync(gzipSync(Buffer.alloc(50_000_000)))
  answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(bomb)
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(code('HTTP_TOO_LARGE'))
  answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip,'.repeat(9) }).end(bomb)
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(code('UPSTREAM_ERROR'))
})

it('has one deadline over headers and a dripping body', async () => {
  answer = () => void expire()
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(code('HTTP_TIMEOUT'))
  answer = (_, response) => {
    response.write('drip', () => setImmediate(expire))
  }
  await expect(fetchWith()('http://example.com/')).rejects.toThrow(/did not finish in 1000 ms/)
  const resolve = () => {
    setImmediate(expire)
    return new Promise<never>(() => {})
  }
  await expect(fetchWith({ resolve })('http://example.com/')).rejects.toThrow(code('HTTP_TIMEOUT'))
})

it('stops immediately when the caller stops, before, while connecting and in the middle of the body', async () => {
  await expect(fetchWith({}, { signal: () => AbortSignal.abort() })('http://example.com/')).rejects.toThrow(
    code('ABORTED'),
  )
  const stop = new AbortController()
  answer = (_, response) => {
    response.write('part', () => setImmediate(() => stop.abort()))
  }
  await expect(fetchWith({}, { signal: () => stop.signal })('http://example.com/')).rejects.toThrow(code('ABORTED'))
  const silent = createTcpServer().listen(0)
  const waiting = new AbortController()
  const dial = () => {
    setImmediate(() => waiting.abort())
    return connect((silent.address() as AddressInfo).port, '127.0.0.1')
  }
  await expect(fetchWith({ dial }, { signal: () => waiting.signal })('https://example.com/')).rejects.toThrow(
    code('ABORTED'),
  )
  silent.close()
})

it('survives servers that lie, stop or talk nonsense', async () => {
  const lies = [
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort',
    'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nno gzip',
    'HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\n\r\nx',
    'SSH-2.0-OpenSSH\r\n',
    'HTTP/1.1 302 Found\r\nlocation: http://[\r\ncontent-length: 0\r\n\r\n',
    '',
  ]
  for (const lie of lies) await expect(askLiar(lie), lie).rejects.toThrow(code('UPSTREAM_ERROR'))
  await expect(askLiar(`HTTP/1.1 200 OK\r\n${'x: yyyyyyyyyy\r\n'.repeat(10_000)}`)).rejects.toThrow(
    code('HTTP_TOO_LARGE'),
  )
  const strange = await askLiar(
    'HTTP/1.1 200 OK\r\n__proto__: x\r\nconstructor: y\r\ncontent-length: 2\r\n\r\nok and more',
  )
  expect(Object.hasOwn(strange.headers, 'constructor')).toBe(true)
  expect(await strange.text()).toBe('ok')
})

/** Fetches from a server that sends these bytes and hangs up. */
async function askLiar(bytes: string) {
  const liar = createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(bytes)))
  await new Promise<void>((resolve) => liar.listen(0, '127.0.0.1', resolve))
  const dial = () => connect((liar.address() as AddressInfo).port, '127.0.0.1')
  try {
    return await fetchWith({ dial })('http://example.com/')
  } finally {
    liar.close()
  }
}

const hop = (init: Partial<Hop> = {}): Hop => ({
  url: new URL('https://a.example/x'),
  method: 'GET',
  headers: new Map([
    ['accept', 'text/html'],
    ['authorization', 'Bearer secret'],
    ['x-api-key', 'secret'],
    ['content-type', 'text/plain'],
  ]),
  body: undefined,
  ...init,
})

it('sees no redirect in other answers', () => {
  for (const status of [200, 201, 300, 304, 404, 500])
    expect(nextHop(hop(), status, 'https://b.example')).toBeUndefined()
  expect(nextHop(hop(), 302, undefined)).toBeUndefined()
})

it('keeps credentials on the same origin and drops them across origins, also to another port', () => {
  expect([...nextHop(hop(), 302, '/y')!.headers.keys()]).toContain('authorization')
  for (const location of ['https://b.example/', 'https://a.example:8443/', 'https://sub.a.example/']) {
    expect([...nextHop(hop(), 307, location)!.headers.keys()]).toEqual(['accept', 'content-type'])
  }
})

it('turns a POST into a GET without its body, except where the body has to come along', () => {
  const post = hop({ method: 'POST', body: 'data' })
  for (const status of [301, 302, 303]) {
    const next = nextHop(post, status, '/y')!
    expect(next).toMatchObject({ method: 'GET', body: undefined })
    expect([...next.headers.keys()]).not.toContain('content-type')
  }
  for (const status of [307, 308]) expect(nextHop(post, status, '/y')).toMatchObject({ method: 'POST', body: 'data' })
  expect(nextHop(hop({ method: 'HEAD' }), 303, '/y')).toMatchObject({ method: 'HEAD' })
})

it('does not go from https to http, nor to what is no URL', () => {
  expect(() => nextHop(hop(), 302, 'http://a.example/')).toThrow(
    expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST' }),
  )
  expect(() => nextHop(hop(), 302, 'http://[')).toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR', retryable: false }),
  )
})

it('keeps exactly the headers across origins that are no credentials', () => {
  const names =
    'accept accept-encoding accept-language content-language content-type user-agent cookie referer x-a'.split(' ')
  const headers = new Map(names.map((name) => [name, '1']))
  const kept = nextHop(hop({ headers }), 307, 'https://b.example/')!.headers
  expect([...kept.keys()]).toEqual(names.slice(0, 6))
  const secret = nextHop(hop({ headers: new Map([['accept', '${secret:x}']]) }), 307, 'https://b.example/')!.headers
  expect([...secret.keys()]).toEqual([])
})

it('leaves what is about a body behind with the body', () => {
  const names = ['content-type', 'content-language', 'content-encoding', 'content-location', 'accept', 'x-a']
  const post = hop({ method: 'POST', body: 'x', headers: new Map(names.map((name) => [name, '1'])) })
  expect([...nextHop(post, 302, '/y')!.headers.keys()]).toEqual(['accept', 'x-a'])
  expect([...nextHop(post, 308, '/y')!.headers.keys()]).toEqual(names)
})

it.each([
  [301, 'PUT', 'PUT'],
  [302, 'PUT', 'PUT'],
  [303, 'PUT', 'GET'],
  [307, 'PUT', 'PUT'],
  [301, 'HEAD', 'HEAD'],
  [303, 'HEAD', 'HEAD'],
  [303, 'GET', 'GET'],
] as const)('after %d a %s is a %s', (status, method, expected) => {
  expect(nextHop(hop({ method }), status, '/y')!.method).toBe(expected)
})

it('says who redirects where, and lets a host go from http to https', () => {
  const plain = hop({ url: new URL('http://a.example/') })
  expect(nextHop(plain, 301, 'https://a.example/')!.url.href).toBe('https://a.example/')
  expect(nextHop(plain, 301, 'http://b.example/')!.url.href).toBe('http://b.example/')
  expect(() => nextHop(hop(), 302, 'http://b.example/')).toThrow(
    expect.objectContaining({
      message: 'a.example redirects from https to http (b.example).',
      fix: expect.objectContaining({ hint: 'Use a host that stays on https.' }),
    }),
  )
  expect(() => nextHop(hop(), 302, 'https://u@b.example/')).toThrow(
    'a.example redirects to a URL that cannot be used: The URL carries a user name or password.',
  )
  expect(() => nextHop(hop(), 302, 'ftp://b.example/')).toThrow(
    expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST' }),
  )
})
