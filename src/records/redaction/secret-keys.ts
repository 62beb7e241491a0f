/** Names whose value is a secret, in lower case, without - and _; those of `ENDINGS` are names as well. */
const NAMES = [
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xcsrftoken',
  'csrftoken',
  'token',
  'idtoken',
  'sessiontoken',
  'credential',
  'credentials',
  'connectionstring',
]

/** `password`, `DB_PASSWORD`, `stripeSecretKey`; not `token`, because pages have a `nextPageToken`. */
const ENDINGS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'secretkey',
  'secretaccesskey',
  'apikey',
  'privatekey',
  'accesstoken',
  'refreshtoken',
  'authtoken',
  'bearertoken',
]

/** `GITHUB_TOKEN`: in the style of the environment a token is a secret. */
const ENVIRONMENT_TOKEN = /^[A-Z][A-Z0-9_]*_TOKEN$/

const MAX_REMEMBERED = 1_000
const MAX_KEY_LENGTH = 128

/** What a key says: nothing, that its value is a secret, or a secret itself. */
export type KeyKind = 'ordinary' | 'names-secret' | 'is-secret'

/** Makes the look at a key; `keys` name secrets beside the known ones, `redact` takes secrets out of a text. */
export function lookAtKeys(
  keys: readonly string[] | undefined,
  redact: (text: string) => string,
): (key: string) => KeyKind {
  const names = new Set([...NAMES, ...(keys ?? []).map(normalise)])
  const kinds = new Map<string, KeyKind>()
  return (key) => {
    const known = kinds.get(key)
    if (known !== undefined) return known
    if (redact(key) !== key) return 'is-secret'
    if (key.length > MAX_KEY_LENGTH) return 'ordinary'
    const kind = namesSecret(key, names) ? 'names-secret' : 'ordinary'
    // Keys come from models too, so what is remembered is bounded.
    if (kinds.size < MAX_REMEMBERED) kinds.set(key, kind)
    return kind
  }
}

function namesSecret(key: string, names: ReadonlySet<string>): boolean {
  const plain = normalise(key)
  return names.has(plain) || ENDINGS.some((ending) => plain.endsWith(ending)) || ENVIRONMENT_TOKEN.test(key)
}

function normalise(key: string): string {
  return key.toLowerCase().replaceAll(/[-_\s]/g, '')
}
