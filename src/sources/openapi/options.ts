/**
 * How an API knows who asks: by a secret of the owner's, by name. The network guard fills it in, into headers only and
 * for the hosts it is for; no schema, record or result holds it.
 */
export type OpenApiAuth =
  | { readonly type: 'bearer'; readonly secret: string }
  /** The secret is `user:password` in base64, as the header carries it. */
  | { readonly type: 'basic'; readonly secret: string }
  | { readonly type: 'header'; readonly name: string; readonly secret: string }
  /** Refused: what is in a URL ends up in logs. */
  | { readonly type: 'query'; readonly name: string; readonly secret: string }

/** How an HTTP API becomes tools. */
export interface OpenApiOptions {
  /** Begins the names of its tools, `<namespace>/<tag>.<operationId>`, and is their group. Default: `api`. */
  readonly namespace?: string
  /**
   * The operations to take (default: all): `getPet`, `list*` by operationId, `tag:pets`, `GET *`, `* /pets/*` by method
   * and path; with `!` before it, one to leave out.
   */
  readonly operations?: readonly string[]
  /** How requests are authorized; the secret itself is in `secrets` of the hub. Default: not at all. */
  readonly auth?: OpenApiAuth
  /** Where the API is, instead of what the document says; or values for the variables in what it says. */
  readonly server?: string | { readonly variables: Readonly<Record<string, string>> }
  /** Take deprecated operations, too. */
  readonly deprecated?: boolean
  /** Time for one request, its redirects and body. Default: as the hub says. */
  readonly timeoutMs?: number
}

/** An operation that became no tool, and why. */
export interface SkippedOperation {
  /** `POST /pets`, or the entry of `operations` that fits nothing. */
  readonly operation: string
  /** Why it did not become a tool, in one sentence. */
  readonly reason: string
}

/** What patterns look at. */
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

/** Which operations the owner wants, and which entries of the list fit none. */
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

/** `*` is any text, nothing else is special. */
function globOf(pattern: string): RegExp {
  const parts = pattern.split(/\*+/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's')
}
