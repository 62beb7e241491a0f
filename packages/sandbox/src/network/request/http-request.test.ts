import { expect, it } from 'vitest'
import { checkHttpRequest, defaultHeaders, isFieldValue, isSending } from './http-request.ts'

const hub = defaultHeaders('hub/1')
const invalid = expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' })

it('fills in who asks and which encodings can be read', () => {
  const { method, headers } = checkHttpRequest({ headers: { Accept: 'text/html' } }, hub)
  expect(method).toBe('GET')
  expect(Object.fromEntries(headers)).toEqual({
    'user-agent': 'hub/1',
    'accept-encoding': 'gzip, br',
    accept: 'text/html',
  })
})

it('keeps the headers that steer the connection to itself', () => {
  for (const name of [
    'Host',
    'content-length',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
    'Upgrade',
    'Expect',
    'TE',
  ]) {
    expect(() => checkHttpRequest({ headers: { [name]: 'x' } }, hub), name).toThrow(invalid)
  }
})

it('refuses headers that would become two', () => {
  for (const headers of [
    { a: 'x\r\nHost: evil' },
    { 'a\r\nb': 'x' },
    { a: 'x\0' },
    { '': 'x' },
    { a: 'Ж' },
    { a: 1 },
  ]) {
    expect(() => checkHttpRequest({ headers: headers as unknown as Record<string, string> }, hub)).toThrow(invalid)
  }
})

it('refuses methods that are none of its business and bodies where none belong', () => {
  for (const method of ['CONNECT', 'TRACE', 'GET /', ''])
    expect(() => checkHttpRequest({ method }, hub)).toThrow(invalid)
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    expect(() => checkHttpRequest({ method, body: 'x' }, hub)).toThrow(invalid)
  expect(checkHttpRequest({ method: 'post', body: 'x' }, hub)).toMatchObject({ method: 'POST', body: 'x' })
})

it('lets tools set headers whose names only contain those of the guard', () => {
  const names = [
    'x-host',
    'hosts',
    'x-te',
    'tea',
    'trailers',
    'x-upgrade',
    'upgrade-insecure-requests',
    'x-proxy-a',
    'expected',
  ]
  const headers = Object.fromEntries(names.map((name) => [name, '1']))
  expect([...checkHttpRequest({ headers }, new Map()).headers.keys()]).toEqual(names)
  for (const name of ['keep-alive', 'trailer', 'proxy-connection']) {
    expect(() => checkHttpRequest({ headers: { [name]: '1' } }, hub), name).toThrow(
      expect.objectContaining({
        message: `The header ${name} is set by the guard, not by a tool.`,
        fix: expect.objectContaining({ hint: 'Leave it out.' }),
      }),
    )
  }
})

it('says what is wrong with a request', () => {
  const messageOf = (request: object) => {
    try {
      return checkHttpRequest(request, hub).method
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(messageOf({ method: 'TRACE' })).toBe(
    'The method "TRACE" is not one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.',
  )
  expect(messageOf({ method: 'POST', body: 7 })).toBe('A body is a string, not number.')
  expect(messageOf({ method: 'GET', body: '' })).toBe('GET has no body.')
  expect(messageOf({ headers: { ä: '1' } })).toBe('"ä" is not a header name.')
  expect(messageOf({ headers: { xä: '1' } })).toBe('"xä" is not a header name.')
  expect(messageOf({ headers: { äx: '1' } })).toBe('"äx" is not a header name.')
  expect(messageOf({ headers: { a: '\n' } })).toBe(
    'The value of the header a has a character that no header can carry.',
  )
})

it('knows which methods send, and which values a header carries', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
  expect(methods.filter(isSending)).toEqual(['POST', 'PUT', 'PATCH', 'DELETE'])
  for (const method of methods) expect(checkHttpRequest({ method: method.toLowerCase() }, hub).method).toBe(method)
  for (const value of ['', 'a\tb', ' ~', '\x80\xff']) expect(isFieldValue(value), JSON.stringify(value)).toBe(true)
  for (const value of ['\x7f', '\x1f', '\u0100', 1]) expect(isFieldValue(value), JSON.stringify(value)).toBe(false)
})
