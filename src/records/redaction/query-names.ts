/** Names of a URL's query whose value is a secret whatever it is. */
const NAMES = [
  'access_token',
  'refresh_token',
  'id_token',
  'auth_token',
  'session_token',
  'security_token',
  'csrf_token',
  'private_token',
  'token',
  'api_key',
  'access_key',
  'access_key_id',
  'aws_access_key_id',
  'secret_key',
  'subscription_key',
  'client_secret',
  'secret',
  'password',
  'passwd',
  'passphrase',
  'signature',
  'x_amz_signature',
  'x_amz_credential',
  'x_amz_security_token',
  'x_goog_signature',
  'x_goog_credential',
  'jwt',
]

/** Names that also stand for other things: `?code=US`, `?key=name`. */
const SHORT_NAMES = [
  'key',
  'code',
  'sig',
  'auth',
  'pwd',
  'sid',
  'session',
  'session_id',
  'client_assertion',
  'assertion',
]

/** A pattern of all of them, in any case and with or without `-` and `_`. */
export const QUERY_NAME = [...NAMES, ...SHORT_NAMES].map(anyCase).join('|')

/** The longest of them, with what stands before it. */
export const MAX_QUERY_NAME_LENGTH = 1 + Math.max(...[...NAMES, ...SHORT_NAMES].map(({ length }) => length))

const SHORT = new RegExp(`^.(?:${SHORT_NAMES.map(anyCase).join('|')})=`)
const MIN_CHARS = 8
const WORD_CHARS = 24

/** Whether what stands in a query is a secret; below names that also stand for other things, when it is no word. */
export function isQuerySecret(match: string): boolean {
  if (!SHORT.test(match)) return true
  const value = match.slice(match.indexOf('=') + 1)
  return value.length > WORD_CHARS || (value.length >= MIN_CHARS && /\d/.test(value))
}

function anyCase(name: string): string {
  return [...name].map((letter) => (letter === '_' ? '[-_]?' : `[${letter}${letter.toUpperCase()}]`)).join('')
}
