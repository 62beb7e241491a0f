import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { NEVER, PUBLIC } from '../../../../test/support/loopback.ts'
import { connectTo, get, type ProxySetting, sayTo, useProxies } from '../../../../test/support/proxies.ts'
import { ToolError } from '../../../errors.ts'

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
