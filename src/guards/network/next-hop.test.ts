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
