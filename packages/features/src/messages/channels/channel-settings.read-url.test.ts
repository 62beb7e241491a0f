import { describe, expect, it } from 'vitest'
import { readUrl, secretsOfUrl } from './channel-settings.ts'

describe('the URL of a channel', () => {
  it.each([
    ['https://hooks.example.org/a', true],
    ['http://127.0.0.1:8080/a', true],
    ['http://127.9.8.7/a', true],
    ['http://[::1]:8080/a', true],
    ['http://localhost/a', true],
    ['http://hooks.localhost/a', true],
    ['http://hooks.example.org/a', false],
  ])('may be %s where it is secret: %s', (text, isSecret) => {
    expect(readUrl('ops', text, { isSecret }).href).toBe(text)
  })

  it.each([
    ['not a URL', false, 'is not a URL'],
    ['ftp://hooks.example.org', false, 'is not a URL'],
    ['https://user@hooks.example.org', false, 'carries a user name or password'],
    ['https://:pass@hooks.example.org', false, 'carries a user name or password'],
    ['http://hooks.example.org', true, 'holds a secret and is not https'],
    ['http://127.0.0.1.example.org', true, 'holds a secret and is not https'],
    ['http://localhost.example.org', true, 'holds a secret and is not https'],
    ['http://notlocalhost', true, 'holds a secret and is not https'],
    ['http://x127.0.0.1.nip', true, 'holds a secret and is not https'],
  ])('%s is refused where it is secret: %s', (text, isSecret, problem) => {
    expect(() => readUrl('ops', text, { isSecret })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `The URL of the channel ops ${problem}.`,
        fix: { hint: 'Give the whole URL, https://…, as the service shows it.' },
      }),
    )
  })
})

describe('the secrets of a URL', () => {
  it('are the whole, its path, and the parts of the path with 16 characters or more', () => {
    const [long, short] = ['a'.repeat(16), 'b'.repeat(15)]
    expect(secretsOfUrl(new URL(`https://x.org/${short}/${long}`))).toEqual([
      `https://x.org/${short}/${long}`,
      `/${short}/${long}`,
      long,
    ])
  })

  it('are at least 8 characters, so that no ordinary word is hidden', () => {
    expect(secretsOfUrl(new URL('https://x.org/1234567'))).toEqual(['https://x.org/1234567', '/1234567'])
    expect(secretsOfUrl(new URL('https://x.org/123456'))).toEqual(['https://x.org/123456'])
  })
})
