import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { FailureLimiter } from './request-limits.ts'

it('lets an address fail so often, then makes it wait until a minute after its first failure', async () => {
  const clock = fakeClock()
  const limiter = new FailureLimiter(3, clock)
  const waits: number[] = []
  for (let failure = 1; failure <= 3; failure++) {
    waits.push(limiter.waitMs('192.0.2.1'))
    limiter.note('192.0.2.1')
    await clock.advance(1_000)
  }
  expect([...waits, limiter.waitMs('192.0.2.1')]).toEqual([0, 0, 0, 57_000])
  await clock.advance(56_999)
  expect(limiter.waitMs('192.0.2.1')).toBe(1)
  await clock.advance(1)
  expect(limiter.waitMs('192.0.2.1')).toBe(0)
  await clock.advance(10_000)
  expect(limiter.waitMs('192.0.2.1')).toBe(0)
})

it('counts anew from a minute after the first failure, and not before', async () => {
  for (const [passedMs, waitMs] of [
    [59_999, 1],
    [60_000, 0],
  ] as const) {
    const clock = fakeClock()
    const limiter = new FailureLimiter(2, clock)
    limiter.note('192.0.2.1')
    await clock.advance(passedMs)
    limiter.note('192.0.2.1')
    expect(limiter.waitMs('192.0.2.1')).toBe(waitMs)
  }
})

/** Whether a failure of one address is held against the other. */
function areOnePlace(one: string | undefined, other: string | undefined): boolean {
  const limiter = new FailureLimiter(1, fakeClock())
  limiter.note(one)
  return limiter.waitMs(other) > 0
}

it.each<[string, string | undefined, string | undefined, boolean]>([
  ['an IPv4 address and itself', '192.0.2.1', '192.0.2.1', true],
  ['two IPv4 addresses', '192.0.2.1', '192.0.2.2', false],
  ['an IPv4 address as IPv6', '::ffff:192.0.2.1', '192.0.2.1', true],
  ['an IPv4 address as IPv6 in capitals', '::FFFF:192.0.2.1', '192.0.2.1', true],
  ['an IPv6 address that ends like an IPv4 address', '2001:db8::ffff:192.0.2.1', '192.0.2.1', false],
  ['a text that begins like an IPv4 address', '::ffff:192.0.2.1x', '192.0.2.1', false],
  ['two addresses of a /64', '2001:db8::1', '2001:db8:0:0:ffff::2', true],
  ['two addresses of a /64 without zeros', '1:2:3:4:5:6:7:8', '1:2:3:4:9::', true],
  ['a /64 that begins with zeros', '::1:2:3:4:5:6', '0:0:1:2::9', true],
  ['the loopback and its network', '::1', '::', true],
  ['an address and one whose zeros end it', '::1', '1::', false],
  ['networks that differ in the first group', '1001:db8::1', '2001:db8::1', false],
  ['networks that differ in the first digit', '1:2:3:4::1', '2:2:3:4::1', false],
  ['networks that differ in the fourth group', '1:2:3:4::1', '1:2:3:5::1', false],
  ['one network on two interfaces', 'fe80::1%eth0', 'fe80::2%eth1', true],
  ['connections that are gone', undefined, undefined, true],
  ['a connection that is gone and an address', undefined, '192.0.2.1', false],
])('holds %s to one limit: %s and %s (%s)', (_, one, other, areOne) => {
  expect(areOnePlace(one, other)).toBe(areOne)
  expect(areOnePlace(other, one)).toBe(areOne)
})

it('remembers 10,000 addresses', () => {
  const limiter = new FailureLimiter(1, fakeClock())
  for (let index = 0; index < 10_000; index++) limiter.note(`address ${index}`)
  expect(limiter.waitMs('address 0')).toBe(60_000)
  limiter.note('one more')
  limiter.note('address 0')
  expect([limiter.waitMs('address 1'), limiter.waitMs('address 2')]).toEqual([0, 60_000])
})
