import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { useLoopback } from '../../../../../test/support/loopback.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

const local = useLoopback()
const code = (expected: string) => expect.objectContaining({ code: expected })
const total = async (chunks: AsyncIterable<Uint8Array>) => {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  return bytes
}

it('cuts exactly at the limit, at a character for text, and says so', async () => {
  local.answer = (_, response) => response.end('ü'.repeat(100))
  const fetch = local.fetchWith()
  const cut = await fetch('http://a.example/', { maxBytes: 11, overflow: 'cut' })
  expect([cut.isCut, (await cut.bytes()).length, await cut.text()]).toEqual([true, 11, 'üüüüü'])
  const exact = await fetch('http://a.example/', { maxBytes: 200, overflow: 'cut' })
  expect([exact.isCut, (await exact.bytes()).length]).toEqual([false, 200])
  const streamed = await fetch('http://a.example/', { maxBytes: 11, overflow: 'cut', stream: true })
  expect([await total(streamed.chunks()), streamed.isCut]).toEqual([11, true])
})

it('has another limit for streams than for bodies read whole, and the call may set a lower one', async () => {
  local.answer = (_, response) => response.end('x'.repeat(20_000))
  const owner = { maxBytes: 10_000, maxDownloadBytes: 50_000 }
  await expect(local.fetchWith(owner)('http://a.example/')).rejects.toThrow(/20000 bytes, the limit is 10000/)
  const response = await local.fetchWith(owner)('http://a.example/', { stream: true })
  expect(await total(response.chunks())).toBe(20_000)
  const bound = await local.fetchWith(owner, { maxBytes: 15_000 })('http://a.example/', { stream: true })
  await expect(total(bound.chunks())).rejects.toThrow(code('HTTP_TOO_LARGE'))
})

it('reads the beginning of a longer answer, and streams all of it once, under the limit of streams', async () => {
  local.answer = (_, response) => response.end('ü'.repeat(10_000))
  const owner = { maxBytes: 10_001, maxDownloadBytes: 50_000 }
  const long = await local.fetchWith(owner)('http://a.example/', { overflow: 'stream' })
  expect([long.isCut, (await long.bytes()).length, await long.text()]).toEqual([true, 10_001, 'ü'.repeat(5_000)])
  expect(await total(long.chunks())).toBe(20_000)
  expect(() => long.chunks()).toThrow(TypeError)
  local.answer = (_, response) => response.end('short')
  const short = await local.fetchWith(owner)('http://a.example/', { overflow: 'stream' })
  expect([short.isCut, await short.text(), await total(short.chunks())]).toEqual([false, 'short', 5])
  local.answer = (_, response) => response.write('x'.repeat(60_000)) && response.end()
  const huge = local.fetchWith(owner)('http://a.example/', { overflow: 'stream' })
  await expect(huge.then((response) => total(response.chunks()))).rejects.toThrow(code('HTTP_TOO_LARGE'))
})

it('closes the connection of a begun answer that is given up, and when its time is over', async () => {
  const gone: Promise<unknown>[] = []
  local.answer = (_, response) => {
    gone.push(once(response, 'close'))
    response.write('x'.repeat(20_000))
  }
  const clock = fakeClock()
  const fetch = local.fetchWith({ clock, maxBytes: 10_000, maxDownloadBytes: 50_000 })
  const given = await fetch('http://a.example/', { overflow: 'stream' })
  for await (const _ of given.chunks()) break
  await gone[0]
  const late = await fetch('http://a.example/', { overflow: 'stream', timeoutMs: 5_000 })
  await clock.advance(5_000)
  await expect(total(late.chunks())).rejects.toThrow(code('HTTP_TIMEOUT'))
  await gone[1]
})

it('returns a stream after its headers, and lets it be read once', async () => {
  local.answer = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).flushHeaders()
    setImmediate(() => response.end(gzipSync('streamed')))
  }
  const response = await local.fetchWith()('http://a.example/', { stream: true })
  expect(await response.text()).toBe('streamed')
  expect(() => response.chunks()).toThrow(TypeError)
  await expect(response.bytes()).rejects.toThrow(TypeError)
})

it('makes the server wait when nobody reads', async () => {
  const chunk = Buffer.alloc(65_536)
  let sent = 0
  local.answer = (_, response) => {
    const more = () => {
      while (sent < 100e6) {
        sent += chunk.length
        if (!response.write(chunk)) return response.once('drain', more)
      }
      return response.end()
    }
    more()
  }
  const response = await local.fetchWith({ maxDownloadBytes: 200e6 })('http://a.example/', { stream: true })
  // Turns enough for all of it to go over.
  for (let turn = 0; turn < 5000; turn += 1) await new Promise(setImmediate)
  // What the buffers of two sockets hold, and no more.
  expect(sent).toBeLessThan(30e6)
  expect(await total(response.chunks())).toBe(sent)
})

it('uses the connection again after a body that was read, not after one that was left', async () => {
  local.answer = (_, response) => response.end('x'.repeat(5_000_000))
  const fetch = local.fetchWith({ maxDownloadBytes: 1e7 })
  for (let round = 0; round < 3; round += 1) await total((await fetch('http://a.example/', { stream: true })).chunks())
  expect(local.sockets.length).toBe(1)
  for await (const _ of (await fetch('http://a.example/', { stream: true })).chunks()) break
  if (!local.sockets[0]!.closed) await once(local.sockets[0]!, 'close')
  await fetch('http://a.example/', { method: 'HEAD' })
  expect(local.sockets.length).toBe(2)
})

it('gives whole bodies as one chunk, and other text as it is when a page is wanted', async () => {
  local.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('<b>plain</b>')
  const response = await local.fetchWith()('http://a.example/')
  expect(await total(response.chunks())).toBe(12)
  expect(await response.readable()).toEqual({ text: '<b>plain</b>' })
})

it('gives what a person would read of a page', async () => {
  const page = '<html><head><title>T</title></head><body><script>bad()</script><p>Hello <b>you</b>.</p></body></html>'
  local.answer = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page)
  const response = await local.fetchWith()('http://a.example/')
  const { text } = await response.readable({ as: 'text' })
  expect(text).toContain('Hello you.')
  expect(text).not.toContain('bad()')
})

it('gives the same bytes however they come: in any pieces, chunked or not, packed or not', async () => {
  const fetchAgain = local.fetchWith()
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 5000 }),
      fc.array(fc.integer({ min: 1, max: 999 }), { maxLength: 6 }),
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      async (bytes, sizes, isPacked, isChunked, isStreamed) => {
        const body = isPacked ? gzipSync(bytes) : Buffer.from(bytes)
        local.answer = (_, response) => {
          response.setHeader('connection', sizes.length > 3 ? 'close' : 'keep-alive')
          if (isPacked) response.setHeader('content-encoding', 'gzip')
          if (!isChunked) response.setHeader('content-length', body.length)
          let at = 0
          for (const size of sizes) {
            response.write(body.subarray(at, at + size))
            at += size
          }
          response.end(body.subarray(at))
        }
        const response = await fetchAgain('http://a.example/', { stream: isStreamed })
        expect(Buffer.from(await response.bytes()).equals(Buffer.from(bytes))).toBe(true)
      },
    ),
    { numRuns: 60 },
  )
})
