import { expect, it } from 'vitest'
import { canonicalAddress, judgeAddress, parseRanges } from './judge-address.ts'

const isOpen = (address: string, ...ranges: string[]) => judgeAddress(address, parseRanges(ranges)) === undefined

it('lets public addresses through, up to the edges of the special ranges', () => {
  const v4 = [
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '198.20.0.1',
  ]
  for (const address of [...v4, '2606:4700::1111', '2001:4860:4860::8888']) expect(isOpen(address), address).toBe(true)
})

it('refuses special-purpose addresses', () => {
  const v4 = [
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.1.1',
    '172.16.0.1',
    '192.168.0.1',
  ]
  const more = [
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ]
  const v6 = [
    '::',
    '::1',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2001:10::1',
    '3fff::1',
    '5f00::1',
    '100::1',
    '64:ff9b:1::1',
  ]
  for (const address of [...v4, ...more, ...v6]) expect(isOpen(address), address).toBe(false)
})

it('judges IPv6 that carries IPv4 by what it carries', () => {
  for (const address of [
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::10.0.0.1',
    '2002:7f00:1::',
    '::127.0.0.1',
  ]) {
    expect(isOpen(address), address).toBe(false)
  }
  for (const address of ['::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'])
    expect(isOpen(address), address).toBe(true)
  expect(isOpen('::ffff:10.1.2.3', '10.1.2.0/24')).toBe(true)
})

it('opens exactly the ranges of the owner', () => {
  expect(isOpen('10.1.2.3', '10.1.2.0/24')).toBe(true)
  expect(isOpen('10.1.3.3', '10.1.2.0/24')).toBe(false)
  expect(isOpen('127.0.0.1', '127.0.0.1')).toBe(true)
  expect(isOpen('fd00::5', 'fd00::/8')).toBe(true)
})

it('never opens a metadata address', () => {
  const addresses = [
    '169.254.169.254',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '2002:a9fe:a9fe::1',
  ]
  for (const address of addresses) expect(isOpen(address, '0.0.0.0/0', '::/0'), address).toBe(false)
})

it('refuses what is not a plain address, and ranges that are none', () => {
  for (const text of ['', 'localhost', '127.1', '0x7f000001', 'fe80::1%eth0', '1.2.3.4/8'])
    expect(isOpen(text, '::/0'), text).toBe(false)
  for (const range of ['10.0.0.0/33', '10/8', 'x', '']) {
    expect(() => parseRanges([range]), range).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  }
})

it('has one spelling for an address', () => {
  expect(canonicalAddress('::FFFF:7f00:1')).toBe('127.0.0.1')
  expect(canonicalAddress('2001:0DB8:0:0::1')).toBe('2001:db8::1')
})
