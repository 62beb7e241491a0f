import { lazyModule, ToolError, type WebFetch } from '@tool-hub/core'
import { z } from 'zod'
import type { RenewTogether } from './renewals.ts'

const loadMcpClient = lazyModule(() => import('@modelcontextprotocol/client'))

const renewedSchema = z.object({ access_token: z.string(), refresh_token: z.string().optional() })

/** Answers of authorization servers are short. */
const MAX_BYTES = 200_000
/** Calls that began with an older token may be rejected late. */
const MAX_REFUSED = 20
const BODILESS = new Set([204, 205, 304])

/**
 * A fetch for a server with sign-in: bounds the answers about signing in, and renews a token only once for all calls; with
 * `together`, also of other processes.
 */
export function oauthFetch(fetch: WebFetch, together?: RenewTogether): WebFetch {
  const renewals = new Renewals()
  const ask: WebFetch = async (url, init) => {
    const response = await fetch(url, init)
    if (response.status === 401) renewals.refuse(bearerOf(init))
    return response
  }
  return async (url, init) => {
    if (isOfServer(init)) return ask(url, init)
    const refreshToken = refreshTokenOf(init)
    if (refreshToken === undefined) return readWhole(await forSdk(ask(url, init)))
    if (!together) return renewals.renew(refreshToken, async () => readWhole(await ask(url, init)))
    return renewals.renew(refreshToken, () =>
      together({
        refreshToken,
        isRefused: (accessToken) => renewals.isRefused(accessToken),
        ask: async (signal) => readWhole(await ask(url, { ...init, signal })),
      }),
    )
  }
}

/** Requests of MCP accept an event stream or end a session; requests for signing in never do. */
function isOfServer({ method, headers }: RequestInit = {}): boolean {
  return method === 'DELETE' || (new Headers(headers).get('accept') ?? '').includes('text/event-stream')
}

function bearerOf({ headers }: RequestInit = {}): string {
  return (new Headers(headers).get('authorization') ?? '').replace(/^Bearer /, '')
}

function refreshTokenOf({ method, body }: RequestInit = {}): string | undefined {
  if (method !== 'POST' || !(body instanceof URLSearchParams)) return undefined
  return body.get('grant_type') === 'refresh_token' ? (body.get('refresh_token') ?? undefined) : undefined
}

/** The SDK treats only a TypeError as a broken connection, and any other error as "this server has no metadata". */
async function forSdk(answer: Promise<Response>): Promise<Response> {
  try {
    return await answer
  } catch (cause) {
    if (ToolError.is(cause)) throw new TypeError(cause.message, { cause })
    throw cause
  }
}

async function readWhole(response: Response): Promise<Response> {
  const { status, headers } = response
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) {
      throw new ToolError('HTTP_TOO_LARGE', `An answer about signing in has more than ${MAX_BYTES} bytes.`)
    }
    chunks.push(chunk)
  }
  return new Response(BODILESS.has(status) ? null : Buffer.concat(chunks), { status, headers })
}

interface Renewed {
  readonly response: Response
  readonly accessToken: string
  readonly refreshToken: string
  isRefused: boolean
}

/**
 * Renews a token once for all calls that find it expired, at the same time or shortly after: many authorization
 * servers take the second use of a refresh token for theft and revoke everything.
 */
export class Renewals {
  readonly #running = new Map<string, Promise<Response>>()
  /** The last ones, oldest first. */
  readonly #refused = new Set<string>()
  #last: Renewed | undefined

  /** The server rejected this token. */
  refuse(accessToken: string): void {
    if (this.#last?.accessToken === accessToken) this.#last.isRefused = true
    this.#refused.add(accessToken)
    if (this.#refused.size > MAX_REFUSED) this.#refused.delete(this.#refused.values().next().value!)
  }

  /** Whether the server has rejected this token lately. */
  isRefused(accessToken: string): boolean {
    return this.#refused.has(accessToken)
  }

  /** Returns the answer to a renewal; calls `ask` only if no other call has just renewed the token or is about to. */
  async renew(refreshToken: string, ask: () => Promise<Response>): Promise<Response> {
    const last = this.#last
    // Renewed for a slower call; nobody has rejected the new token yet.
    if (last && last.refreshToken === refreshToken && !last.isRefused) return last.response.clone()
    const running = this.#running.get(refreshToken) ?? this.#ask(refreshToken, ask)
    return (await running).clone()
  }

  #ask(refreshToken: string, ask: () => Promise<Response>): Promise<Response> {
    const asking = this.#remember(refreshToken, ask).finally(() => this.#running.delete(refreshToken))
    this.#running.set(refreshToken, asking)
    return asking
  }

  async #remember(refreshToken: string, ask: () => Promise<Response>): Promise<Response> {
    const response = await askForSdk(ask)
    const renewed = renewedSchema.safeParse(
      await response
        .clone()
        .json()
        .catch(() => undefined),
    )
    if (response.ok && renewed.success) {
      const { access_token: accessToken, refresh_token: next = refreshToken } = renewed.data
      this.#last = { response, accessToken, refreshToken: next, isRefused: false }
    }
    return response
  }
}

/** The SDK signs in again after a failed renewal, unless the error says that the token is not the cause. */
async function askForSdk(ask: () => Promise<Response>): Promise<Response> {
  try {
    const response = await ask()
    if (response.status < 500 && response.status !== 429) return response
    throw new ToolError('UPSTREAM_ERROR', `The authorization server answered a renewal with status ${response.status}.`)
  } catch (cause) {
    if (!ToolError.is(cause)) throw cause
    const { OAuthError, OAuthErrorCode } = await loadMcpClient()
    throw Object.assign(new OAuthError(OAuthErrorCode.TemporarilyUnavailable, cause.message), { cause })
  }
}
