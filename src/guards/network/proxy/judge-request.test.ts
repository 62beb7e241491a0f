import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { judgeUrl } from '../judge-url.ts'
import { judgeRequest } from './judge-request.ts'

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
const judged = (parts: Parameters<typeof request>[0] & { headers?: object }) =>
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
    expect(judged(parts)).toBe(url)
  })

  it.each([
    [{ url: 'HTTPS://a.example/' }, 'https goes through the proxy by CONNECT.', 'Use a tunnel: CONNECT.'],
    [{ url: '/x' }, URLS, 'Ask for GET http://host/path.'],
    [{ url: 'http://a.example/\u00e4' }, URLS, 'Ask for GET http://host/path.'],
    [{ url: 'http://a.example/ ' }, URLS, 'Ask for GET http://host/path.'],
    [{ method: 'TRACE' }, 'TRACE gives back what others should not see.', 'Use another method.'],
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
    expect(() => judged(parts)).toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: expect.objectContaining({ hint }) }),
    )
  })

  it('counts the names of headers only, not values that read like one', () => {
    const odd = { ...request({}), rawHeaders: ['Host', 'a.example', 'X-A', 'host'] } as unknown as IncomingMessage
    expect(judgeRequest(odd, judgeUrl).href).toBe('http://a.example/')
  })
})
