import { describe, expect, it } from 'vitest'
import type { Transfer } from './request/transfer.ts'
import { readWebRequest, refuseCarriedBody, refuseRedirect } from './web-fetch.ts'

const read = (init: RequestInit = {}) => readWebRequest('https://a.example/x#y', init, 'hub/1')
const headersOf = (init: RequestInit) => Object.fromEntries(read(init).first.headers)

describe('what a client of a service sends', () => {
  it('is a GET that follows redirects, by default', () => {
    const { first, redirect, signal } = read()
    expect([first.url.href, first.method, first.body, redirect, signal]).toEqual([
      ...['https://a.example/x', 'GET', undefined, 'follow', undefined],
    ])
    expect(Object.fromEntries(first.headers)).toEqual({
      ...{ 'user-agent': 'hub/1', accept: '*/*', 'accept-encoding': 'identity' },
    })
  })

  it('carries its body with the type that it has', () => {
    const type = (body: RequestInit['body'], headers?: Record<string, string>) =>
      headersOf({ method: 'POST', body, headers })['content-type']
    expect(type('text')).toBe('text/plain;charset=UTF-8')
    expect(type(new URLSearchParams({ a: '1' }))).toBe('application/x-www-form-urlencoded;charset=UTF-8')
    expect(type(new Uint8Array([1]))).toBeUndefined()
    expect(type('{}', { 'Content-Type': 'application/json' })).toBe('application/json')
    expect(read({ method: 'POST', body: new URLSearchParams({ a: '1 2' }) }).first.body).toBe('a=1+2')
    expect(read({ method: 'POST', body: null }).first.body).toBeUndefined()
    expect(read({ method: 'POST', body: '' }).first.body).toBe('')
  })

  it('never asks for something compressed, and says who it is where it wants', () => {
    const headers = headersOf({
      headers: { 'Accept-Encoding': 'br', 'User-Agent': 'own', Accept: 'text/event-stream' },
    })
    expect(headers).toEqual({ 'accept-encoding': 'identity', 'user-agent': 'own', accept: 'text/event-stream' })
  })

  it.each([
    [{ redirect: 'sometimes' }, 'redirect is one of follow, manual, error.'],
    [{ method: 'POST', body: new Blob([]) }, 'A body is a string, a Uint8Array or URLSearchParams.'],
    [{ headers: { 'a b': 'x' } }, 'A header has a name or a value that no header can carry.'],
    [{ headers: { host: 'x' } }, 'The header host is set by the guard, not by a tool.'],
    [{ body: 'x' }, 'GET has no body.'],
  ])('is refused: %j', (init, message) => {
    expect(() => read(init as RequestInit)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message }))
  })

  it('takes each way of redirects', () => {
    const ways = ['follow', 'manual', 'error'] as const
    expect(ways.map((redirect) => read({ redirect }).redirect)).toEqual(ways)
  })
})

describe('a redirect of a service', () => {
  it('never carries a body to another origin', () => {
    const { first } = read({ method: 'POST', body: 'secret' })
    const to = (url: string, body: string | undefined) => () =>
      refuseCarriedBody(first, { ...first, url: new URL(url), body })
    expect(to('https://a.example/other', 'secret')).not.toThrow()
    expect(to('https://b.example/', undefined)).not.toThrow()
    expect(to('https://a.example:8443/', '')).toThrow(
      expect.objectContaining({
        code: 'HTTP_DISALLOWED_HOST',
        message: 'a.example redirects what is sent to it to another place (https://a.example:8443).',
        fix: expect.objectContaining({ hint: 'If that is the right place, use its URL.' }),
      }),
    )
  })

  it('is an error where none is wanted, and its connection is given up', () => {
    let discarded = 0
    const answer = (status: number, location?: string) =>
      ({
        status,
        headers: location === undefined ? {} : { location },
        discard: () => (discarded += 1),
      }) as unknown as Transfer
    const { first } = read()
    refuseRedirect(first, answer(200, '/x'))
    refuseRedirect(first, answer(302))
    expect(discarded).toBe(0)
    expect(() => refuseRedirect(first, answer(302, '/x'))).toThrow(
      expect.objectContaining({
        ...{ code: 'UPSTREAM_ERROR', message: 'a.example redirects (302), which was not wanted.', retryable: false },
      }),
    )
    expect(() => refuseRedirect(first, answer(302, 'http://b.example/'))).toThrow(
      expect.objectContaining({ code: 'HTTP_DISALLOWED_HOST' }),
    )
    expect(discarded).toBe(2)
  })
})
