import { once } from 'node:events'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { useLoopback } from '../../../../test/support/loopback.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { NetworkGuardOptions } from './network-guard.ts'

const local = useLoopback()
const aborted = expect.objectContaining({ code: 'ABORTED' })

/** Fetches until `stage` calls its `stop`, and tells what was left open. */
async function stoppedIn(
  makeStage: (stop: () => void) => Partial<NetworkGuardOptions> | Promise<Partial<NetworkGuardOptions>>,
  url = 'http://a.example/',
) {
  const stopping = new AbortController()
  const options = await makeStage(() => stopping.abort())
  const fetch = local.fetchWith(options, { signal: () => stopping.signal })
  await expect(fetch(url, { retries: 3 })).rejects.toThrow(aborted)
  // At once: some other timer would close them later, too.
  expect(local.sockets.filter((socket) => !socket.destroyed)).toEqual([])
}

it('before anything was asked', async () => {
  const fetch = local.fetchWith({}, { signal: () => AbortSignal.abort() })
  await expect(fetch('http://a.example/')).rejects.toThrow(aborted)
  expect(local.sockets).toEqual([])
})

it('while a name is resolved', async () => {
  await stoppedIn((stop) => ({
    resolve() {
      setImmediate(stop)
      return new Promise<never>(() => {})
    },
  }))
  expect(local.sockets).toEqual([])
})

it('while the connection is made', async () => {
  await stoppedIn((stop) => ({
    dial() {
      // It never connects, like one whose packets are dropped.
      const socket = new Socket()
      local.sockets.push(socket)
      setImmediate(stop)
      return socket
    },
  }))
})

it('in the middle of the TLS handshake', async () => {
  await stoppedIn(async (stop) => {
    const dial = await local.liar((socket) => socket.once('data', stop))
    return { dial }
  }, 'https://a.example/')
})

it('while the headers are awaited', async () => {
  await stoppedIn((stop) => {
    local.answer = stop
    return {}
  })
})

it('in the middle of the body, plain and packed', async () => {
  for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
    await stoppedIn((stop) => {
      local.answer = (_, response) => {
        response.writeHead(200, headers).write(Buffer.from([0x1f, 0x8b]), () => setImmediate(stop))
      }
      return {}
    })
  }
})

it('on a redirect, and while its body is thrown away', async () => {
  await stoppedIn((stop) => {
    local.answer = (_, response) => {
      response.writeHead(302, { location: '/next', 'content-length': '9' }).write('part', () => setImmediate(stop))
    }
    return {}
  })
})

it('in the pause before a repetition', async () => {
  await stoppedIn((stop) => {
    const clock = fakeClock()
    local.answer = (_, response) => response.writeHead(503, { connection: 'close' }).end()
    const after: typeof clock.after = (ms, callback) => {
      // The deadline is one timer, the pause the other.
      if (ms < 5000) setImmediate(stop)
      return clock.after(ms, callback)
    }
    return { clock: { now: clock.now, after } }
  })
})

it('tears a stream down that was never read, and one that was left in the middle', async () => {
  const filler = Buffer.alloc(100_000)
  local.answer = (_, response) => {
    const more = () => response.destroyed || response.write(filler, more)
    more()
  }
  for (const isRead of [false, true]) {
    const stopping = new AbortController()
    const fetch = local.fetchWith({ maxDownloadBytes: 1e9 }, { signal: () => stopping.signal })
    const response = await fetch('http://a.example/', { stream: true })
    const chunks = response.chunks()[Symbol.asyncIterator]()
    if (isRead) expect((await chunks.next()).done).toBe(false)
    const socket = local.sockets.at(-1)!
    stopping.abort()
    if (!socket.closed) await once(socket, 'close')
    await expect(chunks.next()).rejects.toThrow(aborted)
  }
})

it('stops nothing that is over: the connection is used again', async () => {
  const stopping = new AbortController()
  const guard = local.guard()
  await guard.handle({ signal: () => stopping.signal })('http://a.example/')
  stopping.abort()
  expect(local.sockets.map((socket) => socket.destroyed)).toEqual([false])
})
