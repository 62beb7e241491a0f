import { KEY_BLOCK, markWords } from './key-block.ts'
import { redactionMark } from './text.ts'

/** Keys whose value is a secret, in lower case, without - and _; those of `SECRET_KEY_ENDINGS` are names as well. */
export const SECRET_KEYS = [
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
export const SECRET_KEY_ENDINGS = [
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

/** All of them, in any case and with or without `-` and `_`: in a URL, and `//host/:_authToken=` in an .npmrc. */
export const QUERY_NAME = `(?:[?&#]|:_)(?:${[...NAMES, ...SHORT_NAMES].map(anyCase).join('|')})`

/** The longest of them, with what stands before it. */
export const MAX_QUERY_NAME_LENGTH = 2 + Math.max(...[...NAMES, ...SHORT_NAMES].map(({ length }) => length))

const SHORT = new RegExp(`^.(?:${SHORT_NAMES.map(anyCase).join('|')})=`)
const MIN_CHARS = 8
const WORD_CHARS = 24

/** Whether what stands in a query is a secret; below names that also stand for other things, if it is not a word. */
function isQuerySecret(match: string): boolean {
  if (!SHORT.test(match)) return true
  const value = match.slice(match.indexOf('=') + 1)
  return value.length > WORD_CHARS || (value.length >= MIN_CHARS && /\d/.test(value))
}

function anyCase(name: string): string {
  return [...name].map((letter) => (letter === '_' ? '[-_]?' : `[${letter}${letter.toUpperCase()}]`)).join('')
}

/** A kind of secret that is known by how it looks. */
interface SecretShape {
  readonly kind: string
  /**
   * Global, and linear on any text: it begins with a literal, repeats only single character classes (the key block: a
   * bounded number of things that begin differently), and where the literal is part of the repeated class, a look
   * behind allows one beginning per run of such characters.
   */
  readonly pattern: RegExp
  /** Whether a match is a secret and not a word of the same form. Default: every match is a secret. */
  readonly isSecret?: (match: string) => boolean
  /** What is kept of the match. Default: nothing. */
  readonly replace?: (match: string, mark: string) => string
  /** The same for anyone who decides on a call, where nothing may be hidden that could be code. */
  readonly show?: (match: string, mark: string) => string
}

/** A secret has digits, or is too long for a word. */
const isRandom = (text: string): boolean => /\d/.test(text) || text.length > 40

/**
 * 43 random characters have three of each, but for one in ten million; long names of functions and files seldom have.
 */
const isOwnToken = (text: string): boolean =>
  /(?:[A-Z][^A-Z]*){3}/.test(text) && /(?:[a-z][^a-z]*){3}/.test(text.slice(3))

const keepFirstWord = (match: string, mark: string): string => `${match.slice(0, match.search(/\s/))} ${mark}`

/** Behind a line break stands another command, and a short path may be a program: `env -u Bearer ./x1`. */
const showCommands = (match: string, mark: string): string => {
  const token = match.slice(match.search(/\s/)).trim()
  const mayBeCode = /[\n-\r\u2028\u2029]/.test(match) || (token.includes('/') && token.length < 40)
  return mayBeCode ? match : keepFirstWord(match, mark)
}

/** The secrets that are found wherever they stand in a text. */
export const SECRET_SHAPES: readonly SecretShape[] = [
  {
    kind: 'private-key',
    pattern: KEY_BLOCK,
    show: markWords,
  },
  { kind: 'tool-hub-token', pattern: /th_[\w-]{43,}/g, isSecret: isOwnToken },
  { kind: 'aws-key', pattern: /A(?:KIA|SIA)(?<![A-Z0-9]....)[A-Z0-9]{16}/g },
  { kind: 'google-key', pattern: /AIza[\w-]{35}/g },
  { kind: 'github-token', pattern: /gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}/g },
  { kind: 'gitlab-token', pattern: /glpat-[\w-]{20,}/g },
  { kind: 'slack-token', pattern: /xox[a-z]-[A-Za-z0-9-]{10,}/g },
  { kind: 'npm-token', pattern: /npm_[A-Za-z0-9]{36,}/g },
  { kind: 'huggingface-token', pattern: /hf_[A-Za-z0-9]{30,}/g, isSecret: isRandom },
  { kind: 'stripe-key', pattern: /[sr]k_live_[A-Za-z0-9]{16,}/g },
  { kind: 'anthropic-key', pattern: /sk-ant-[\w-]{16,}/g },
  { kind: 'openai-key', pattern: /sk-(?<![\w-]sk-)[\w-]{20,}/g, isSecret: isRandom },
  { kind: 'jwt', pattern: /eyJ(?<![\w-]eyJ)[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g },
  {
    kind: 'bearer',
    // The word twice, as a mistake has it, is not the word and its token: that is yet to come.
    pattern: /[Bb](?:earer|EARER)\s{1,8}(?![Bb](?:earer|EARER)\s)[\w.~+/-]{6,}={0,2}/g,
    isSecret: (match) => match.length > 24 || /\d/.test(match),
    replace: keepFirstWord,
    show: showCommands,
  },
  {
    kind: 'basic',
    pattern: /[Bb]asic\s{1,8}[A-Za-z0-9+/]{8,}={0,2}/g,
    isSecret: (match) => /^[ -~]*:[ -~]*$/.test(Buffer.from(match.slice(5).trim(), 'base64').toString('latin1')),
    replace: keepFirstWord,
    show: showCommands,
  },
  {
    kind: 'url-credentials',
    // What a shell or a script would take for code is not part of them: a URL has it encoded.
    pattern: /:\/\/[^\s/?#@:"'<>`$();|&{}\\]*(?::[^\s/?#@"'<>`$();|&{}\\]+)?@/g,
    // A name alone is a secret when it looks like a token: not `ssh://git@example.org`.
    isSecret: (match) => match.includes(':', 3) || (match.length > 24 && /\d/.test(match)),
    replace: (_match, mark) => `://${mark}@`,
  },
  {
    kind: 'url-secret',
    pattern: new RegExp(String.raw`${QUERY_NAME}=(?!\[redacted:)[^\s&#"'<>${'`'}$();|{}\\]+`, 'g'),
    isSecret: isQuerySecret,
    replace: (match, mark) => `${match.slice(0, match.indexOf('=') + 1)}${mark}`,
  },
]

/** Takes all of them out of a text. */
export function redactShapes(text: string): string {
  return replaceShapes(text, ({ kind, replace }, match) => {
    const mark = redactionMark(kind)
    return replace ? replace(match, mark) : mark
  })
}

/** The same for anyone who decides on a call: what could be code stays. */
export function redactShown(text: string, onHidden: (kind: string, chars: number) => void): string {
  return replaceShapes(text, ({ kind, replace, show = replace }, match) => {
    const mark = redactionMark(kind)
    const output = show ? show(match, mark) : mark
    const marks = output.split(mark).length - 1
    if (marks > 0) onHidden(kind, match.length - (output.length - marks * mark.length))
    return output
  })
}

function replaceShapes(text: string, replace: (shape: SecretShape, match: string) => string): string {
  let output = text
  for (const shape of SECRET_SHAPES) {
    const { pattern, isSecret } = shape
    output = output.replace(pattern, (match) => (isSecret && !isSecret(match) ? match : replace(shape, match)))
  }
  return output
}

/**
 * Found within every one of the shapes, and in little else. Bytes that are read as Latin-1 have no blanks but those of
 * ASCII, so `://` ends at these.
 */
export const SECRET_HINT =
  /[Bb](?:earer|EARER|asic)\s|:\/\/[^\t-\r /]*@|A(?:KIA|SIA|Iza)|J(?<=(?<![\w-])eyJ)|_(?<=gh[pousr]_|github_pat_|npm_|hf_|[sr]k_live_)(?=\w{16})|_(?<=th_)(?=[\w-]{43})|-(?<=(?<![\w-])sk-|sk-ant-|xox[a-z]-|glpat-)(?=[\w-]{10})|-(?<=-----)(?=BEGIN )|=(?<=(?:[?&#]|:_)[\w-]{3,24}=)/

/** How the shapes begin that are one word of letters, digits, `_`, `-` and `.`; the longest has 11 characters. */
export const WORD_BEGINNING =
  /A(?:KIA|SIA)(?<![A-Z0-9]....)|AIza|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|npm_|hf_|th_|[sr]k_live_|sk-ant-|sk-(?<![\w-]sk-)|eyJ(?<![\w-]eyJ)/
