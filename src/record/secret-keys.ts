/** Names whose value is a secret, in lower case, without - and _. */
const NAMES = [
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xapikey',
  'apikey',
  'xauthtoken',
  'xcsrftoken',
  'csrftoken',
  'token',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'authtoken',
  'sessiontoken',
  'bearertoken',
  'secret',
  'secretkey',
  'password',
  'passwd',
  'passphrase',
  'privatekey',
  'credential',
  'credentials',
  'connectionstring',
]

/** `DB_PASSWORD`, `stripeSecretKey`; not `token`, because pages have a `nextPageToken`. */
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

const MOST_REMEMBERED = 1_000
const LONGEST_KEY = 128

/** Makes the question whether a key names a secret; `keys` are asked for beside the known ones. */
export function secretKeys(keys: readonly string[] = []): (key: string) => boolean {
  const names = new Set([...NAMES, ...keys.map(normalise)])
  const answers = new Map<string, boolean>()
  return (key) => {
    const known = answers.get(key)
    if (known !== undefined) return known
    if (key.length > LONGEST_KEY) return false
    const plain = normalise(key)
    const answer = names.has(plain) || ENDINGS.some((ending) => plain.endsWith(ending)) || ENVIRONMENT_TOKEN.test(key)
    // Keys come from models too, so what is remembered is bounded.
    if (answers.size < MOST_REMEMBERED) answers.set(key, answer)
    return answer
  }
}

function normalise(key: string): string {
  return key.toLowerCase().replaceAll(/[-_\s]/g, '')
}
