import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { MAX_QUERY_NAME_LENGTH, redactShapes } from './secret-shapes.ts'

const isHidden = (query: string) => {
  const output = redactShapes(`https://example.org/a${query}&b=2`)
  expect(output).toMatch(/^https:\/\/example\.org\/a.*&b=2$/)
  return output.includes('[redacted:url-secret]')
}

describe('a name in the query of a URL', () => {
  it('tells that any value is a secret', () => {
    checkEach(
      [
        ...['access_token', 'refresh_token', 'id_token', 'auth_token', 'session_token', 'security_token', 'csrf_token'],
        ...['private_token', 'token', 'api_key', 'access_key', 'access_key_id', 'aws_access_key_id', 'secret_key'],
        ...['subscription_key', 'client_secret', 'secret', 'password', 'passwd', 'passphrase', 'signature'],
        ...[
          'x_amz_signature',
          'x_amz_credential',
          'x_amz_security_token',
          'x_goog_signature',
          'x_goog_credential',
          'jwt',
        ],
      ],
      (name) => {
        for (const written of [name, name.toUpperCase(), name.replaceAll('_', '-'), name.replaceAll('_', '')])
          expect(isHidden(`?${written}=x`), written).toBe(true)
        expect(isHidden(`?my.${name}=x`)).toBe(false)
        expect(isHidden(`?${name}.x=x`)).toBe(false)
      },
    )
  })

  it('treats a value that is not a word as a secret', () => {
    checkEach(
      ['key', 'code', 'sig', 'auth', 'pwd', 'sid', 'session', 'session_id', 'client_assertion', 'assertion'],
      (name) => {
        for (const [value, expected] of [
          ['abcdef1', false],
          ['abcdefg1', true],
          ['abcdefgh', false],
          ['a'.repeat(24), false],
          ['a'.repeat(25), true],
        ] as const)
          expect(isHidden(`&${name.toUpperCase()}=${value}`), value).toBe(expected)
      },
    )
  })

  it('has at most 20 characters and the sign before it', () => {
    expect(MAX_QUERY_NAME_LENGTH).toBe(2 + 'x_amz_security_token'.length)
  })

  it.each(['?q=token', '?mykey=abcdefg1', '?keys=abcdefg1', '?pageToken=abcdefg1'])('tells nothing: %s', (query) => {
    expect(isHidden(query)).toBe(false)
  })
})
