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
