import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { endToEndHeaders, framing } from './end-to-end-headers.ts'

const message = (parts: object) =>
  ({ headers: {}, rawHeaders: [], method: 'GET', ...parts }) as unknown as IncomingMessage

describe('the headers that go on', () => {
  it.each([
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
  ])('are not %s', (name) => {
    expect(endToEndHeaders(message({ rawHeaders: ['A', '1', name, 'x', 'B', '2'] }))).toEqual(['A', '1', 'B', '2'])
  })

  it.each(['X-Host', 'Hosts', 'X-TE', 'TEA', 'X-Proxy-A', 'Connection-Id', 'X-Connection', 'Proxy', 'Expects'])(
    'may be %s',
    (name) => {
      expect(endToEndHeaders(message({ rawHeaders: [name, 'x'] }))).toEqual([name, 'x'])
    },
  )

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
