import { describe, expect, it } from 'vitest'
import { judgeUrl } from '../judge-url.ts'
import { judgeAuthority } from './judge-authority.ts'
import { PROXY_LIMITS } from './proxy-limits.ts'

const judged = (target: string) => judgeAuthority(target, judgeUrl).href

describe('the target of a tunnel', () => {
  it.each([
    ['a.example:443', 'https://a.example/'],
    ['A_b-c.example:8443', 'https://a_b-c.example:8443/'],
    ['10.0.0.1:65535', 'https://10.0.0.1:65535/'],
    ['[2001:DB8::1]:443', 'https://[2001:db8::1]/'],
  ])('is %s', (target, url) => {
    expect(judged(target)).toBe(url)
  })

  it.each([
    ...['', 'a.example', 'a.example:', ':443', 'a.example:0', 'a.example:0443', 'a.example:443456', 'a.example:443/'],
    ...['u@a.example:443', 'https://a.example:443', ' a.example:443', 'a.example:443 ', '[::1:443', 'ä.example:443'],
    ...['%61.example:443', '2001:db8::1:443', '[x]:443', 'a b:443'],
  ])('is not %j', (target) => {
    expect(() => judged(target)).toThrow(
      expect.objectContaining({
        code: 'INPUT_SCHEMA_INVALID',
        message: 'The target of CONNECT is not a host and a port.',
        fix: expect.objectContaining({ hint: 'Write it as example.org:443.' }),
      }),
    )
  })

  it('is never the port of plain http', () => {
    expect(() => judged('a.example:80')).toThrow(
      expect.objectContaining({
        code: 'HTTP_DISALLOWED_HOST',
        message: 'A tunnel to a.example:80 would carry plain HTTP, which is not judged.',
        fix: expect.objectContaining({
          hint: 'Send plain http to the proxy as GET http://host/path, or use https.',
        }),
      }),
    )
    expect(judged('a.example:8080')).toBe('https://a.example:8080/')
  })
})

it('carries enough for a large project, and no more', () => {
  expect(PROXY_LIMITS).toEqual({
    maxBytes: 2_147_483_648,
    maxConnections: 128,
    idleMs: 120_000,
    openMs: 15_000,
  })
})
