import { describe, expect, it } from 'vitest'
import { HostResolver, parseRanges } from './judge-destination.ts'
import { toNetworkError } from './request/exchange.ts'
import { ConnectError } from './request/pinned-connections.ts'

const HINT = 'Use a public host, or have the owner open the range in sandbox.privateRanges.'
const resolver = (addresses: readonly string[] | Error, ...open: string[]) =>
  new HostResolver(async () => (addresses instanceof Error ? Promise.reject(addresses) : addresses), parseRanges(open))

describe('where a host is', () => {
  it('is asked for once, each address in its one spelling', async () => {
    const place = await resolver(['93.184.216.34', '::ffff:93.184.216.34', '2606:4700:0::1111']).ask('a.example')
    expect(place).toEqual({ addresses: ['93.184.216.34', '2606:4700::1111'], isOpened: false })
  })

  it('is the owner’s own only where all of it is', async () => {
    const isOpened = async (...addresses: string[]) => (await resolver(addresses, '10.0.0.0/8').ask('a')).isOpened
    expect([await isOpened('10.0.0.1'), await isOpened('10.0.0.1', '8.8.8.8')]).toEqual([true, false])
  })

  it('is refused as a whole for one address', async () => {
    await expect(resolver(['8.8.8.8', '10.0.0.1']).ask('a.example')).rejects.toMatchObject({
      code: 'HTTP_DISALLOWED_HOST',
      message: 'a.example leads to 10.0.0.1, which is not a public address.',
      fix: { hint: HINT },
    })
  })

  it.each([
    ['EAI_AGAIN', true],
    ['ENOTFOUND', false],
  ])('is not known after %s', async (code, retryable) => {
    const cause = Object.assign(new Error('dns'), { code })
    await expect(resolver(cause).ask('a.example')).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The name a.example does not resolve.',
      fix: { hint: 'Check the host name.' },
      retryable,
      cause,
    })
    await expect(resolver([]).ask('a.example')).rejects.toMatchObject({ code: 'UPSTREAM_ERROR', retryable: false })
  })

  it('needs no resolver where it is an address', () => {
    const hosts = resolver(new Error('not asked'), '127.0.0.1')
    const place = { addresses: ['127.0.0.1'], isOpened: true }
    expect([hosts.literal('127.0.0.1'), hosts.literal('[::ffff:7f00:1]')]).toEqual([place, place])
    expect(hosts.literal('127.0.0.1')).toBe(hosts.literal('127.0.0.1'))
    expect([hosts.literal('a.example'), hosts.literal('[]')]).toEqual([undefined, undefined])
    expect(() => hosts.literal('[::1]')).toThrow('[::1] leads to ::1, which is not a public address.')
  })
})

describe('a failure on the wire', () => {
  const url = new URL('https://a.example:8443/')
  const meaning = (error: unknown) => toNetworkError(error, url)

  it('is described by what it means', () => {
    const coded = (code: string) => Object.assign(new Error('broke'), { code })
    expect(meaning(new ConnectError('refused'))).toMatchObject({
      ...{ code: 'UPSTREAM_ERROR', message: 'No connection to a.example:8443: refused' },
    })
    expect(meaning(coded('UND_ERR_HEADERS_OVERFLOW'))).toMatchObject({
      ...{ code: 'HTTP_TOO_LARGE', message: 'The headers of a.example:8443 are too large.' },
    })
    expect(meaning(coded('ECONNRESET'))).toMatchObject({
      ...{ code: 'UPSTREAM_ERROR', message: 'The exchange with a.example:8443 failed: broke' },
    })
    expect(meaning(coded('EMFILE'))).toMatchObject({ code: 'OUT_OF_RESOURCES' })
  })

  it('stays as it is where it is none', () => {
    for (const error of [new TypeError('defect'), 'text', undefined]) expect(meaning(error)).toBe(error)
  })
})
