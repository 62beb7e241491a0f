/** A kind of secret that is known by how it looks. */
interface SecretShape {
  readonly kind: string
  /**
   * Global, and linear on any text: it begins with a literal, repeats only single character classes, and where the
   * literal is part of the repeated class, a look behind allows one beginning per run of such characters.
   */
  readonly pattern: RegExp
  /** Tells a secret from words of the same form; every match is one unless said. */
  readonly isSecret?: (match: string) => boolean
  /** What is kept of the match; nothing unless said. */
  readonly replace?: (match: string, mark: string) => string
}

/** A secret has digits, or is too long for a word. */
const isRandom = (text: string): boolean => /\d/.test(text) || text.length > 40

const keepFirstWord = (match: string, mark: string): string => `${match.slice(0, match.search(/\s/))} ${mark}`

/** The secrets that are found wherever they stand in a text. */
export const SECRET_SHAPES: readonly SecretShape[] = [
  {
    kind: 'private-key',
    // Without an end, which a cut text has not, all that follows is taken for the key.
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g,
  },
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
    pattern: /[Bb](?:earer|EARER)\s{1,8}[\w.~+/-]{6,}={0,2}/g,
    isSecret: (match) => match.length > 24 || /\d/.test(match),
    replace: keepFirstWord,
  },
  {
    kind: 'basic',
    pattern: /[Bb]asic\s{1,8}[A-Za-z0-9+/]{8,}={0,2}/g,
    isSecret: (match) => /^[ -~]*:[ -~]*$/.test(Buffer.from(match.slice(5).trim(), 'base64').toString('latin1')),
    replace: keepFirstWord,
  },
  {
    kind: 'url-credentials',
    pattern: /:\/\/[^\s/@:"'<>]*:[^\s/@"'<>]+@/g,
    replace: (_match, mark) => `://${mark}@`,
  },
]

/**
 * True when a text may hold one of the shapes. One pass of about 0.7 us per KB: it looks for the rarest character of
 * each shape and only there at what stands before or after it.
 */
export function mayHoldSecret(text: string): boolean {
  return text.length >= SHORTEST && HINT.test(text)
}

/** `://a:b@` */
const SHORTEST = 7
const HINT =
  /[Bb](?:earer|EARER|asic)\s|:\/\/[^\s/]*@|A(?:KIA|SIA|Iza)|J(?<=eyJ)|_(?<=gh[pousr]_|pat_|npm_|hf_|live_)|-(?<=sk-|xox[a-z]-|glpat-|-----)/
