import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { dirname } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { NEVER, PUBLIC } from '../../../../../test/support/loopback.ts'
import { connectTo, get, type ProxySetting, sayTo, useProxies } from '../../../../../test/support/proxies.ts'
import { judgeUrl } from '../judge-destination.ts'
import { PROXY_LIMITS } from './connect-to-host.ts'
import { judgeRequest } from './forward-request.ts'
import { judgeAuthority } from './open-tunnel.ts'

const proxies = useProxies()

describe('limits', () => {
  it('ends everything when too many bytes have passed, and says so to who comes then', async () => {
    proxies.local.answer = (_, response) => response.end(Buffer.alloc(3_000_000))
    const { socket } = await proxies.open({ limits: { maxBytes: 1_000_000 } })
    expect((await sayTo(socket, get('http://a.example/')).catch(() => '')).length).toBeLessThan(3_000_000)
    expect(await sayTo(socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 403 .*More than 1000000 bytes/)
    expect(proxies.told.length).toBe(2)
  })

  it('closes a client that says nothing, and one that does not finish', async () => {
    const { socket } = await proxies.open({ limits: { openMs: 30 } })
    expect(await sayTo(socket, '')).toBe('')
    expect(await sayTo(socket, 'GET http://a.exa')).toBe('')
    expect(proxies.told).toEqual([])
  })

  it('takes no more clients than it may', async () => {
    const { socket } = await proxies.open({ limits: { maxConnections: 2 } })
    const first = await connectTo(socket)
    await connectTo(socket)
    expect(await sayTo(socket, get('http://a.example/')).catch(() => '')).toBe('')
    first.destroy()
    await once(first, 'close')
    await expect.poll(() => sayTo(socket, get('http://a.example/')).catch(() => '')).toMatch(/^HTTP\/1\.1 200/)
  })
})

describe('its end', () => {
  const hanging = async (setting: ProxySetting = {}) => {
    let arrived = () => {}
    const isThere = new Promise<void>((resolve) => {
      arrived = resolve
    })
    proxies.local.answer = (_, response) => {
      response.write('part')
      arrived()
    }
    const proxy = await proxies.open(setting)
    const client = await connectTo(proxy.socket)
    client.write(get('http://a.example/'))
    await isThere
    return { proxy, client, server: proxies.local.sockets.at(-1)! }
  }
  const gone = async (...sockets: Awaited<ReturnType<typeof connectTo>>[]) => {
    for (const socket of sockets) if (!socket.resume().closed) await once(socket, 'close')
  }

  it('lies in a folder of its own, which goes with it', async () => {
    const { socket, close } = await proxies.open()
    expect((await stat(socket)).mode & 0o777).toBe(0o600)
    expect((await stat(dirname(socket))).mode & 0o777).toBe(0o700)
    expect(Buffer.byteLength(socket)).toBeLessThan(104)
    await Promise.all([close(), close()])
    await expect(stat(dirname(socket))).rejects.toThrow(/ENOENT/)
  })

  it.runIf(process.getuid?.() === 0)('belongs to the user whose commands use it', async () => {
    const { socket } = await proxies.open({ owner: { uid: 65_534, gid: 65_533 } })
    for (const path of [socket, dirname(socket)]) {
      expect(await stat(path)).toMatchObject({ uid: 65_534, gid: 65_533 })
    }
  })

  it('comes with the signal, whatever is going on', async () => {
    const stopping = new AbortController()
    const { proxy, client, server } = await hanging({ signal: stopping.signal })
    client.on('end', () => client.end())
    stopping.abort()
    await proxy.closed
    await gone(client, server)
    await expect(stat(proxy.socket)).rejects.toThrow(/ENOENT/)
    await expect(proxies.open({ signal: stopping.signal })).rejects.toThrow(
      expect.objectContaining({ code: 'ABORTED' }),
    )
  })

  it('comes with the guard, and a closed guard opens none', async () => {
    const guard = proxies.local.guard()
    const network = { permits() {}, onConnection() {} }
    const { socket } = await guard.openProxy(network, NEVER)
    await guard.close()
    await expect(stat(socket)).rejects.toThrow(/ENOENT/)
    await expect(guard.openProxy(network, NEVER)).rejects.toThrow(expect.objectContaining({ code: 'ABORTED' }))
  })

  it('closes the way to the server when the client goes away', async () => {
    const { client, server } = await hanging()
    client.destroy()
    await gone(server)
    expect(proxies.told.length).toBe(1)
  })

  it('dials nothing for a client that went away while its name was resolved', async () => {
    let answer = (_: string[]) => {}
    const resolve = () => new Promise<string[]>((settle) => (answer = settle))
    const { socket } = await proxies.open({ guard: { resolve } })
    const client = await connectTo(socket)
    client.write(get('http://a.example/'))
    await expect.poll(() => answer.length).toBe(1)
    client.destroy()
    await expect.poll(() => proxies.told).toEqual(['http://a.example/ failed: The client went away.'])
    answer([PUBLIC])
    await new Promise(setImmediate)
    expect(proxies.local.dialled).toEqual([])
  })

  it('tries no further address for a client that went away', async () => {
    const dialled: Socket[] = []
    const dial = () => {
      // It never connects, like one whose packets are dropped.
      dialled.push(new Socket())
      return dialled.at(-1)!
    }
    const { socket } = await proxies.open({ guard: { dial, resolve: async () => [PUBLIC, '93.184.216.35'] } })
    const client = await connectTo(socket)
    client.write(get('http://a.example/'))
    await expect.poll(() => dialled.length).toBe(1)
    client.destroy()
    await expect.poll(() => proxies.told).toEqual(['http://a.example/ failed: The client went away.'])
    expect(dialled.map((each) => each.destroyed)).toEqual([true])
  })

  it('connects nothing that cannot be put on record', async () => {
    const onConnection = () => {
      throw new ToolError('RECORDS_UNAVAILABLE', 'The disk is full.')
    }
    let requests = 0
    proxies.local.answer = () => (requests += 1)
    const { socket } = await proxies.open({ onConnection })
    expect(await sayTo(socket, get('http://a.example/'))).toMatch(/^HTTP\/1\.1 403 .*The disk is full/)
    expect(requests).toBe(0)
    await expect.poll(() => proxies.local.sockets.every((server) => server.destroyed)).toBe(true)
  })
})

const judgedAuthority = (target: string) => judgeAuthority(target, judgeUrl).href

describe('the target of a tunnel', () => {
  it.each([
    ['a.example:443', 'https://a.example/'],
    ['A_b-c.example:8443', 'https://a_b-c.example:8443/'],
    ['10.0.0.1:65535', 'https://10.0.0.1:65535/'],
    ['[2001:DB8::1]:443', 'https://[2001:db8::1]/'],
  ])('is %s', (target, url) => {
    expect(judgedAuthority(target)).toBe(url)
  })

  it('is nothing else', () => {
    checkEach(
      [
        ...[
          '',
          'a.example',
          'a.example:',
          ':443',
          'a.example:0',
          'a.example:0443',
          'a.example:443456',
          'a.example:443/',
        ],
        ...[
          'u@a.example:443',
          'https://a.example:443',
          ' a.example:443',
          'a.example:443 ',
          '[::1:443',
          'ä.example:443',
        ],
        ...['%61.example:443', '2001:db8::1:443', '[x]:443', 'a b:443'],
      ],
      (target) => {
        expect(() => judgedAuthority(target)).toThrow(
          expect.objectContaining({
            code: 'INPUT_SCHEMA_INVALID',
            message: 'The target of CONNECT is not a host and a port.',
            fix: expect.objectContaining({ hint: 'Write it as example.org:443.' }),
          }),
        )
      },
    )
  })

  it('is never the port of plain http', () => {
    expect(() => judgedAuthority('a.example:80')).toThrow(
      expect.objectContaining({
        code: 'HTTP_DISALLOWED_HOST',
        message: 'A tunnel to a.example:80 would carry plain HTTP, which is not judged.',
        fix: expect.objectContaining({
          hint: 'Send plain http to the proxy as GET http://host/path, or use https.',
        }),
      }),
    )
    expect(judgedAuthority('a.example:8080')).toBe('https://a.example:8080/')
  })
})

it('carries enough for a large project, and no more', () => {
  expect(PROXY_LIMITS).toEqual({
    maxBytes: 2_147_483_648,
    maxConnections: 128,
    idleMs: 120_000,
    openMs: 15_000,
  })
})

/** A request as Node's parser gives it. */
function request({
  url = 'http://a.example/',
  method = 'GET',
  httpVersion = '1.1',
  hosts = ['a.example'],
  headers = {},
}) {
  const rawHeaders = hosts.flatMap((host) => ['HOST', host])
  return { url, method, httpVersion, rawHeaders, headers: { host: hosts[0], ...headers } } as unknown as IncomingMessage
}
const judgedRequest = (parts: Parameters<typeof request>[0] & { headers?: object }) =>
  judgeRequest(request(parts), judgeUrl).href

const PLAIN = 'Send one plain HTTP/1.1 request.'
const URLS = 'This is a proxy, and the request does not name a whole URL.'

describe('a plain request', () => {
  it.each([
    [{}, 'http://a.example/'],
    [{ url: 'HTTP://A.example:80/x#y' }, 'http://a.example/x'],
    [{ hosts: ['A.EXAMPLE:80'] }, 'http://a.example/'],
    [{ hosts: [], httpVersion: '1.0' }, 'http://a.example/'],
    [{ url: 'http://a.example/?u=https://b.example' }, 'http://a.example/?u=https://b.example'],
    [{ headers: { upgrade: 'H2C' } }, 'http://a.example/'],
    [{ headers: { expect: '100-Continue' } }, 'http://a.example/'],
    [{ headers: { 'transfer-encoding': 'Chunked' } }, 'http://a.example/'],
  ])('is judged: %j', (parts, url) => {
    expect(judgedRequest(parts)).toBe(url)
  })

  it.each([
    [{ url: 'HTTPS://a.example/' }, 'https goes through the proxy by CONNECT.', 'Use a tunnel: CONNECT.'],
    [{ url: '/x' }, URLS, 'Ask for GET http://host/path.'],
    [{ url: 'http://a.example/\u00e4' }, URLS, 'Ask for GET http://host/path.'],
    [{ url: 'http://a.example/ ' }, URLS, 'Ask for GET http://host/path.'],
    [{ method: 'TRACE' }, 'TRACE returns what others should not see.', 'Use another method.'],
    [{ hosts: [] }, 'The request has 0 Host headers.', PLAIN],
    [{ hosts: ['a.example', 'a.example'] }, 'The request has 2 Host headers.', PLAIN],
    [
      { hosts: ['b.example'] },
      'The Host header is another than the host of the URL, a.example.',
      'Make both the same.',
    ],
    [
      { hosts: ['a.example/x'] },
      'The Host header is another than the host of the URL, a.example.',
      'Make both the same.',
    ],
    [
      { hosts: ['a.example/?x'] },
      'The Host header is another than the host of the URL, a.example.',
      'Make both the same.',
    ],
    [{ hosts: [''] }, 'The Host header is another than the host of the URL, a.example.', 'Make both the same.'],
    [
      { headers: { 'transfer-encoding': 'gzip, chunked' } },
      'The body is encoded in a way that the proxy does not know.',
      'Use chunked, or a Content-Length.',
    ],
    [
      { headers: { 'transfer-encoding': 'chunked' }, httpVersion: '1.0' },
      'The body is encoded in a way that the proxy does not know.',
      'Use chunked, or a Content-Length.',
    ],
    [{ headers: { upgrade: 'websocket' } }, 'The proxy changes to no other protocol.', 'Use wss:// instead of ws://.'],
    [{ headers: { expect: '200-ok' } }, 'The proxy cannot meet what Expect asks for.', 'Leave the header out.'],
  ])('is refused: %j', (parts, message, hint) => {
    expect(() => judgedRequest(parts)).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: expect.objectContaining({ hint }) }),
    )
  })

  it('counts the names of headers only, not values that read like one', () => {
    const odd = { ...request({}), rawHeaders: ['Host', 'a.example', 'X-A', 'host'] } as unknown as IncomingMessage
    expect(judgeRequest(odd, judgeUrl).href).toBe('http://a.example/')
  })
})
