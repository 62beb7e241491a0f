import type { ServerResponse } from 'node:http'
import type { OidcOptions } from '@tool-hub/config'
import { type Clock, ToolError } from '@tool-hub/core'
import { SCOPES } from '@tool-hub/core/protocol'
import type { PrincipalHub } from '@tool-hub/runtime/hub'
import type { Caller } from '../auth/caller.ts'
import type { McpFetchHandler } from '../mcp/options.ts'
import { createMcpFetchHandler } from '../mcp/serve.ts'
import { HttpRefusal } from './answers.ts'

interface McpEndpoint {
  readonly hub: PrincipalHub
  /** Id of the token of its principal, if it has one. */
  readonly token: string | undefined
  readonly handler: Promise<McpFetchHandler>
  /** Requests whose responses have not ended. */
  open: number
  usedAt: number
}

interface McpEndpointOptions {
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly maxBodyBytes: number
  readonly maxBodyEntries: number
  readonly clock: Clock
  /** Marks the ids of sessions, tasks and sealed states as those of this process. */
  readonly ownId?: (id: string) => string
  readonly onError: (error: unknown) => void
}

/** Errors of the client, which has got them as its response. */
const CLIENTS_FAULT = /^Rejected (?:inbound|\d{4}-era) request/
const MAX_ENDPOINTS = 200
const IDLE_MS = 30 * 60_000

/** An MCP server for each principal, with its rights. The number is limited, and idle servers are closed. */
export class McpEndpoints {
  readonly #options: McpEndpointOptions
  readonly #endpoints = new Map<string, McpEndpoint>()
  #cancelSweep: (() => void) | undefined

  constructor(options: McpEndpointOptions) {
    this.#options = options
  }

  async serve(caller: Caller, request: Request, response: ServerResponse): Promise<Response> {
    const endpoint = this.#endpointOf(caller)
    endpoint.open++
    response.once('close', () => {
      endpoint.open--
      endpoint.usedAt = this.#options.clock.now()
    })
    const handler = await endpoint.handler
    return handler.fetch(request, { authInfo: { token: '', clientId: caller.name, scopes: [...caller.scopes] } })
  }

  /** Ends the sessions of a token that was revoked, with their streams. */
  dismiss(token: string): void {
    for (const [name, endpoint] of this.#endpoints) if (endpoint.token === token) this.#remove(name, endpoint)
  }

  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#cancelSweep?.()
    const endpoints = [...this.#endpoints.values()]
    this.#endpoints.clear()
    await Promise.all(endpoints.map((endpoint) => this.#shut(endpoint, graceMs)))
  }

  #endpointOf(caller: Caller): McpEndpoint {
    const { hub } = caller
    const mayAnswer = caller.scopes.has('approve')
    // The scopes decide whether the client is asked questions, so each set has its own server.
    const name = `${mayAnswer ? 'answers' : 'calls'} ${caller.name}`
    const known = this.#endpoints.get(name)
    // Another hub under the same name: its limits have changed, or the token was created again.
    if (known && known.hub !== hub) this.#remove(name, known)
    if (known?.hub === hub) return known
    this.#makeRoom()
    const usedAt = this.#options.clock.now()
    const endpoint = { hub, token: caller.token, handler: this.#open(hub, mayAnswer), open: 0, usedAt }
    this.#endpoints.set(name, endpoint)
    this.#cancelSweep ??= this.#sweepLater()
    // The next request tries again after a failure.
    endpoint.handler.catch(() => this.#endpoints.get(name) === endpoint && this.#endpoints.delete(name))
    return endpoint
  }

  /**
   * Only a caller that may answer is asked the questions of tools. Approvals are never elicited: the form would go to
   * the caller itself, whose client could fill it in.
   */
  #open(hub: PrincipalHub, mayAnswer: boolean): Promise<McpFetchHandler> {
    const { allowedHosts = [], allowedOrigins = [], maxBodyBytes, maxBodyEntries, clock, ownId } = this.#options
    const onError = (error: Error) => {
      if (!CLIENTS_FAULT.test(error.message)) this.#options.onError(error)
    }
    return createMcpFetchHandler(hub, {
      allowedHosts: allowedHosts.map((host) => host.replace(/:\d+$/, '')),
      allowedOrigins: allowedOrigins.map((origin) => new URL(origin).hostname),
      maxBodyBytes,
      maxBodyEntries,
      clock,
      ownId,
      onError,
      path: '/mcp',
      elicitation: mayAnswer && 'questions',
    })
  }

  #makeRoom(): void {
    if (this.#endpoints.size < MAX_ENDPOINTS) return
    const idle = [...this.#endpoints].filter(([, { open }]) => open === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const [first] = idle
    if (!first) {
      throw new HttpRefusal(503, 'RATE_LIMITED', `${MAX_ENDPOINTS} principals use MCP already.`, {
        hint: 'Try again later.',
      })
    }
    this.#remove(...first)
  }

  #sweepLater(): () => void {
    return this.#options.clock.after(
      IDLE_MS / 4,
      () => {
        const oldest = this.#options.clock.now() - IDLE_MS
        for (const [name, endpoint] of this.#endpoints)
          if (endpoint.open === 0 && endpoint.usedAt <= oldest) this.#remove(name, endpoint)
        this.#cancelSweep = this.#endpoints.size > 0 ? this.#sweepLater() : undefined
      },
      { background: true },
    )
  }

  #remove(name: string, endpoint: McpEndpoint): void {
    this.#endpoints.delete(name)
    void this.#shut(endpoint, 0)
  }

  async #shut({ handler }: McpEndpoint, graceMs: number): Promise<void> {
    try {
      await (await handler).close({ graceMs })
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

/** Paths of the protected resource metadata of `/mcp` (RFC 9728). */
export const METADATA_PATHS = [
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-protected-resource',
] as const

/**
 * `/mcp` as an OAuth 2.1 resource server: its authorization servers, and the challenge for requests without a token.
 */
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

  /** Adds to a refusal where to sign in and which scope is needed. */
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

  /** The names of these scopes at the authorization servers. */
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
