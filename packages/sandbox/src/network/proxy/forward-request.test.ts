import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { PUBLIC } from '../../../../../test/support/loopback.ts'
import { connectTo, get, sayTo, useProxies } from '../../../../../test/support/proxies.ts'
import { endToEndHeaders, framing } from './forward-request.ts'

const proxies = useProxies()

/** Answers with what has arrived. */
function echo(): void {
  proxies.local.answer = async (request, response) => {
    const { method, url, rawHeaders } = request
    const body = await text(request)
    response.end(JSON.stringify({ method, url, rawHeaders, body }))
  }
}

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))

describe('a plain request', () => {
  it('reaches an allowed host, written anew, without what is between neighbours', async () => {
    echo()
    const { socket } = await proxies.open()
    const headers = ['Proxy-Authorization: Basic x', 'Proxy-Connection: keep-alive', 'Connection: keep-alive, X-Gone']
    const answer = await sayTo(
      socket,
      get('http://A.example:80/x/../y?q#f', ...headers, 'X-Gone: 1', 'TE: trailers', 'X-Kept: 1', 'Cookie: c'),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(bodyOf(answer)).toEqual({
      method: 'GET',
      url: '/y?q',
      rawHeaders: ['Host', 'a.example', 'X-Kept', '1', 'Cookie', 'c', 'Connection', 'close'],
      body: '',
    })
    expect(proxies.told).toEqual([`http://a.example/y?q connected to ${PUBLIC}:80`])
    expect(proxies.local.dialled).toEqual([PUBLIC])
  })

  it('carries bodies both ways, of known and of unknown length', async () => {
    echo()
    const { socket } = await proxies.open()
    const post = 'POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n'
    expect(bodyOf(await sayTo(socket, `${post}Content-Length: 5\r\n\r\nhello`))).toMatchObject({ body: 'hello' })
    const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n`
    const { body, rawHeaders } = bodyOf(await sayTo(socket, chunked))
    expect(body).toBe('hello')
    expect(rawHeaders.join()).not.toContain('X-Trailer')
    expect(bodyOf(await sayTo(socket, `${post}\r\n`)).rawHeaders).toContain('0')
    const inGet = await sayTo(socket, `${get('http://a.example/', 'Transfer-Encoding: chunked')}2\r\nhi\r\n0\r\n\r\n`)
    expect(bodyOf(inGet)).toMatchObject({ method: 'GET', body: 'hi' })
  })

  it('returns status, repeated headers and the length of what HEAD does not carry', async () => {
    proxies.local.answer = (_, response) => {
      response.writeHead(404, ['Set-Cookie', 'a', 'Set-Cookie', 'b', 'Content-Length', '7', 'Proxy-Authenticate', 'x'])
      response.end('missing')
    }
    const { socket } = await proxies.open()
    const answer = await sayTo(socket, get('http://a.example/').replace('GET', 'HEAD'))
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n/)
    expect(answer).toMatch(/Content-Length: 7\r\nConnection: close\r\n\r\n$/)
    expect(answer).not.toMatch(/Proxy-/)
  })

  it('says "continue" only to a client whose request was permitted', async () => {
    echo()
    const { socket } = await proxies.open()
    const post = (host: string) =>
      `POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`
    const client = await connectTo(socket)
    client.write(post('a.example'))
    expect(String((await once(client, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.write('ok')
    expect(bodyOf(await text(client))).toMatchObject({ body: 'ok' })
    expect(await sayTo(socket, post('b.example'))).toMatch(/^HTTP\/1\.1 403 /)
  })
})

describe('what is refused', () => {
  it('is never dialled, and told with the host and what to do', async () => {
    const { socket } = await proxies.open()
    const answer = await sayTo(socket, get('http://b.example/path'))
    expect(answer).toMatch(/^HTTP\/1\.1 403 The host b\.example is not one the owner allows\.\r\n/)
    expect(answer).toMatch(/\r\n\r\n.*tool-hub: The host b\.example .* add b\.example to sandbox\.network\.\n/s)
    expect(proxies.told).toEqual(['http://b.example/path refused: The host b.example is not one the owner allows.'])
    expect(proxies.local.dialled).toEqual([])
  })

  it('is what policy forbids, and what policy cannot judge', async () => {
    const asked: string[] = []
    const permits = (url: string) => {
      asked.push(url)
      throw url.endsWith('x') ? new TypeError('policy is broken') : new ToolError('POLICY_DENIED', 'A rule\r\nsays no.')
    }
    const { socket } = await proxies.open({ permits })
    expect(await sayTo(socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 403 a\.example: A rule says no\.\r\n/)
    const broken = await sayTo(socket, get('http://a.example/x'))
    expect(broken).toMatch(/^HTTP\/1\.1 500 /)
    expect(broken).not.toContain('policy is broken')
    expect(asked).toEqual(['http://a.example/', 'http://a.example/x'])
    expect(proxies.told.length).toBe(2)
    expect(proxies.local.dialled).toEqual([])
  })

  it('is a name that leads to an address which is not public', async () => {
    for (const bad of ['127.0.0.1', '169.254.169.254', '::ffff:10.0.0.1', 'fd00:ec2::254']) {
      const { socket } = await proxies.open({ guard: { resolve: async () => [PUBLIC, bad] } })
      expect(await sayTo(socket, get('http://a.example/')), bad).toMatch(/^HTTP\/1\.1 403 .*a\.example leads to/)
    }
    expect(proxies.told.every((line) => line.includes(' refused: '))).toBe(true)
    expect(proxies.local.dialled).toEqual([])
  })

  const BAD_URLS = [
    'http://user:pw@a.example/',
    'http://127.0.0.1/',
    'http://0177.0.0.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://localhost/',
    'http://a.example:0/',
    'http://a.example:99999/',
    'http://a.example:22/',
    'http://a..example/',
    'http://a.example\\@b.example/',
    'http:///x',
    'http://',
    'https://a.example/',
    'ftp://a.example/',
    'file:///etc/passwd',
    '/relative',
    '*',
    'a.example/',
    '//a.example/',
    'http://a.example/\u00e4',
    `http://a.example/${'x'.repeat(9000)}`,
  ].map((url) => [url.slice(0, 50), url] as const)
  it.each(BAD_URLS)('%s', async (_, url) => {
    const { socket } = await proxies.open({ guard: { allowedHosts: ['*'] } })
    expect(await sayTo(socket, get(url))).toMatch(/^HTTP\/1\.1 (400|403|502) /)
    expect(proxies.local.dialled).toEqual([])
    expect(proxies.told.filter((line) => !line.includes(' refused: '))).toEqual([])
    expect(proxies.told.length).toBeLessThan(2)
  })

  const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`
  const POST = 'POST http://a.example/ HTTP/1.1'
  const BAD_REQUESTS: readonly (readonly [string, string])[] = [
    ['another Host', head('GET http://a.example/ HTTP/1.1', 'Host: b.example')],
    ['a Host with another port', head('GET http://a.example/ HTTP/1.1', 'Host: a.example:81')],
    ['a Host with a path', head('GET http://a.example/ HTTP/1.1', 'Host: a.example/x')],
    ['two Hosts', head('GET http://a.example/ HTTP/1.1', 'Host: a.example', 'Host: b.example')],
    ['no Host', head('GET http://a.example/ HTTP/1.1')],
    ['TRACE', head('TRACE http://a.example/ HTTP/1.1', 'Host: a.example')],
    ['a WebSocket', get('http://a.example/', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x')],
    ['an unknown Expect', get('http://a.example/', 'Expect: the-unexpected')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/0.9', 'GET http://a.example/\r\n\r\n'],
    ['two lengths', `${head(POST, 'Host: a.example', 'Content-Length: 1', 'Content-Length: 2')}ab`],
    [
      'a length and chunks',
      `${head(POST, 'Host: a.example', 'Content-Length: 9', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['an unknown coding', `${head(POST, 'Host: a.example', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`],
    ['a hidden coding', `${head(POST, 'Host: a.example', 'Transfer-Encoding: xchunked')}0\r\n\r\n`],
    [
      'chunks twice',
      `${head(POST, 'Host: a.example', 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n`,
    ],
    ['chunks in HTTP/1.0', `${head(POST.replace('1.1', '1.0'), 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    ['a negative length', head(POST, 'Host: a.example', 'Content-Length: -1')],
    ['a blank before the colon', head(POST, 'Host: a.example', 'Transfer-Encoding : chunked')],
    ['a folded header', head('GET http://a.example/ HTTP/1.1', 'Host: a.example', 'X: a', ' b: c')],
    ['a bare line feed', 'GET http://a.example/ HTTP/1.1\nHost: a.example\n\n'],
    ['a NUL', head('GET http://a.example/ HTTP/1.1', 'Host: a.example', 'X: a\0b')],
    ['long headers', get('http://a.example/', `X: ${'x'.repeat(17_000)}`)],
    ['no HTTP', '\x16\x03\x01\x02\x00\x01\x00'.repeat(9)],
  ]
  it.each(BAD_REQUESTS)('%s', async (_, words) => {
    const { socket } = await proxies.open()
    expect(await sayTo(socket, words)).toMatch(/^HTTP\/1\.1 4(00|03|17|31) /)
    expect(proxies.local.dialled).toEqual([])
    expect(proxies.told.filter((line) => !line.includes(' refused: '))).toEqual([])
    expect(proxies.told.length).toBeLessThan(2)
  })
})

describe('one message a connection', () => {
  it('answers the first request and drops what follows it', async () => {
    const urls: (string | undefined)[] = []
    proxies.local.answer = (request, response) => {
      urls.push(request.url)
      response.end()
    }
    const { socket } = await proxies.open()
    for (const next of [
      get('http://a.example/2'),
      get('http://b.example/'),
      'CONNECT a.example:443 HTTP/1.1\r\n\r\n',
    ]) {
      const answer = await sayTo(socket, get('http://a.example/1') + next)
      expect(answer.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThan(2)
    }
    expect(new Set(urls)).toEqual(new Set(['/1']))
    expect(proxies.told.every((line) => line.startsWith('http://a.example/1 '))).toBe(true)
  })

  it('sends nothing of a server beyond its one answer', async () => {
    const dial = await proxies.local.liar((server) =>
      server.once('data', () =>
        server.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n'),
      ),
    )
    const { socket } = await proxies.open({ guard: { dial } })
    const answer = await sayTo(socket, get('http://a.example/'))
    expect(answer).toMatch(/\r\n\r\nok$/)
    expect(answer).not.toContain('Evil')
  })
})

describe('servers that fail', () => {
  it('are a 502 when the name or the server is not there', async () => {
    const missing = await proxies.open({ guard: { resolve: async () => [] } })
    expect(await sayTo(missing.socket, get('http://a.example/'))).toMatch(
      /^HTTP\/1\.1 502 The name a\.example does not/,
    )
    const dead = await proxies.open({ guard: { dial: () => connect({ path: '/there/is/nothing' }) } })
    expect(await sayTo(dead.socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 502 No connection to a\.example/)
    expect(proxies.told.map((line) => line.split(' ', 2)[1])).toEqual(['failed:', 'failed:'])
  })

  it.each([
    ['says nothing and hangs up', ''],
    ['speaks another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['has endless headers', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('are a 502 when one %s', async (_, words) => {
    const dial = await proxies.local.liar((server) => server.once('data', () => server.end(words)))
    const { socket } = await proxies.open({ guard: { dial } })
    expect(await sayTo(socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 502 /)
    expect(proxies.told).toEqual([`http://a.example/ connected to ${PUBLIC}:80`])
  })

  it('are a 504 when one is too slow to answer or to be found', async () => {
    const silent = await proxies.open({ guard: { dial: await proxies.local.liar(() => {}) }, limits: { idleMs: 30 } })
    expect(await sayTo(silent.socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 504 Nothing .* for 30 ms/)
    const lost = await proxies.open({ guard: { resolve: () => new Promise(() => {}) }, limits: { openMs: 30 } })
    expect(await sayTo(lost.socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 504 .* more than 30 ms/)
  })

  it('break off an answer that breaks off', async () => {
    const words = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this'
    const dial = await proxies.local.liar((server) => server.once('data', () => server.end(words)))
    const { socket } = await proxies.open({ guard: { dial } })
    const answer = await sayTo(socket, get('http://a.example/')).catch((error: Error) => error.message)
    expect(answer).not.toMatch(/0\r\n\r\n$/)
  })
})

const message = (parts: object) =>
  ({ headers: {}, rawHeaders: [], method: 'GET', ...parts }) as unknown as IncomingMessage

describe('the headers that go on', () => {
  it('are not those of one connection', () => {
    checkEach(
      [
        ...[
          'Host',
          'Connection',
          'Keep-Alive',
          'TE',
          'Trailer',
          'Transfer-Encoding',
          'Upgrade',
          'HTTP2-Settings',
          'Expect',
        ],
        ...['Content-Length', 'Proxy-Authorization', 'Proxy-Connection'],
      ],
      (name) => {
        expect(endToEndHeaders(message({ rawHeaders: ['A', '1', name, 'x', 'B', '2'] }))).toEqual(['A', '1', 'B', '2'])
      },
    )
  })

  it('may have names that only look similar', () => {
    checkEach(
      ['X-Host', 'Hosts', 'X-TE', 'TEA', 'X-Proxy-A', 'Connection-Id', 'X-Connection', 'Proxy', 'Expects'],
      (name) => {
        expect(endToEndHeaders(message({ rawHeaders: [name, 'x'] }))).toEqual([name, 'x'])
      },
    )
  })

  it('are not those that Connection names, in any spelling', () => {
    const rawHeaders = ['Connection', 'close, X-Gone,x-too', 'X-GONE', '1', 'x-too', '2', 'X-Kept', '3', 'close', '4']
    const headers = { connection: 'close, X-Gone,x-too' }
    expect(endToEndHeaders(message({ rawHeaders, headers }))).toEqual(['X-Kept', '3'])
  })

  it('stay repeated, spelled and ordered as they came', () => {
    const rawHeaders = ['Set-Cookie', 'a', 'X-B', 'host', 'set-cookie', 'c']
    expect(endToEndHeaders(message({ rawHeaders }))).toEqual(rawHeaders)
  })
})

describe('the framing of a message', () => {
  it('is chunked for a request that is, and left to the server for an answer', () => {
    const chunked = message({ headers: { 'transfer-encoding': 'chunked', 'content-length': '3' } })
    expect(framing(chunked, 'request')).toEqual(['Transfer-Encoding', 'chunked'])
    expect(framing(chunked, 'response')).toEqual([])
  })

  it('is the length that was said', () => {
    const sized = message({ headers: { 'content-length': '3' } })
    expect(framing(sized, 'request')).toEqual(['Content-Length', '3'])
    expect(framing(sized, 'response')).toEqual(['Content-Length', '3'])
  })

  it.each([
    ['POST', true],
    ['PUT', true],
    ['PATCH', true],
    ['GET', false],
    ['DELETE', false],
    ['XPOST', false],
    ['POSTX', false],
  ])('says for a %s without a body that it has none: %s', (method, isSaid) => {
    expect(framing(message({ method }), 'request')).toEqual(isSaid ? ['Content-Length', '0'] : [])
    expect(framing(message({ method }), 'response')).toEqual([])
  })
})
