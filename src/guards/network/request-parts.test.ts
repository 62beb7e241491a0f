import { expect, it } from 'vitest'
import { checkRequest, defaultHeaders } from './request-parts.ts'

const hub = defaultHeaders('hub/1')
const invalid = expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' })

it('fills in who asks and which encodings can be read', () => {
  const { method, headers } = checkRequest({ headers: { Accept: 'text/html' } }, hub)
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
    expect(() => checkRequest({ headers: { [name]: 'x' } }, hub), name).toThrow(invalid)
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
    expect(() => checkRequest({ headers: headers as unknown as Record<string, string> }, hub)).toThrow(invalid)
  }
})

it('refuses methods that are none of its business and bodies where none belong', () => {
  for (const method of ['CONNECT', 'TRACE', 'GET /', '']) expect(() => checkRequest({ method }, hub)).toThrow(invalid)
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    expect(() => checkRequest({ method, body: 'x' }, hub)).toThrow(invalid)
  expect(checkRequest({ method: 'post', body: 'x' }, hub)).toMatchObject({ method: 'POST', body: 'x' })
})
