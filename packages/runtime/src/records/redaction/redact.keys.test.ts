import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { lookAtKeys } from './redact.ts'

const look = lookAtKeys(['Iban-Number'], (text) => text.replace('s3cret', 'hidden'))

describe('the look at a key', () => {
  it('finds names of secrets', () => {
    checkEach(
      [
        ...['authorization', 'Proxy-Authorization', 'cookie', 'set-cookie', 'x-csrf-token', 'csrfToken', 'token'],
        ...[
          'id_token',
          'sessionToken',
          'session token',
          'credential',
          'credentials',
          'connectionString',
          'IBAN_NUMBER',
        ],
        // Alone and at the end of a longer name.
        ...['password', 'db-password', 'passwd', 'DB_PASSWD', 'passphrase', 'sshPassphrase', 'secret', 'client_secret'],
        ...['secretKey', 'stripe-secret-key', 'secret_access_key', 'AWS_SECRET_ACCESS_KEY', 'api-key', 'X-Api-Key'],
        ...['private_key', 'ssh-private-key', 'accessToken', 'my_access_token', 'refresh_token', 'my_refresh_token'],
        ...['authToken', 'X-Auth-Token', 'bearer_token', 'my-bearer-token'],
        // In the style of the environment.
        ...['GITHUB_TOKEN', 'A_TOKEN', 'A1_B2_TOKEN'],
      ],
      (key) => {
        expect(look(key)).toBe('names-secret')
      },
    )
  })

  it('finds nothing in names that only look similar', () => {
    checkEach(
      [
        ...[
          'nextPageToken',
          'authorizations',
          'my_authorization',
          'cookies',
          'my_cookie',
          'my_csrf_token',
          'my_id_token',
        ],
        ...['my_session_token', 'my_credentials', 'my_connection_string', 'passwords', 'secret_keys', 'iban'],
        ...['my_GITHUB_TOKEN', '1_TOKEN', 'GITHUB_TOKENS', 'GITHUB_TOKEN_x', 'GitHub_TOKEN'],
      ],
      (key) => {
        expect(look(key)).toBe('ordinary')
      },
    )
  })

  it('finds a secret that is the key itself, also in a long one', () => {
    expect(look('my-s3cret')).toBe('is-secret')
    expect(look(`${'x'.repeat(200)}s3cret`)).toBe('is-secret')
  })

  it('takes no key for a name that has more than 128 characters', () => {
    const ending = '_password'
    expect(look('x'.repeat(128 - ending.length) + ending)).toBe('names-secret')
    expect(look('x'.repeat(129 - ending.length) + ending)).toBe('ordinary')
  })

  it('remembers the first thousand keys and looks again at all others', () => {
    const looked: string[] = []
    const remembering = lookAtKeys(undefined, (text) => {
      looked.push(text)
      return text
    })
    for (let round = 0; round < 2; round++) for (let index = 0; index < 1_001; index++) remembering(`key-${index}`)
    expect(looked).toHaveLength(1_002)
    expect(looked.at(-1)).toBe('key-1000')
  })
})
