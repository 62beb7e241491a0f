import { once } from 'node:events'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { useLoopback } from '../../../../test/support/loopback.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'

const local = useLoopback()
const code = (expected: string) => expect.objectContaining({ code: expected })
const allClosed = () => Promise.all(local.sockets.map((socket) => socket.closed || once(socket, 'close')))

/** Answers whatever it is asked with these bytes and hangs up. */
const saying = (bytes: string | Buffer) => (socket: Socket) => socket.once('data', () => socket.end(bytes))

/** Reads a streamed body to its end. */
async function drained(body: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

it('notices a body that is shorter than announced, read whole, streamed and packed', async () => {
  const packed = gzipSync('x'.repeat(5000))
  const liars = [
    'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nshort',
    Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n'), packed.subarray(0, 30)]),
  ]
  for (const lie of liars) {
    const fetch = local.fetchWith({ dial: await local.liar(saying(lie)) })
    await expect(fetch('http://a.example/')).rejects.toThrow(code('UPSTREAM_ERROR'))
    const response = await fetch('http://a.example/', { stream: true })
    await expect(drained(response.chunks())).rejects.toThrow(code('UPSTREAM_ERROR'))
  }
  await allClosed()
})

it('never takes bytes after an answer for the answer to the next request', async () => {
  const smuggled = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'
  let asked = 0
  const dial = await local.liar((socket) =>
    socket.on('data', () => {
      asked += 1
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${asked}!${smuggled}`)
    }),
  )
  const fetch = local.fetchWith({ dial })
  for (const round of [1, 2, 3]) expect(await (await fetch('http://a.example/')).text()).toBe(`${round}!`)
})

it('ends endless headers, trailers and redirects', async () => {
  const flood = (start: string) => (socket: Socket) => {
    const more = () => socket.destroyed || socket.write('x: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(50), more)
    socket.once('data', () => socket.write(start, more))
  }
  const headers = local.fetchWith({ dial: await local.liar(flood('HTTP/1.1 200 OK\r\n')) })
  await expect(headers('http://a.example/')).rejects.toThrow(code('HTTP_TOO_LARGE'))
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n'
  const trailers = local.fetchWith({ dial: await local.liar(flood(chunked)) })
  await expect(trailers('http://a.example/')).rejects.toThrow(code('HTTP_TOO_LARGE'))
  local.answer = (_, response) => response.writeHead(307, { location: '/again' }).end()
  await expect(local.fetchWith()('http://a.example/')).rejects.toThrow(/more than 5 times/)
})

it('stops a gzip bomb at the limit, read whole, streamed and cut', async () => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  local.answer = (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
  const fetch = local.fetchWith({ maxBytes: 100_000 })
  await expect(fetch('http://a.example/')).rejects.toThrow(/more than 100000 bytes, the limit is 100000/)
  const streamed = await fetch('http://a.example/', { stream: true })
  await expect(drained(streamed.chunks())).rejects.toThrow(code('HTTP_TOO_LARGE'))
  const cut = await fetch('http://a.example/', { overflow: 'cut' })
  expect([cut.isCut, (await cut.bytes()).length]).toEqual([true, 100_000])
})

it('ends at the deadline whatever drips: greetings, headers or a body', async () => {
  const drips = {
    greetings: 'HTTP/1.1 102 Processing\r\n\r\n',
    headers: 'HTTP/1.1 200 OK\r\nx: ',
    body: 'HTTP/1.1 200 OK\r\n\r\nx',
    nothing: '',
  }
  for (const [name, drip] of Object.entries(drips)) {
    const clock = fakeClock()
    const dial = await local.liar((socket) =>
      socket.once('data', () => socket.write(drip, () => void clock.advance(1000))),
    )
    const fetch = local.fetchWith({ dial, clock, timeoutMs: 1000 })
    await expect(fetch('http://a.example/'), name).rejects.toThrow(/did not finish in 1000 ms/)
  }
  await allClosed()
})

it('ends at the deadline also in the middle of a stream that is being read', async () => {
  const clock = fakeClock()
  const dial = await local.liar((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\npart')))
  const response = await local.fetchWith({ dial, clock, timeoutMs: 1000 })('http://a.example/', { stream: true })
  const reading = drained(response.chunks())
  const ended = expect(reading).rejects.toThrow(code('HTTP_TIMEOUT'))
  await clock.advance(1000)
  await ended
  await allClosed()
})

it('says so when the other side hangs up, half or wholly, before it answered', async () => {
  for (const hangUp of [
    (socket: Socket) => socket.end(),
    (socket: Socket) => socket.destroy(),
    (socket: Socket) => socket.resetAndDestroy(),
    (socket: Socket) => socket.once('data', () => socket.end()),
    (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()),
  ]) {
    const fetch = local.fetchWith({ dial: await local.liar(hangUp) })
    await expect(fetch('http://a.example/')).rejects.toThrow(code('UPSTREAM_ERROR'))
    await expect(fetch('https://a.example/')).rejects.toThrow(code('UPSTREAM_ERROR'))
  }
  await allClosed()
})
