import { describe, expect, it } from 'vitest'
import { admitsAddress, isMailAddress, readMailbox } from './mail-address.ts'

describe('a mail address', () => {
  it.each(['anna@example.org', "o'hara+tag@mail.example.org", 'a.b-c_d@x', 'root@localhost'])('is %j', (text) => {
    expect(isMailAddress(text)).toBe(true)
  })

  it.each([
    'anna',
    '@example.org',
    'anna@',
    'a@b@c.org',
    'a..b@example.org',
    '.a@example.org',
    'a b@example.org',
    'a@example.org\r\nrcpt to:<x@y>',
    '"a"@example.org',
    'a@[127.0.0.1]',
    'a@-x.org',
    'a@x..org',
    'Anna@example.org',
    `${'a'.repeat(65)}@example.org`,
  ])('is not %j', (text) => {
    expect(isMailAddress(text)).toBe(false)
  })

  it('is read with its name, as an owner writes it', () => {
    expect(readMailbox('mail', 'from', ' Tool Hub <Hub@Example.org> ')).toEqual({
      name: 'Tool Hub',
      address: 'hub@example.org',
    })
    expect(readMailbox('mail', 'from', 'hub@example.org')).toEqual({ name: '', address: 'hub@example.org' })
    for (const odd of ['Hub\r\nBcc: x@y.z <hub@example.org>', 'Hub <hub>', ''])
      expect(() => readMailbox('mail', 'from', odd)).toThrow('not a mail address')
  })
})

describe('those whom an owner admits', () => {
  it.each([
    ['anna@example.org', 'anna@example.org', true],
    ['Anna@Example.org', 'anna@example.org', true],
    ['*@example.org', 'bob@example.org', true],
    ['*@example.org', 'bob@sub.example.org', false],
    ['*@example.org', 'bob@notexample.org', false],
    ['*@*.example.org', 'bob@sub.example.org', true],
    ['*@*.example.org', 'bob@example.org', false],
    ['*@*.example.org', 'bob@evilexample.org', false],
    ['bob@*.example.org', 'eve@sub.example.org', false],
    ['*', 'anyone@anywhere.example', true],
    ['example.org', 'bob@example.org', false],
  ])('by %j: %j %s', (pattern, address, isAdmitted) => {
    expect(admitsAddress([pattern], address)).toBe(isAdmitted)
  })
})
