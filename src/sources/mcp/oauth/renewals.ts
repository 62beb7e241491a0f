import { z } from 'zod'
import { lazyModule } from '../../../disk/lazy-module.ts'
import { ToolError } from '../../../errors.ts'

const loadMcpClient = lazyModule(() => import('@modelcontextprotocol/client'))

const renewedSchema = z.object({ access_token: z.string(), refresh_token: z.string().optional() })

interface Renewed {
  readonly response: Response
  readonly accessToken: string
  readonly refreshToken: string
  isRefused: boolean
}

/**
 * Renews a token once for all calls that find out that it is over, at the same time or a little later: many
 * authorization servers take a second use of the same refresh token for theft, and then end everything.
 */
export class Renewals {
  readonly #running = new Map<string, Promise<Response>>()
  #last: Renewed | undefined

  /** The server did not take this token. */
  refuse(accessToken: string): void {
    if (this.#last?.accessToken === accessToken) this.#last.isRefused = true
  }

  /** The answer to a renewal; `ask` is used only when nobody has just renewed it, or is about to. */
  async renew(refreshToken: string, ask: () => Promise<Response>): Promise<Response> {
    const last = this.#last
    // Made for a call that was slower: nobody has refused what came of it.
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

/** For the SDK a renewal that failed means to sign in again, unless the error says that it is not the token's fault. */
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
