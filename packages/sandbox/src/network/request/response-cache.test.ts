import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it, vi } from 'vitest'
import { useLoopback } from '../../../../../test/support/loopback.ts'
import type { FetchOptions } from '../../../../core/src/handles.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'
import { cacheKey, createResponseCache, mayKeep, validators } from './response-cache.ts'

const local = useLoopback()

/** A server that answers with its content and headers, and 304 to who has it already; tells what it was asked. */
function serve(content: () => string, headers: () => OutgoingHttpHeaders = () => ({})) {
  const asked: IncomingHttpHeaders[] = []
  local.answer = (request, response) => {
    asked.push(request.headers)
    const etag = `"${createHash('sha256').update(content()).digest('hex')}"`
    const isKnown = request.headers['if-none-match'] === etag
    response.writeHead(isKnown ? 304 : 200, { etag, ...headers() }).end(isKnown ? undefined : content())
  }
  return asked
}

const setUp = (call = {}) => {
  const clock = fakeClock()
  const cache = createResponseCache({ clock })
  const fetch = local.fetchWith({ clock, maxBytes: 2e6 }, { cache, ...call })
  const read = async (options?: FetchOptions, url = 'http://a.example/') => {
    const response = await fetch(url, options)
    return [response.status, await response.text(), response.isCached]
  }
  return { clock, cache, fetch, read }
}

it('asks whether what it has is still good, and gives it when it is', async () => {
  let content = 'one'
  const asked = serve(() => content)
  const { read } = setUp()
  expect(await read()).toEqual([200, 'one', false])
  expect(await read()).toEqual([200, 'one', true])
  expect(await read()).toEqual([200, 'one', true])
  content = 'two'
  expect(await read()).toEqual([200, 'two', false])
  expect(asked.map((headers) => headers['if-none-match'] !== undefined)).toEqual([false, true, true, true])
})

it('gives headers that nobody can change, first or again', async () => {
  serve(() => 'one')
  const { fetch } = setUp()
  for (const isCached of [false, true]) {
    const response = await fetch('http://a.example/')
    expect([response.isCached, Object.isFrozen(response.headers)]).toEqual([isCached, true])
  }
})

it('streams all of an answer that it has, when only its beginning is wanted', async () => {
  serve(() => 'all of it')
  const { fetch } = setUp()
  await fetch('http://a.example/', { overflow: 'stream' })
  const response = await fetch('http://a.example/', { overflow: 'stream', maxBytes: 3 })
  expect([response.isCached, response.isCut, await response.text()]).toEqual([true, true, 'all'])
  const chunks: Uint8Array[] = []
  for await (const chunk of response.chunks()) chunks.push(chunk)
  expect(Buffer.concat(chunks).toString()).toBe('all of it')
})

it('asks with the date when there is nothing else to ask with', async () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
  local.answer = (request, response) => {
    const isKnown = request.headers['if-modified-since'] === date
    response.writeHead(isKnown ? 304 : 200, { 'last-modified': date }).end(isKnown ? undefined : 'dated')
  }
  const { read } = setUp()
  await read()
  expect(await read()).toEqual([200, 'dated', true])
})

it('asks nobody about an answer that is as young as wanted', async () => {
  const asked = serve(
    () => 'page',
    () => ({ etag: [] as never, 'cache-control': 'private, max-age=0' }),
  )
  const { read, clock } = setUp()
  await read({ maxAgeMs: 1000 })
  await clock.advance(1000)
  expect(await read({ maxAgeMs: 1000 })).toEqual([200, 'page', true])
  expect(asked.length).toBe(1)
  await clock.advance(1)
  expect(await read({ maxAgeMs: 1000 })).toEqual([200, 'page', false])
  expect(asked.length).toBe(2)
})

it('keeps nothing that it must not keep', async () => {
  const cases: [OutgoingHttpHeaders, FetchOptions][] = [
    [{ 'cache-control': 'no-store' }, {}],
    [{ vary: 'cookie' }, {}],
    [{ vary: '*' }, {}],
    [{}, { headers: { authorization: 'x' } }],
    [{}, { headers: { cookie: 'x' } }],
    [{}, { headers: { range: 'bytes=0-1' } }],
    [{}, { headers: { 'x-api-key': 'x' } }],
    [{}, { method: 'HEAD' }],
    [{}, { stream: true }],
    [{}, { maxBytes: 2, overflow: 'cut' }],
  ]
  for (const [headers, options] of cases) {
    const asked = serve(
      () => 'content',
      () => headers,
    )
    const { fetch } = setUp()
    for (const _ of [1, 2]) await (await fetch('http://a.example/', { ...options, maxAgeMs: 9999 })).bytes()
    expect(asked.length, JSON.stringify([headers, options])).toBe(2)
    expect(asked[1]!['if-none-match']).toBeUndefined()
  }
})

it('keeps answers apart by what may be in them', async () => {
  const asked = serve(
    () => 'content',
    () => ({ vary: 'Accept, accept-language' }),
  )
  const { read } = setUp()
  await read({ headers: { accept: 'text/html' }, maxAgeMs: 9999 })
  expect((await read({ headers: { accept: 'text/plain' }, maxAgeMs: 9999 }))[2]).toBe(false)
  expect((await read({ headers: { accept: 'text/html' }, maxAgeMs: 9999 }, 'http://b.example/'))[2]).toBe(false)
  expect((await read({ headers: { Accept: 'text/html' }, maxAgeMs: 9999 }))[2]).toBe(true)
  expect(asked.length).toBe(3)
})

it('asks policy about a kept answer as about a new one, redirects included, and labels it', async () => {
  local.answer = (request, response) => {
    if (request.url === '/') return void response.writeHead(302, { location: 'http://b.example/end' }).end()
    response.writeHead(200, { etag: '"1"' }).end('end')
  }
  const permits = vi.fn()
  const onAnswer = vi.fn()
  const { read, fetch } = setUp({ permits, onAnswer })
  await read({ maxAgeMs: 9999 })
  permits.mockClear()
  onAnswer.mockClear()
  expect((await fetch('http://a.example/', { maxAgeMs: 9999 })).url).toBe('http://b.example/end')
  expect(permits.mock.calls).toEqual([
    ['http://a.example/', 'network'],
    ['http://b.example/end', 'network'],
  ])
  expect(onAnswer).toHaveBeenCalledOnce()
  permits.mockImplementation((url: string) => {
    if (url.includes('b.example')) throw new ToolError('POLICY_DENIED', 'no more')
  })
  await expect(read({ maxAgeMs: 9999 })).rejects.toThrow(expect.objectContaining({ code: 'POLICY_DENIED' }))
})

it('gives kept answers under the limits of the call that gets them, and nobody can change them', async () => {
  serve(() => 'a long text')
  const { read, fetch } = setUp()
  await read()
  await expect(read({ maxBytes: 5, maxAgeMs: 9999 })).rejects.toThrow(
    expect.objectContaining({ code: 'HTTP_TOO_LARGE' }),
  )
  expect(await read({ maxBytes: 6, overflow: 'cut', maxAgeMs: 9999 })).toEqual([200, 'a long', true])
  const kept = await fetch('http://a.example/', { maxAgeMs: 9999 })
  ;(await kept.bytes()).fill(0)
  expect((await read({ maxAgeMs: 9999 }))[1]).toBe('a long text')
})

it('is bounded in all and for each', () => {
  const cache = createResponseCache({ maxBytes: 100_000, maxEntryBytes: 20_000, clock: fakeClock() })
  const answer = (bytes: number) => ({ status: 200, headers: {}, urls: [], bytes: Buffer.alloc(bytes) })
  for (let index = 0; index < 20; index += 1) cache.keep(`${index}`, answer(10_000))
  const kept = Array.from({ length: 20 }, (_, index) => cache.find(`${index}`) !== undefined)
  expect(kept.filter(Boolean).length).toBe(8)
  expect(kept.at(-1)).toBe(true)
  cache.keep('large', answer(20_001))
  expect(cache.find('large')).toBeUndefined()
})

it('has room for 8 MB in all and 1 MB each, with 2 KB beside each answer', () => {
  const answer = (bytes: number) => ({ status: 200, headers: {}, urls: [], bytes: Buffer.alloc(bytes) })
  const cache = createResponseCache({ clock: fakeClock() })
  cache.keep('most', answer(1_048_576))
  cache.keep('more', answer(1_048_577))
  expect([cache.find('most') !== undefined, cache.find('more')]).toEqual([true, undefined])
  const small = createResponseCache({ maxBytes: 3 * 2_058, clock: fakeClock() })
  for (const key of ['a', 'b', 'c']) small.keep(key, answer(10))
  expect(['a', 'b', 'c'].filter((key) => small.find(key))).toEqual(['a', 'b', 'c'])
  small.keep('d', answer(11))
  expect(['a', 'b', 'c', 'd'].filter((key) => small.find(key))).toEqual(['c', 'd'])
})

it('tells how old an answer is', async () => {
  const clock = fakeClock()
  const cache = createResponseCache({ clock })
  const answer = { status: 200, headers: {}, urls: [], bytes: Buffer.alloc(1) }
  cache.keep('a', answer)
  await clock.advance(7)
  expect(cache.find('a')).toEqual({ answer, ageMs: 7 })
})

it.each([
  [{ status: 200, headers: { etag: 'x' } }, false, true],
  [{ status: 200, headers: { 'last-modified': 'x' } }, false, true],
  [{ status: 200, headers: {} }, false, false],
  [{ status: 200, headers: {} }, true, true],
  [{ status: 201, headers: { etag: 'x' } }, true, false],
  [{ status: 200, headers: { 'cache-control': 'public, No-Store ' } }, true, false],
  [{ status: 200, headers: { 'cache-control': 'no-storex' } }, true, true],
  [{ status: 200, headers: { vary: 'Accept-Encoding, ,accept' } }, true, true],
  [{ status: 200, headers: { vary: 'accept, cookie' } }, true, false],
])('keeps %j with an age that is enough (%s): %s', (answer, isAgeEnough, expected) => {
  expect(mayKeep(answer as { status: number; headers: Record<string, string> }, isAgeEnough)).toBe(expected)
})

it('keys an answer by its URL and the headers that may change it', () => {
  const key = (headers: Record<string, string>, method: 'GET' | 'HEAD' = 'GET') =>
    cacheKey({ url: new URL('http://a.example/x'), method, headers: new Map(Object.entries(headers)), body: undefined })
  expect(key({ 'user-agent': 'u', accept: 'a', 'accept-language': 'l' })).toBe('http://a.example/x\na\n\nl')
  expect(key({ 'accept-encoding': 'e' })).toBe('http://a.example/x\n\ne\n')
  expect([key({ 'x-a': '1' }), key({}, 'HEAD')]).toEqual([undefined, undefined])
})

it('asks with all that the server gave', () => {
  const asked = (headers: Record<string, string>) => {
    const found = validators({ status: 200, headers, urls: [], bytes: Buffer.alloc(0) })
    return found && Object.fromEntries(found)
  }
  expect(asked({ etag: 'e', 'last-modified': 'd' })).toEqual({ 'if-none-match': 'e', 'if-modified-since': 'd' })
  expect([asked({ etag: 'e' }), asked({})]).toEqual([{ 'if-none-match': 'e' }, undefined])
})
