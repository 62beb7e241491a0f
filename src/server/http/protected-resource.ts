import type { OidcOptions } from '../../config/index.ts'
import { ToolError } from '../../core/index.ts'
import { SCOPES } from '../../protocol/index.ts'
import { HttpRefusal } from './answer/http-refusal.ts'

/** Where clients of MCP find out who signs people in to `/mcp`, as RFC 9728 says. */
export const METADATA_PATHS = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
] as const

/** `/mcp` as a resource server of OAuth 2.1: which authorization servers it trusts, and what a request without a token is told. */
export class ProtectedResource {
  readonly #issuers: readonly OidcOptions[]
  readonly #origin: () => string

  constructor(issuers: readonly OidcOptions[], origin: () => string) {
    this.#issuers = issuers
    this.#origin = origin
  }

  /** The metadata document of RFC 9728. */
  metadata(): Record<string, unknown> {
    return {
      resource: `${this.#base}/mcp`,
      resource_name: 'tool-hub',
      authorization_servers: this.#issuers.map(({ issuer }) => issuer),
      scopes_supported: this.#words(SCOPES),
      bearer_methods_supported: ['header'],
    }
  }

  /** The refusal of a request to `/mcp`, with where to sign in and which scope it takes. */
  challenge(error: unknown): unknown {
    if (!ToolError.is(error)) return error
    const isUnknown = error instanceof HttpRefusal && error.status === 401
    if (!isUnknown && error.code !== 'FORBIDDEN') return error
    const own = error instanceof HttpRefusal ? error.headers : {}
    const before = own['www-authenticate'] ?? 'Bearer realm="tool-hub", error="insufficient_scope"'
    const where = `resource_metadata="${this.#base}${METADATA_PATHS[0]}"`
    const words = this.#words(['call'])
    // An empty scope is not valid (RFC 6750).
    const scope = words.length === 0 ? [] : [`scope="${words.join(' ')}"`]
    const challenge = [before, ...scope, where].join(', ')
    return new HttpRefusal(isUnknown ? 401 : 403, error.code, error.message, {
      hint: error.fix.hint,
      headers: { ...own, 'www-authenticate': challenge },
    })
  }

  get #base(): string {
    return this.#origin().replace(/\/+$/, '')
  }

  /** The words that the authorization servers use for these scopes. */
  #words(scopes: readonly (typeof SCOPES)[number][]): string[] {
    const words = this.#issuers.flatMap(({ scopes: meaning }): readonly string[] =>
      meaning === undefined
        ? scopes
        : Object.entries(meaning).flatMap(([word, meant]) =>
            meant.some((each) => scopes.includes(each)) ? [word] : [],
          ),
    )
    return [...new Set(words)]
  }
}
