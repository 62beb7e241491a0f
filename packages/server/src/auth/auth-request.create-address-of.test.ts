import { expect, it } from 'vitest'
import { createAddressOf } from './auth-request.ts'

const PROXIES = ['10.0.0.0/8', '::1', '192.0.2.1']

function addressOf(remoteAddress: string | undefined, forwarded: string | null, proxies: readonly string[] = PROXIES) {
  const headers = { get: (name: string) => (name === 'x-forwarded-for' ? forwarded : null) }
  return createAddressOf(proxies)({ method: 'GET', url: '/', headers, remoteAddress })
}

it.each([
  ['an untrusted peer is its own address, whatever it sends', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy says who came', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['of several the last that is not a proxy', '10.1.2.3', '198.51.100.7, 198.51.100.1, 192.0.2.1', '198.51.100.1'],
  ['a proxy that says nothing', '10.1.2.3', null, '10.1.2.3'],
  ['a proxy that says no address', '10.1.2.3', 'unknown', '10.1.2.3'],
  ['all are proxies', '::1', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
  ['with a port', '::1', '198.51.100.1:4711', '198.51.100.1'],
  ['version 6 with a port', '::1', '[2001:db8::1]:4711', '2001:db8::1'],
  ['version 6 in brackets', '::1', '[2001:db8::1]', '2001:db8::1'],
  ['a port is not part of a longer text', '::1', 'x198.51.100.1:4711', '::1'],
  ['nothing follows a port', '::1', '198.51.100.1:4711x', '::1'],
  ['nothing stands before a bracket', '::1', 'x[2001:db8::1]:4711', '::1'],
  ['an address beside that of a proxy', '192.0.2.2', '198.51.100.1', '192.0.2.2'],
  ['an address beside that of a proxy of version 6', '::2', '198.51.100.1', '::2'],
  ['a socket of this machine has no address', '', '198.51.100.1', ''],
  ['a connection that is gone', undefined, '198.51.100.1', undefined],
])('%s', (_name, remoteAddress, forwarded, expected) => {
  expect(addressOf(remoteAddress, forwarded)).toBe(expected)
})

it('without proxies nobody is believed', () => {
  expect(addressOf('10.1.2.3', '198.51.100.1', [])).toBe('10.1.2.3')
})

it.each([
  ...['', 'proxy', '10.0.0.0/33', '::1/129', '10.0.0.1/8/8', '10.0.0.0/x'],
  ...['10.0.0.0/', 'x/10.0.0.0/8', '/10.0.0.1'],
])('%j is not a proxy', (written) => {
  expect(() => createAddressOf([written])).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `trustedProxies: ${JSON.stringify(written)} is not an address.`,
      fix: { hint: 'Write an address or a network: 10.0.0.7, 10.0.0.0/8, 2001:db8::/32.' },
    }),
  )
})

it.each(['10.0.0.0/0', '10.0.0.0/32', '::1/128'])('%j is one', (written) => {
  expect(() => createAddressOf([written])).not.toThrow()
})
