import { isPlainObject } from '@tool-hub/core/lib'
import { createRedactor } from '@tool-hub/runtime/records/redaction'

/** A secret that stood in an entry, and the text that stands there now. */
export interface TakenOut {
  /** `env`, `headers`, `args` or `url`. */
  readonly part: string
  /** The name of the value, where it has one. */
  readonly key?: string
  /** The environment variable that has to hold it. */
  readonly variable: string
  readonly now: string
}

/** An entry without its secrets, and what was taken out. */
export interface Cleaned {
  readonly entry: unknown
  readonly taken: readonly TakenOut[]
}

type Refer = (variable: string) => string

/** In the environment and in headers a name is enough; a wrong guess costs a variable. */
const SECRET_NAME = /TOKEN|SECRET|PASS|AUTH|CREDENTIAL|(^|[_-])KEY($|[_-])/i
const PLAIN = /^(?:true|false|yes|no|on|off)$/i
const SCHEME = /^(?:Bearer|Basic|token) +/i
/** `--token=x`, `GITHUB_TOKEN=x`, `X-Api-Key: x`. */
const ASSIGNED = /^(-{0,2}[A-Za-z][\w.-]*)(=|: *)([\s\S]+)$/
const LONG_AND_MIXED = /^(?=[^a-z]*[a-z])(?=\D*\d)[\w~-]{20,}$/i

/** The entry of a server with references where it had secrets, and the variables that must be set for them. */
export function withoutSecrets(server: string, entry: unknown, refer: Refer = (name) => `\${env:${name}}`): Cleaned {
  if (!isPlainObject(entry)) return { entry, taken: [] }
  const taken: TakenOut[] = []
  const take = (part: string, name: string, now: (reference: string) => string, key?: string) => {
    const variable = freeVariable(name, taken)
    const text = now(refer(variable))
    taken.push({ part, ...(key !== undefined && { key }), variable, now: text })
    return text
  }
  const { env, headers, args, url } = entry
  return {
    entry: {
      ...entry,
      ...(isPlainObject(env) && { env: cleanValues(env, (name, now) => take('env', name, now, name)) }),
      ...(isPlainObject(headers) && {
        headers: cleanValues(headers, (name, now) => take('headers', `${server}_${name}`, now, name)),
      }),
      ...(Array.isArray(args) && {
        args: cleanWords(args, (name, now) => take('args', `${server}_${name || 'secret'}`, now)),
      }),
      ...(typeof url === 'string' && { url: cleanUrl(url, (name, now) => take('url', `${server}_${name}`, now)) }),
    },
    taken,
  }
}

/** Puts a reference by this name into a text. */
type Take = (name: string, now: (reference: string) => string) => string

function cleanValues(values: Readonly<Record<string, unknown>>, take: Take): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (typeof value !== 'string' || !isSecret(name, value)) return [name, value]
      return [name, take(name, (reference) => `${SCHEME.exec(value)?.[0] ?? ''}${reference}`)]
    }),
  )
}

function isSecret(name: string, value: string): boolean {
  if (value === '' || PLAIN.test(value) || isReference(value)) return false
  return SECRET_NAME.test(name) || holdsSecret(value)
}

/** A word is a secret after `--token`, behind `token=`, and by its shape. */
function cleanWords(words: readonly unknown[], take: Take): unknown[] {
  return words.map((word, index) => {
    if (typeof word !== 'string') return word
    const before = words[index - 1]
    const isNamed = typeof before === 'string' && /^--?[A-Za-z]/.test(before) && namesSecret(before)
    if (isNamed && !word.startsWith('-') && isHidden(word))
      return take(before.replace(/^-+/, ''), (reference) => `${SCHEME.exec(word)?.[0] ?? ''}${reference}`)
    return cleanWord(word, take)
  })
}

function cleanWord(word: string, take: Take): string {
  const [, name = '', sign = '', value = ''] = ASSIGNED.exec(word) ?? []
  if (namesSecret(name) && isHidden(value))
    return take(name.replace(/^-+/, ''), (reference) => `${name}${sign}${SCHEME.exec(value)?.[0] ?? ''}${reference}`)
  const isMore = name.startsWith('-') || /^header$/i.test(name)
  if (isMore && value !== '') return `${name}${sign}${cleanWord(value, take)}`
  if (/^https?:\/\//.test(word)) return cleanUrl(word, (name, now) => take(name, now))
  return cleanShapes(word, take)
}

/** Files and switches are no secrets, whatever they are called. */
function isHidden(value: string): boolean {
  return !isReference(value) && !PLAIN.test(value) && !/^(?:\.{0,2}|~)\//.test(value)
}

function cleanShapes(text: string, take: Take): string {
  let cleaned = markSecrets(text)
  for (const [mark] of cleaned.matchAll(MARK))
    cleaned = take('secret', (reference) => cleaned.replace(mark, () => reference))
  return cleaned
}

/** What stands before the host, values of the query, and long random parts of the path, which are keys as often as not. */
function cleanUrl(url: string, take: Take): string {
  const [, start = '', rest = ''] = /^(https?:\/\/)([\s\S]*)$/.exec(url) ?? []
  if (start === '') return cleanShapes(url, take)
  let cleaned = url
  const replace = (name: string, secret: string) => {
    if (isReference(secret) || secret === '') return
    cleaned = take(name, (reference) => cleaned.replace(secret, () => reference))
  }
  const [host = '', ...segments] = (rest.split(/[?#]/, 1)[0] ?? '').split('/')
  if (host.includes('@')) replace('user', host.slice(0, host.lastIndexOf('@')))
  for (const segment of segments) if (LONG_AND_MIXED.test(segment)) replace('path', segment)
  for (const pair of (/\?([^#]*)/.exec(url)?.[1] ?? '').split('&')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2)
    const isKey = SECRET_NAME.test(name) || LONG_AND_MIXED.test(value) || holdsSecret(value)
    if (isKey && !PLAIN.test(value)) replace(name, value)
  }
  return cleanShapes(cleaned, take)
}

function freeVariable(name: string, taken: readonly TakenOut[]): string {
  const plain = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]/g, '_')
    .replace(/^(?=\d)/, '_')
  const isTaken = (variable: string) => taken.some((each) => each.variable === variable)
  for (let count = 1; ; count++) {
    const variable = count === 1 ? plain : `${plain}_${count}`
    if (!isTaken(variable)) return variable
  }
}

const redactor = createRedactor()

/** Whether a text has the shape of a well-known secret. */
function holdsSecret(text: string): boolean {
  return markSecrets(text) !== text
}

/** What stands where a well-known secret stood. */
const MARK = /\[redacted:[a-z-]{1,40}\]/g

/** Without a default, and with the colon that would make it the password of an address. */
const REFERENCE = /:?\$\{(?:[A-Za-z]+:(?!-))?[A-Za-z_][\w.-]*\}/g

/** A text with marks where it holds well-known secrets; references are none. */
function markSecrets(text: string): string {
  const references: string[] = []
  // Characters of private use: a text that has them has no references that count.
  if (/[\ue000\ue001]/.test(text)) return redactor.text(text)
  // A brace, because no secret of an address has one.
  const masked = text.replaceAll(REFERENCE, (reference) => `{\ue000${references.push(reference) - 1}\ue001`)
  return redactor.text(masked).replaceAll(/\{\ue000(\d+)\ue001/g, (_, index: string) => references[Number(index)]!)
}

/** The last word of a name says what the value is: `--api-key`, `GITHUB_TOKEN`, `X-Api-Key`; not `--max-tokens`. */
const NAMES_SECRET =
  /(?:^|[^a-z])(?:token|secret|password|passwd|passphrase|pwd|pat|credentials?|authorization|(?:api|access|private|secret|auth|signing|license)[-_]?key|key)$/i

/** Whether a name says that its value is a secret. */
function namesSecret(name: string): boolean {
  return NAMES_SECRET.test(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'))
}

/** `"GITHUB_TOKEN": "…"`, `password: …`, with its value. */
const NAMED = /(["']?)([A-Za-z][\w-]{0,80})\1(\s*[:=]\s*)("[^"]*"|'[^']*'|(?:\$\{[^}\s]*\}|[^\s,{}[\]"'])+)/g

/** A text of a config or a diff without the secrets in it, by their shape and by the name before them. */
export function hideInText(text: string): string {
  return markSecrets(text).replaceAll(NAMED, (whole, quote: string, name: string, between: string, value: string) =>
    namesSecret(name) && !isReference(value.replaceAll(/^["']|["']$/g, ''))
      ? `${quote}${name}${quote}${between}[redacted]`
      : whole,
  )
}

const ONLY_REFERENCES = /^(?:(?:Bearer|Basic|token) +)?(?:\$\{(?:[A-Za-z]+:(?!-))?[A-Za-z_][\w.-]*\})+$/i

/** Whether a value says nothing by itself: references without a default, at most after the word of a scheme. */
function isReference(value: string): boolean {
  return ONLY_REFERENCES.test(value)
}
