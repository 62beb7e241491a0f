import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialHost } from './dial-host.ts'

let server: Server
let port = 0
beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => {}).end('hello'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

const GUARD = { privateRanges: [], blockedRanges: [], userAgent: 'hub/1' }
const NEVER = new AbortController().signal
const resolve = (...addresses: string[]) => ({ ...GUARD, resolve: async () => addresses })

describe('dialling a host of the owner', () => {
  it('reaches loopback when it was spelt out, as an address or by its name', async () => {
    const socket = await dialHost({ host: '127.0.0.1', port, signal: NEVER }, GUARD)
    const [hello] = await once(socket, 'data')
    expect(String(hello)).toBe('hello')
    const named = await dialHost({ host: 'localhost', port, signal: NEVER }, resolve('127.0.0.1'))
    named.destroy()
  })

  it.each([
    ['mail.example.org', '127.0.0.1'],
    ['mail.example.org', '10.0.0.5'],
    ['mail.example.org', '169.254.169.254'],
    ['localhost', '169.254.169.254'],
  ])('refuses %s when it leads to %s', async (host, address) => {
    const dialling = dialHost({ host, port, signal: NEVER }, resolve(address))
    await expect(dialling).rejects.toMatchObject({ code: 'HTTP_DISALLOWED_HOST' })
  })

  it('never reaches a metadata address, though it was spelt out', async () => {
    const dialling = dialHost({ host: '169.254.169.254', port: 25, signal: NEVER }, GUARD)
    await expect(dialling).rejects.toMatchObject({ code: 'HTTP_DISALLOWED_HOST' })
  })

  it('reaches a private address by name only where the owner opened its range', async () => {
    const guard = { ...resolve('127.0.0.1'), privateRanges: ['127.0.0.0/8'] }
    const socket = await dialHost({ host: 'mail.internal', port, signal: NEVER }, guard)
    socket.destroy()
  })

  it.each(['mail example.org', 'user@host', 'a/b', '', '[::1]', 'host:25', 'x\r\ny'])(
    'refuses %j as a host',
    async (host) => {
      await expect(dialHost({ host, port, signal: NEVER }, GUARD)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    },
  )

  it('dials a port from 1 to 65535 and no other', async () => {
    const ports: number[] = []
    const dial = (_: string, wanted: number) => {
      ports.push(wanted)
      return connect(port, '127.0.0.1')
    }
    for (const wanted of [1, 65_535]) {
      const socket = await dialHost({ host: '127.0.0.1', port: wanted, signal: NEVER }, { ...GUARD, dial })
      socket.destroy()
    }
    for (const wanted of [0, -1, 65_536, 1.5, Number.NaN]) {
      const dialling = dialHost({ host: '127.0.0.1', port: wanted, signal: NEVER }, { ...GUARD, dial })
      await expect(dialling).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: `"127.0.0.1:${wanted}" is not a host and a port.`,
        fix: { hint: 'Write a name or an address, and a port from 1 to 65535.' },
      })
    }
    expect(ports).toEqual([1, 65_535])
  })

  it('tries the next address when one does not answer', async () => {
    const guard = { ...resolve('127.0.0.9', '127.0.0.1'), privateRanges: ['127.0.0.0/8'] }
    const socket = await dialHost({ host: 'mail.internal', port, signal: NEVER }, guard)
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
  })

  it('says so when nobody listens, and stops when it is aborted', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port: nobody } = closed.address() as AddressInfo
    closed.close()
    const dialling = dialHost({ host: '127.0.0.1', port: nobody, signal: NEVER }, GUARD)
    await expect(dialling).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', message: /No connection to 127/ })
    const stopped = AbortSignal.abort(new Error('enough'))
    await expect(dialHost({ host: '127.0.0.1', port, signal: stopped }, GUARD)).rejects.toThrow('enough')
  })
})
