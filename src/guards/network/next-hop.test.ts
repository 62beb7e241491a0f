import { expect, it } from 'vitest'
import { type Hop, nextHop } from './next-hop.ts'

const hop = (init: Partial<Hop> = {}): Hop => ({
  url: new URL('https://a.example/x'),
  method: 'GET',
  headers: new Map([
    ['accept', 'text/html'],
    ['authorization', 'Bearer secret'],
    ['x-api-key', 'secret'],
    ['content-type', 'text/plain'],
  ]),
  body: undefined,
  ...init,
})

it('sees no redirect in other answers', () => {
  for (const status of [200, 201, 300, 304, 404, 500])
    expect(nextHop(hop(), status, 'https://b.example')).toBeUndefined()
  expect(nextHop(hop(), 302, undefined)).toBeUndefined()
})

it('keeps credentials on the same origin and drops them across origins, also to another port', () => {
  expect([...nextHop(hop(), 302, '/y')!.headers.keys()]).toContain('authorization')
  for (const location of ['https://b.example/', 'https://a.example:8443/', 'https://sub.a.example/']) {
    expect([...nextHop(hop(), 307, location)!.headers.keys()]).toEqual(['accept', 'content-type'])
  }
})

it('turns a POST into a GET without its body, except where the body has to come along', () => {
  const post = hop({ method: 'POST', body: 'data' })
  for (const status of [301, 302, 303]) {
    const next = nextHop(post, status, '/y')!
    expect(next).toMatchObject({ method: 'GET', body: undefined })
    expect([...next.headers.keys()]).not.toContain('content-type')
  }
  for (const status of [307, 308]) expect(nextHop(post, status, '/y')).toMatchObject({ method: 'POST', body: 'data' })
  expect(nextHop(hop({ method: 'HEAD' }), 303, '/y')).toMatchObject({ method: 'HEAD' })
})

it('does not go from https to http, nor to what is no URL', () => {
  expect(() => nextHop(hop(), 302, 'http://a.example/')).toThrow(
    expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST' }),
  )
  expect(() => nextHop(hop(), 302, 'http://[')).toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR', retryable: false }),
  )
})

it('keeps exactly the headers across origins that are no credentials', () => {
  const names =
    'accept accept-encoding accept-language content-language content-type user-agent cookie referer x-a'.split(' ')
  const headers = new Map(names.map((name) => [name, '1']))
  const kept = nextHop(hop({ headers }), 307, 'https://b.example/')!.headers
  expect([...kept.keys()]).toEqual(names.slice(0, 6))
  const secret = nextHop(hop({ headers: new Map([['accept', '${secret:x}']]) }), 307, 'https://b.example/')!.headers
  expect([...secret.keys()]).toEqual([])
})

it('leaves what is about a body behind with the body', () => {
  const names = ['content-type', 'content-language', 'content-encoding', 'content-location', 'accept', 'x-a']
  const post = hop({ method: 'POST', body: 'x', headers: new Map(names.map((name) => [name, '1'])) })
  expect([...nextHop(post, 302, '/y')!.headers.keys()]).toEqual(['accept', 'x-a'])
  expect([...nextHop(post, 308, '/y')!.headers.keys()]).toEqual(names)
})

it.each([
  [301, 'PUT', 'PUT'],
  [302, 'PUT', 'PUT'],
  [303, 'PUT', 'GET'],
  [307, 'PUT', 'PUT'],
  [301, 'HEAD', 'HEAD'],
  [303, 'HEAD', 'HEAD'],
  [303, 'GET', 'GET'],
] as const)('after %d a %s is a %s', (status, method, expected) => {
  expect(nextHop(hop({ method }), status, '/y')!.method).toBe(expected)
})

it('says who redirects where, and lets a host go from http to https', () => {
  const plain = hop({ url: new URL('http://a.example/') })
  expect(nextHop(plain, 301, 'https://a.example/')!.url.href).toBe('https://a.example/')
  expect(nextHop(plain, 301, 'http://b.example/')!.url.href).toBe('http://b.example/')
  expect(() => nextHop(hop(), 302, 'http://b.example/')).toThrow(
    expect.objectContaining({
      message: 'a.example redirects from https to http (b.example).',
      fix: expect.objectContaining({ hint: 'Use a host that stays on https.' }),
    }),
  )
  expect(() => nextHop(hop(), 302, 'https://u@b.example/')).toThrow(
    'a.example redirects to a URL that cannot be used: The URL carries a user name or password.',
  )
  expect(() => nextHop(hop(), 302, 'ftp://b.example/')).toThrow(
    expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST' }),
  )
})
