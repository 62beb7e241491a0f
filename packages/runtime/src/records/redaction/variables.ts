import { lookAtKeys } from './redact.ts'

/** Shorter values would match ordinary text. */
const MIN_LENGTH = 8
const MAX_LENGTH = 4_096
const LINE = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*(.*)$/gm
/** In the names of variables a key, a salt or a pass is a secret as well. */
const SECRET_NAME =
  /(?:^|_)(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PWD|AUTH|SALT|DSN|CREDENTIALS?|PRIVATE|SIGNATURE|WEBHOOK)(?:_|$)/i
/** What stands in place of a value. */
const PLACEHOLDER =
  /^(?:change.?me|your[-_].*|put[-_].*|x{8,}|example|placeholder|password|secret|development|production|localhost|postgres|\$\{?\w+\}?)$/i
/** Letters and digits, mixed, without blanks: no word, address, path, version or number. */
const RANDOM = /^(?=.*[A-Za-z])(?=.*\d)[\w+=.~-]{16,}$/
const PASSWORD_IN_URL = /^[a-z][\w+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@/i

const lookAtKey = lookAtKeys(undefined, (text) => text)

/**
 * Returns the values in a file with lines such as `NAME=value` that are secrets by their name or because they look random.
 * Others, such as the address of a server, are ordinary text, which would be unreadable without them.
 */
export function secretVariables(text: string): string[] {
  const values = [...text.matchAll(LINE)].flatMap(([, name, written]) => secretsOf(name!, unquote(written!)))
  return [...new Set(values)].filter(({ length }) => length >= MIN_LENGTH && length <= MAX_LENGTH)
}

function secretsOf(name: string, value: string): string[] {
  const password = PASSWORD_IN_URL.exec(value)?.[1]
  const isNamed = SECRET_NAME.test(name) || lookAtKey(name) === 'names-secret'
  const isPlain = PLACEHOLDER.test(value) || /^[\d.,:-]*$/.test(value) || (!isNamed && /^\w+:\/\//.test(value))
  const isSecret = !isPlain && (isNamed || RANDOM.test(value))
  return [...(isSecret ? [value] : []), ...(password === undefined || PLACEHOLDER.test(password) ? [] : [password])]
}

function unquote(written: string): string {
  const quoted = /^(["'`])(.*)\1/.exec(written)?.[2]
  return quoted ?? written.replace(/[ \t]+#.*$/, '').trim()
}
