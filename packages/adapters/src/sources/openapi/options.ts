/**
 * How requests authenticate: with a secret of the owner, by name. The network guard fills it in, only into headers and
 * only for the hosts it is allowed for; no schema, record or result contains it.
 */
export type OpenApiAuth =
  | { readonly type: 'bearer'; readonly secret: string }
  /** The secret is `user:password` in base64, as the header carries it. */
  | { readonly type: 'basic'; readonly secret: string }
  | { readonly type: 'header'; readonly name: string; readonly secret: string }
  /** Refused: URLs end up in logs. */
  | { readonly type: 'query'; readonly name: string; readonly secret: string }

/** Options of `fromOpenApi`. */
export interface OpenApiOptions {
  /** First part of the tool names, `<namespace>/<tag>.<operationId>`, and their group. Default: `api`. */
  readonly namespace?: string
  /**
   * The operations to include: `getPet`, `list*` by operationId, `tag:pets`, `GET *`, `* /pets/*` by method and path;
   * a leading `!` excludes. Default: all.
   */
  readonly operations?: readonly string[]
  /** How requests authenticate; the secret itself is in `secrets` of the hub. Default: not at all. */
  readonly auth?: OpenApiAuth
  /** Base URL of the API instead of the one in the document, or values for its variables. */
  readonly server?: string | { readonly variables: Readonly<Record<string, string>> }
  /** Include deprecated operations. Default: false. */
  readonly deprecated?: boolean
  /** Timeout of one request with its redirects and body. Default: that of the hub. */
  readonly timeoutMs?: number
}

/** An operation that did not become a tool. */
export interface SkippedOperation {
  /** `POST /pets`, or the entry of `operations` that matches nothing. */
  readonly operation: string
  /** Why it did not become a tool, in one sentence. */
  readonly reason: string
}

/** The fields that patterns match. */
export interface FilteredOperation {
  readonly operationId: string | undefined
  readonly tags: readonly string[]
  readonly method: string
  readonly path: string
}

interface Pattern {
  readonly text: string
  readonly isExcluding: boolean
  readonly fits: (operation: FilteredOperation) => boolean
  isUsed: boolean
}

/** Decides which operations are included, and reports entries that match none. */
export class OperationFilter {
  readonly #patterns: readonly Pattern[]
  readonly #takesAll: boolean

  constructor(patterns: readonly string[] | undefined) {
    this.#patterns = (patterns ?? []).map(toPattern)
    this.#takesAll =
      patterns === undefined || (patterns.length > 0 && this.#patterns.every(({ isExcluding }) => isExcluding))
  }

  takes(operation: FilteredOperation): boolean {
    const fitting = this.#patterns.filter((pattern) => pattern.fits(operation))
    for (const pattern of fitting) pattern.isUsed = true
    if (fitting.some(({ isExcluding }) => isExcluding)) return false
    return this.#takesAll || fitting.length > 0
  }

  unused(): string[] {
    return this.#patterns.filter(({ isUsed }) => !isUsed).map(({ text }) => text)
  }
}

function toPattern(text: string): Pattern {
  const isExcluding = text.startsWith('!')
  const wanted = isExcluding ? text.slice(1) : text
  return { text, isExcluding, fits: fitting(wanted), isUsed: false }
}

function fitting(wanted: string): Pattern['fits'] {
  if (wanted.startsWith('tag:')) {
    const tag = globOf(wanted.slice('tag:'.length))
    return ({ tags }) => tags.some((each) => tag.test(each))
  }
  const blank = wanted.indexOf(' ')
  if (blank === -1) {
    const id = globOf(wanted)
    return ({ operationId }) => operationId !== undefined && id.test(operationId)
  }
  const method = globOf(wanted.slice(0, blank).toUpperCase())
  const place = globOf(wanted.slice(blank + 1))
  return ({ method: own, path }) => method.test(own) && place.test(path)
}

/** `*` matches any text; nothing else is special. */
function globOf(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
