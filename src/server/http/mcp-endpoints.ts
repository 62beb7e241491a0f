import type { ServerResponse } from 'node:http'
import type { OidcOptions } from '../../config/index.ts'
import { type Clock, ToolError } from '../../core/index.ts'
import type { PrincipalHub } from '../../hub/index.ts'
import { SCOPES } from '../../protocol/index.ts'
import type { McpFetchHandler } from '../mcp/options.ts'
import { createMcpFetchHandler } from '../mcp/serve.ts'
import type { Caller } from '../service.ts'
import { HttpRefusal } from './answers.ts'

interface McpDoor {
  readonly hub: PrincipalHub
  readonly handler: Promise<McpFetchHandler>
  /** Requests that are not answered to the end. */
  open: number
  usedAt: number
}

interface McpDoorOptions {
  readonly allowedHosts?: readonly string[]
  readonly allowedOrigins?: readonly string[]
  readonly maxBodyBytes: number
  readonly maxBodyEntries: number
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** What the client was told already, and nobody else can mend. */
const CLIENTS_FAULT = /^Rejected (?:inbound|\d{4}-era) request/
const MAX_GUARDS = 200
const IDLE_MS = 30 * 60_000

/** An MCP server for each principal, over the hub as that one may use it: bounded in number, idle ones are closed. */
export class McpEndpoints {
  readonly #options: McpDoorOptions
  readonly #doors = new Map<string, McpDoor>()
  #cancelSweep: (() => void) | undefined

  constructor(options: McpDoorOptions) {
    this.#options = options
  }

  async serve(caller: Caller, request: Request, response: ServerResponse): Promise<Response> {
    const door = this.#doorOf(caller)
    door.open++
    response.once('close', () => {
      door.open--
      door.usedAt = this.#options.clock.now()
    })
    const handler = await door.handler
    return handler.fetch(request, { authInfo: { token: '', clientId: caller.name, scopes: [...caller.scopes] } })
  }

  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#cancelSweep?.()
    const doors = [...this.#doors.values()]
    this.#doors.clear()
    await Promise.all(doors.map((door) => this.#shut(door, graceMs)))
  }

  #doorOf(caller: Caller): McpDoor {
    const { hub } = caller
    const mayAnswer = caller.scopes.has('approve')
    // One principal may come with more or less scopes, and is then asked or not: nobody gets the other's door.
    const name = `${mayAnswer ? 'answers' : 'calls'} ${caller.name}`
    const known = this.#doors.get(name)
    // Another hub under the same name: its limits were changed, or the token was made anew.
    if (known && known.hub !== hub) this.#remove(name, known)
    if (known?.hub === hub) return known
    this.#makeRoom()
    const door = { hub, handler: this.#open(hub, mayAnswer), open: 0, usedAt: this.#options.clock.now() }
    this.#doors.set(name, door)
    this.#cancelSweep ??= this.#sweepLater()
    // One that could not be made is made again at the next request.
    door.handler.catch(() => this.#doors.get(name) === door && this.#doors.delete(name))
    return door
  }

  /**
   * Only who may answer is shown the questions of tools. Whether a call may happen is never asked by a form: it would come
   * to the one who calls, whose client could fill it in by itself.
   */
  #open(hub: PrincipalHub, mayAnswer: boolean): Promise<McpFetchHandler> {
    const { allowedHosts = [], allowedOrigins = [], maxBodyBytes, maxBodyEntries, clock } = this.#options
    const onError = (error: Error) => {
      if (!CLIENTS_FAULT.test(error.message)) this.#options.onError(error)
    }
    return createMcpFetchHandler(hub, {
      allowedHosts: allowedHosts.map((host) => host.replace(/:\d+$/, '')),
      allowedOrigins: allowedOrigins.map((origin) => new URL(origin).hostname),
      maxBodyBytes,
      maxBodyEntries,
      clock,
      onError,
      path: '/mcp',
      elicitation: mayAnswer && 'questions',
    })
  }

  #makeRoom(): void {
    if (this.#doors.size < MAX_GUARDS) return
    const idle = [...this.#doors].filter(([, { open }]) => open === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt)
    const [first] = idle
    if (!first) {
      throw new HttpRefusal(503, 'RATE_LIMITED', `${MAX_GUARDS} principals use MCP already.`, {
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
        for (const [name, door] of this.#doors) if (door.open === 0 && door.usedAt <= oldest) this.#remove(name, door)
        this.#cancelSweep = this.#doors.size > 0 ? this.#sweepLater() : undefined
      },
      { background: true },
    )
  }

  #remove(name: string, door: McpDoor): void {
    this.#doors.delete(name)
    void this.#shut(door, 0)
  }

  async #shut({ handler }: McpDoor, graceMs: number): Promise<void> {
    try {
      await (await handler).close({ graceMs })
    } catch (error) {
      this.#options.onError(error)
    }
  }
}

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
