import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { admitsAddress, isMailAddress, readMailbox } from './smtp.ts'

describe('a mail address', () => {
  it('is a name at a host', () => {
    checkEach(
      [
        'anna@example.org',
        "o'hara+tag@mail.example.org",
        'a.b-c_d@x',
        'root@localhost',
        'a@x',
        `${'a'.repeat(64)}@example.org`,
        `a@${'x'.repeat(63)}.org`,
        `a@${'x.'.repeat(126)}x`,
      ],
      (text) => {
        expect(isMailAddress(text)).toBe(true)
      },
    )
  })

  it('is nothing else', () => {
    checkEach(
      [
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
        `a@${'x'.repeat(64)}.org`,
        `a@${'x.'.repeat(126)}xx`,
        ' a@example.org',
        'a @example.org',
        'a@example.org ',
      ],
      (text) => {
        expect(isMailAddress(text)).toBe(false)
      },
    )
  })

  it('is read with its name, as an owner writes it', () => {
    expect(readMailbox('mail', 'from', ' Tool Hub <Hub@Example.org> ')).toEqual({
      name: 'Tool Hub',
      address: 'hub@example.org',
    })
    expect(readMailbox('mail', 'from', 'hub@example.org')).toEqual({ name: '', address: 'hub@example.org' })
    expect(readMailbox('mail', 'from', `${'x'.repeat(100)} <hub@example.org>`).name).toHaveLength(100)
    for (const odd of [
      'Hub\r\nBcc: x@y.z <hub@example.org>',
      '"Hub" <hub@example.org>',
      `${'x'.repeat(101)} <hub@example.org>`,
      'Hub <hub@example.org> and others',
      'Hub <hub>',
      '',
    ])
      expect(() => readMailbox('mail', 'from', odd)).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: 'from of the channel mail is not a mail address.',
          fix: { hint: 'Write hub@example.org or Tool Hub <hub@example.org>.' },
        }),
      )
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
    ['b@example.org', 'b@example.org', true],
    ['eve@example.org', 'bob@example.org', false],
    ['*@*.example.org', 'bob@a.b.example.org', true],
    [' *@Example.org ', 'bob@example.org', true],
    ['@example.org', 'bob@example.org', false],
    ['bob@*.example.org', 'bob@sub.example.org', true],
    ['*@example.org', 'bob@example.orgx', false],
    ['*', 'anyone@anywhere.example', true],
    ['example.org', 'bob@example.org', false],
  ])('by %j: %j %s', (pattern, address, isAdmitted) => {
    expect(admitsAddress([pattern], address)).toBe(isAdmitted)
  })
})
