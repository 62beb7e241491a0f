import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls, createServer, type Server } from 'node:tls'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PUBLIC } from '../../../../../test/support/loopback.ts'
import { connectTo, type ProxySetting, sayTo, useProxies } from '../../../../../test/support/proxies.ts'
import { CERTIFICATE, helloFor, KEY } from '../../../../../test/support/secure-test.ts'

const proxies = useProxies()
let server: Server
let port: number

beforeEach(async () => {
  server = createServer({ key: KEY, cert: CERTIFICATE }, (socket) => {
    socket.on('error', () => {})
    let heard = ''
    socket.on('data', (chunk) => {
      heard += chunk
      if (heard.endsWith('.')) socket.end(`you said ${heard}`)
    })
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(() => void server.close())

const open = ({ guard, ...rest }: ProxySetting = {}) =>
  proxies.open({
    guard: { allowedHosts: ['secure.test'], dial: (address) => proxies.local.dial(port, address), ...guard },
    ...rest,
  })

const connectHead = (target: string) => `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`

/** Asks for a tunnel; gives the client behind the answer. */
async function tunnel(socket: string, target = 'secure.test:443'): Promise<Socket> {
  const client = await connectTo(socket)
  client.write(connectHead(target))
  expect(String((await once(client, 'data'))[0])).toBe('HTTP/1.1 200 Connection established\r\n\r\n')
  return client
}

async function talk(client: Socket, servername: string | undefined, words: string): Promise<string> {
  const secure = connectTls({
    socket: client,
    servername,
    ca: CERTIFICATE,
    host: 'secure.test',
    checkServerIdentity: () => undefined,
  })
  secure.write(words)
  return text(secure)
}

describe('a tunnel', () => {
  it('carries TLS to the host that was judged', async () => {
    const { socket } = await open()
    expect(await talk(await tunnel(socket), 'secure.test', 'hello.')).toBe('you said hello.')
    expect(proxies.told).toEqual([`https://secure.test/ connected to ${PUBLIC}:443`])
    expect(proxies.local.dialled).toEqual([PUBLIC])
    await expect.poll(() => proxies.local.sockets.every((each) => each.closed)).toBe(true)
  })

  it('carries much, both ways', async () => {
    const { socket } = await open()
    const words = `${'x'.repeat(3_000_000)}.`
    expect((await talk(await tunnel(socket, 'SECURE.test.:8443'), 'Secure.Test', words)).length).toBe(words.length + 9)
    expect(proxies.told).toEqual([`https://secure.test:8443/ connected to ${PUBLIC}:8443`])
  })

  it('goes to an address without a name in the handshake', async () => {
    const { socket } = await open({ guard: { allowedHosts: [PUBLIC] } })
    expect(await talk(await tunnel(socket, `${PUBLIC}:443`), undefined, 'hi.')).toBe('you said hi.')
  })

  it('takes a handshake that comes with the request, or byte by byte', async () => {
    const { socket } = await open()
    const client = await connectTo(socket)
    const hello = await helloFor('secure.test')
    client.write(Buffer.concat([Buffer.from(connectHead('secure.test:443')), hello.subarray(0, 7)]))
    for (const byte of hello.subarray(7)) client.write(Buffer.of(byte))
    let heard = Buffer.alloc(0)
    for await (const chunk of client) {
      heard = Buffer.concat([heard, chunk])
      // The ServerHello: a record of the handshake.
      if (heard.includes(Buffer.from([0x16, 3, 3]))) break
    }
    expect(String(heard)).toMatch(/^HTTP\/1\.1 200 /)
    expect(proxies.told.length).toBe(1)
  })
})

describe('what is refused', () => {
  const TARGETS = [
    'other.test:443',
    'user@secure.test:443',
    'secure.test',
    'secure.test:',
    'secure.test:0',
    'secure.test:00443',
    'secure.test:99999',
    'secure.test:443x',
    'secure.test:22',
    'secure.test:25',
    'secure.test:80',
    'secure..test:443',
    'secure.test:443/path',
    'https://secure.test:443',
    'http://secure.test/',
    '/run/docker.sock',
    'unix:/run/docker.sock',
    './relative',
    ':443',
    '*',
    '%73ecure.test:443',
    'secure.test%00:443',
    'secure\u00b7test:443',
    '127.0.0.1:443',
    '0177.0.0.1:443',
    '2130706433:443',
    '127.1:443',
    '[::1]:443',
    '[::ffff:169.254.169.254]:443',
    '[fe80::1%25eth0]:443',
    '::1:443',
    'localhost:443',
    `${'x'.repeat(9000)}:443`,
  ].map((target) => [target.slice(0, 50), target] as const)
  it.each(TARGETS)('%s', async (_, target) => {
    const { socket } = await open({ guard: { allowedHosts: target.startsWith('other') ? ['secure.test'] : ['*'] } })
    expect(await sayTo(socket, connectHead(target))).toMatch(/^HTTP\/1\.1 4(00|03|31) /)
    expect(proxies.local.dialled).toEqual([])
    expect(proxies.told.filter((line) => !line.includes(' refused: '))).toEqual([])
    expect(proxies.told.length).toBeLessThan(2)
  })

  it('is reported in one line with the host and what to do', async () => {
    const { socket } = await open()
    const answer = await sayTo(socket, connectHead('other.test:443'))
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*The host other\.test is not one the owner allows\.\r\n/)
    expect(answer).toMatch(/\r\n\r\ntool-hub: .* add other\.test to sandbox\.network\.\n$/)
    expect(proxies.told).toEqual(['https://other.test/ refused: The host other.test is not one the owner allows.'])
  })

  it('is what policy forbids, port by port', async () => {
    const permits = (url: string) => {
      if (new URL(url).port !== '') throw new ToolError('POLICY_DENIED', 'Only 443.')
    }
    const { socket } = await open({ permits })
    expect(await sayTo(socket, connectHead('secure.test:8443'))).toMatch(
      /^HTTP\/1\.1 403 secure\.test:8443: Only 443\./,
    )
    expect(proxies.local.dialled).toEqual([])
    await tunnel(socket)
  })

  it.each([
    ['another host in the handshake', async () => helloFor('other.test'), /names the server "other\.test"/],
    ['no host in the handshake', async () => helloFor(undefined), /names no server/],
    ['plain HTTP', async () => Buffer.from('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n'), /is not TLS/],
    ['SSH', async () => Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'), /is not TLS/],
    [
      'an endless handshake',
      async () => Buffer.from(`\x16\x03\x01\x40\x00\x01\xff\xff\xff${'x'.repeat(40_000)}`, 'latin1'),
      /not TLS/,
    ],
  ])('%s, of which the server sees nothing', async (_, makeWords, reason) => {
    const heard: Buffer[] = []
    const dial = await proxies.local.liar((each) => each.on('data', (bytes) => heard.push(bytes)).write('banner'))
    const { socket } = await open({ guard: { dial } })
    const client = await tunnel(socket)
    client.write(await makeWords())
    // A fatal alert, and nothing of what the server has said.
    expect(Buffer.from(await text(client), 'latin1').toString('hex')).toBe('15030100020231')
    expect(proxies.told).toEqual([expect.stringMatching(reason)])
    expect(proxies.told[0]).toMatch(/^https:\/\/secure\.test\/ refused: /)
    expect(heard).toEqual([])
    await expect.poll(() => proxies.local.sockets.every((each) => each.destroyed)).toBe(true)
  })
})

describe('the end of a tunnel', () => {
  it('is there when the client says nothing in it', async () => {
    const { socket } = await open({ limits: { openMs: 30 } })
    expect((await text(await tunnel(socket))).length).toBe(7)
    expect(proxies.told).toEqual([expect.stringMatching(/failed: .*TLS handshake took more than 30 ms/)])
  })

  it('is there when nothing passes for too long', async () => {
    const { socket } = await open({ limits: { idleMs: 2_000 } })
    const client = await tunnel(socket)
    const secure = connectTls({ socket: client, servername: 'secure.test', ca: CERTIFICATE }).on('error', () => {})
    await once(secure, 'secureConnect')
    await once(secure.resume(), 'close')
    await expect.poll(() => proxies.local.sockets.every((each) => each.closed)).toBe(true)
  })

  it.each(['client', 'server', 'signal', 'bytes'])(
    'is there for both sides when it comes from the %s',
    async (side) => {
      const stopping = new AbortController()
      const { socket } = await open({ signal: stopping.signal, limits: side === 'bytes' ? { maxBytes: 10_000 } : {} })
      const client = await tunnel(socket)
      const secure = connectTls({ socket: client, servername: 'secure.test', ca: CERTIFICATE }).on('error', () => {})
      await once(secure, 'secureConnect')
      const dialled = proxies.local.sockets[0]!
      if (side === 'client') secure.destroy()
      if (side === 'server') dialled.resetAndDestroy()
      if (side === 'signal') stopping.abort()
      if (side === 'bytes') secure.write('x'.repeat(20_000))
      for (const each of [secure.resume(), dialled])
        if (!each.closed) await new Promise((resolve) => each.once('close', resolve))
      expect(proxies.told.length).toBe(1)
    },
  )

  it('comes immediately when the client goes away while its name is resolved', async () => {
    const { socket } = await open({ guard: { resolve: () => new Promise(() => {}) } })
    for (const leave of ['end', 'destroy'] as const) {
      const client = await connectTo(socket)
      client.write(connectHead('secure.test:443'), () => client[leave]())
    }
    await expect.poll(() => proxies.told).toEqual(Array(2).fill('https://secure.test/ failed: The client went away.'))
    expect(proxies.local.dialled).toEqual([])
  })

  it('is there when the server goes away before the handshake', async () => {
    const accepted: Socket[] = []
    const dial = await proxies.local.liar((each) => void accepted.push(each))
    const { socket } = await open({ guard: { dial } })
    const client = await tunnel(socket)
    await expect.poll(() => accepted.length).toBe(1)
    accepted[0]!.resetAndDestroy()
    await expect.poll(() => proxies.local.sockets[0]!.destroyed).toBe(true)
    client.write(await helloFor('secure.test'))
    expect((await text(client)).length).toBe(7)
    expect(proxies.told).toEqual(['https://secure.test/ failed: secure.test has closed the connection.'])
  })

  it('is a 502 if no server answers', async () => {
    const { socket } = await open({ guard: { resolve: async () => [] } })
    expect(await sayTo(socket, connectHead('secure.test:443'))).toMatch(/^HTTP\/1\.1 502 .*does not resolve/)
  })
})
