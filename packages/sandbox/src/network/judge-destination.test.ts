import { expect, it } from 'vitest'
import { canonicalAddress, isOpened, judgeAddress, parseRanges } from './judge-destination.ts'

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

it('names every metadata address, and no neighbour of one', () => {
  const metadata = [
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
    ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
  ]
  const all = parseRanges(['0.0.0.0/0', '::/0'])
  for (const address of metadata) expect(judgeAddress(address, all), address).toBe('is a metadata address')
  for (const address of ['169.254.169.253', '168.63.129.17', 'fd00:ec2::253']) {
    expect(judgeAddress(address, all), address).toBeUndefined()
  }
})

it('knows the edges of what IPv6 is public', () => {
  const edges = {
    open: [
      '2000::',
      '2001:200::',
      '2001:db7:ffff::',
      '2001:db9::',
      '2620:4f:7fff::',
      '2620:4f:8001::',
      '3fff:1000::',
      '3ffe::',
    ],
    shut: ['1fff::', '4000::', '2001::', '2001:1ff::', '2001:db8:ffff::', '2620:4f:8000::1', '3fff:fff::'],
  }
  for (const address of edges.open) expect(isOpen(address), address).toBe(true)
  for (const address of edges.shut) expect(isOpen(address), address).toBe(false)
})

it('takes the carried IPv4 from where each form has it', () => {
  const only = '10.1.2.3/32'
  for (const address of ['::ffff:10.1.2.3', '::ffff:0:10.1.2.3', '64:ff9b::10.1.2.3', '2002:a01:203::1']) {
    expect(isOpen(address, only), address).toBe(true)
    expect(isOpen(address, '10.1.2.2/32', '10.1.2.4/32'), address).toBe(false)
  }
})

it('says why: not plain, blocked, or not public', () => {
  const ranges = parseRanges(['10.0.0.0/8'], ['10.9.0.0/16', '8.8.8.8', '64:ff9b::/96'])
  const reasons = ['x', '10.9.0.1', '8.8.8.8', '64:ff9b::9.9.9.9', '192.168.0.1', '10.1.0.1', '8.8.8.9'].map(
    (address) => judgeAddress(address, ranges),
  )
  const blocked = 'is in a range that the owner blocks'
  expect(reasons).toEqual([
    ...['is not a plain address', blocked, blocked, blocked, 'is not a public address', undefined, undefined],
  ])
})

it('calls an address opened only where it is private and in a range of the owner', () => {
  const ranges = parseRanges(['0.0.0.0/0', 'fd00::1'])
  const opened = ['10.0.0.1', '::ffff:10.0.0.1', '8.8.8.8', 'fd00::1', 'fd00::2'].map((address) =>
    isOpened(address, ranges),
  )
  expect(opened).toEqual([true, true, false, true, false])
})

it('takes a single address for itself alone, and says how to write a range', () => {
  expect([isOpen('10.0.0.1', '10.0.0.1'), isOpen('10.0.0.0', '10.0.0.1'), isOpen('fd00::', 'fd00::1')]).toEqual([
    ...[true, false, false],
  ])
  expect(() => parseRanges([], ['10.0.0.0/x'])).toThrow(
    expect.objectContaining({
      message: '"10.0.0.0/x" is not an address range.',
      fix: expect.objectContaining({ hint: 'Write it as CIDR: 10.1.2.0/24.' }),
    }),
  )
})
