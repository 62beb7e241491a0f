import { randomBytes } from 'node:crypto'
import type { AuthResult, OAuthClientProvider } from '@modelcontextprotocol/client'
import { lazyModule, messageOf, ToolError, type WebFetch } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { openWebCallback } from '@tool-hub/sandbox/network'
import { oauthFetch } from '../oauth/oauth-fetch.ts'
import { type OAuthOptions, openOAuth } from '../oauth/oauth-provider.ts'
import { forgetSignIns, openSignIns, type SignInStorage } from '../oauth/sign-in-store.ts'

const loadMcpClient = lazyModule(() => import('@modelcontextprotocol/client'))

/** Options for signing a person in to a server. */
export interface SignInOptions extends Omit<OAuthOptions, 'signIn'> {
  /** Reaches the server and public hosts: `host.webFetch({ origins: [its origin], publicHosts: true })`. */
  readonly fetch: WebFetch
  readonly openBrowser: (url: string) => void | Promise<void>
  /** Shows the person what to do. */
  readonly say: (message: string) => void
  readonly signal: AbortSignal
}

type Sdk = typeof import('@modelcontextprotocol/client')

const TIMEOUT_MS = 300_000
const MAX_MESSAGE_CHARS = 500

/**
 * Signs a person in to a server with the browser and stores the tokens. What was stored before stays valid until that
 * succeeds.
 */
export async function signInToServer(options: SignInOptions): Promise<void> {
  const { server, url, oauth, host, signal, openBrowser, say } = options
  const sdk = await loadMcpClient()
  const state = randomBytes(32).toString('base64url')
  const port = oauth?.callbackPort
  const callback = await openWebCallback({ state, timeoutMs: TIMEOUT_MS, clock: host.clock, signal, port })
  let offersNone = false
  try {
    const provider = openOAuth({
      ...options,
      signIn: {
        redirectUrl: callback.url,
        state,
        async visit({ href }) {
          say(`Sign in to ${server} in your browser. If it does not open, go to:\n${href}`)
          try {
            await openBrowser(href)
          } catch {
            // If no browser can be opened, the URL was already shown.
          }
        },
      },
    })
    const fetchFn = stoppable(oauthFetch(options.fetch), signal)
    const challenge = await readChallenge(sdk, fetchFn, url)
    // Discovered again each time: the metadata of the server may have changed.
    const found = await sdk.discoverOAuthServerInfo(url, { ...challenge.place, fetchFn })
    offersNone = !found.resourceMetadata && !found.authorizationServerMetadata
    await provider.saveDiscoveryState?.({ ...found, resourceMetadataUrl: challenge.place?.resourceMetadataUrl.href })
    const { lackingScope } = await openSignIns(host, server, url).use((store) => store.read())
    const scope = oauth?.scopes?.join(' ') ?? sdk.computeScopeUnion(challenge.scope, lackingScope)
    const begun = await sdk.auth(provider, {
      serverUrl: url,
      fetchFn,
      forceReauthorization: true,
      ...challenge.place,
      scope,
    })
    if (begun === 'REDIRECT') await finish(sdk, provider, { options, fetchFn, answer: await callback.answer })
  } catch (error) {
    throw toSignInError(sdk, error, { ...options, offersNone })
  } finally {
    callback.close()
  }
}

/**
 * Deletes the stored sign-ins to a server, at one URL or at all. With `force`, also those that cannot be decrypted. Returns whether there was one.
 */
export function signOut({
  host,
  ...which
}: {
  readonly server: string
  readonly url?: string
  readonly force?: boolean
  readonly host: SignInStorage
}): Promise<boolean> {
  return forgetSignIns(host, which)
}

/** Exchanges the code from the browser for tokens. */
async function finish(
  sdk: Sdk,
  provider: OAuthClientProvider,
  { options, fetchFn, answer }: { options: SignInOptions; fetchFn: WebFetch; answer: URLSearchParams },
): Promise<void> {
  const metadata = (await provider.discoveryState?.())?.authorizationServerMetadata
  const iss = answer.get('iss') ?? undefined
  // Checked before anything else in the answer is trusted, including a refusal.
  sdk.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  })
  const authorizationCode = answer.get('code')
  if (authorizationCode === null) throw refused(options.server, answer)
  options.host.hide([authorizationCode])
  const result: AuthResult = await sdk.auth(provider, {
    serverUrl: options.url,
    authorizationCode,
    fetchFn,
    iss,
  })
  if (result !== 'AUTHORIZED') throw new Error('the authorization server wants to be asked again')
}

/** Reads the challenge that the server sends without a token: where its metadata is, and which scope to request. */
async function readChallenge(sdk: Sdk, fetch: WebFetch, url: string) {
  const accept = { accept: 'application/json, text/event-stream' }
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
  const headers = { ...accept, 'content-type': 'application/json' }
  for (const init of [{ method: 'POST', headers, body: ping }, { headers: accept }] satisfies RequestInit[]) {
    const response = await fetch(url, init)
    await response.body?.cancel()
    if (response.status !== 401) continue
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response)
    return { place: resourceMetadataUrl && { resourceMetadataUrl }, scope }
  }
  return { place: undefined, scope: undefined }
}

function stoppable(fetch: WebFetch, signal: AbortSignal): WebFetch {
  return (url, init) => fetch(url, { ...init, signal })
}

function refused(server: string, answer: URLSearchParams): ToolError {
  const said = [answer.get('error'), answer.get('error_description')].filter((text) => text !== null).join(': ')
  return new ToolError('APPROVAL_DENIED', `Signing in to ${server} was refused: ${shorten(said)}`, {
    hint: 'Sign in again, or have the account allowed there.',
  })
}

/** Turns any failure of a sign-in into an error of the error table. */
function toSignInError(
  sdk: Sdk,
  error: unknown,
  { server, signal, offersNone }: SignInOptions & { readonly offersNone: boolean },
): ToolError {
  if (ToolError.is(error)) return error
  if (signal.aborted) return new ToolError('ABORTED', `Signing in to ${server} was stopped.`, { cause: error })
  if (error instanceof Error && ToolError.is(error.cause)) return error.cause
  // The server offers no metadata about signing in; the SDK had to guess.
  if (offersNone) {
    return new ToolError('UPSTREAM_ERROR', `${server} offers no sign-in.`, {
      fix: {
        key: `mcpServers.${server}.headers.Authorization`,
        hint: 'It offers no sign-in; if it takes a token, set headers.Authorization.',
      },
      retryable: false,
      cause: error,
    })
  }
  const isUnregistered =
    error instanceof sdk.RegistrationRejectedError || /dynamic client registration/.test(messageOf(error))
  return new ToolError('UPSTREAM_ERROR', `Signing in to ${server} failed: ${shorten(messageOf(error))}`, {
    hint: isUnregistered
      ? 'Register a client with the authorization server by hand, and set oauth.clientId and oauth.callbackPort.'
      : 'Try again; if it stays so, tell the operator of the server.',
    retryable: false,
    cause: error,
  })
}

function shorten(text: string): string {
  return escapeLine(text.slice(0, MAX_MESSAGE_CHARS))
}
