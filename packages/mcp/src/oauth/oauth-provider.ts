import { randomBytes } from 'node:crypto'
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { type Awaitable, type McpOAuth, type SourceHost, ToolError } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import { openSignIns, type SignInAccess, type SignInEntry, type SignIns } from './sign-in-store.ts'

/** Options for signing in to a server. */
export interface OAuthOptions {
  /** The name of the server in the config. */
  readonly server: string
  readonly url: string
  readonly oauth?: McpOAuth | undefined
  readonly host: Pick<SourceHost, 'data' | 'store' | 'clock' | 'hide'>
  /** How a person can sign in; absent inside a hub, where nobody can. */
  readonly signIn?: SignIn | undefined
}

/** A person who can be sent to a page and comes back. */
export interface SignIn {
  readonly redirectUrl: string
  readonly state: string
  /** Sends the person to the page of the authorization server. */
  visit(url: URL): void | Promise<void>
}

type Context = OAuthClientInformationContext | undefined

/** Makes the SDK expect a person; nothing listens there. */
const NOWHERE = 'http://127.0.0.1/callback'
const KEPT = ['client', 'tokens', 'discovery'] as const
const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** Authenticates requests to one server with its stored tokens, and renews them. */
export function openOAuth(options: OAuthOptions): OAuthClientProvider {
  return new Provider(options)
}

class Provider implements OAuthClientProvider {
  readonly clientMetadataUrl?: string
  readonly #options: OAuthOptions
  readonly #signIns: SignIns
  /** What was stored when it was last read or changed. */
  #last: SignInEntry = {}
  /** Never stored on disk: the process that starts a sign-in also ends it. */
  #verifier: string | undefined
  /** The refresh token in use. */
  #renewing: string | undefined
  #isRegistered = false
  /** The refresh token whose renewal was rejected because of the client that this process names. */
  #refusedWith: string | undefined
  readonly #hidden = new Set<string>()

  constructor(options: OAuthOptions) {
    const { server, url, oauth, host } = options
    this.#options = options
    this.#signIns = openSignIns(host, server, url)
    if (isMetadataUrl(oauth)) this.clientMetadataUrl = oauth.clientId
  }

  get redirectUrl(): string {
    return this.#options.signIn?.redirectUrl ?? NOWHERE
  }

  get clientMetadata(): OAuthClientMetadata {
    const { oauth } = this.#options
    const supported = this.#last.discovery?.authorizationServerMetadata?.token_endpoint_auth_methods_supported
    return {
      client_name: 'tool-hub',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: AUTH_METHODS.find((method) => supported?.includes(method)) ?? 'none',
      scope: oauth?.scopes?.join(' '),
    }
  }

  state(): string {
    return this.#options.signIn?.state ?? randomBytes(16).toString('hex')
  }

  clientInformation(context: Context): Promise<StoredOAuthClientInformation | undefined> {
    return this.#signIns.use((store) => {
      const { client } = this.#read(store)
      if (context) this.#assertIssuer(context.issuer)
      const named = this.#namedClient()
      if (named) return { ...named, issuer: this.#bind(named.client_id, store, context) }
      if (this.#options.signIn) return client && this.#isUsable(client) ? client : undefined
      // The SDK would register a client that nobody can sign in with.
      if (!client) throw this.#wanted()
      return client
    })
  }

  saveClientInformation(client: StoredOAuthClientInformation): Promise<void> {
    this.#isRegistered = true
    return this.#change((entry) => ({ ...entry, client }))
  }

  tokens(context: Context): Promise<StoredOAuthTokens | undefined> {
    return this.#signIns.use((store) => {
      const { tokens } = this.#read(store)
      if (context) this.#renewing = tokens?.refresh_token
      return tokens
    })
  }

  saveTokens(tokens: StoredOAuthTokens): Awaitable<void> {
    // The renewal has stored them while no other process could renew them again; by now, one may have.
    return this.#options.signIn && this.#change((entry) => ({ ...entry, tokens, lackingScope: undefined }))
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    const { signIn, url: server } = this.#options
    if (signIn) return signIn.visit(checkPage(url, new URL(server)))
    const lackingScope = url.searchParams.get('scope') ?? undefined
    await this.#change((entry) => (entry.lackingScope === lackingScope ? entry : { ...entry, lackingScope }))
    throw this.#wanted()
  }

  saveCodeVerifier(verifier: string): void {
    this.#options.host.hide([verifier])
    this.#verifier = verifier
  }

  codeVerifier(): string {
    if (this.#verifier !== undefined) return this.#verifier
    throw new ToolError('CONFLICT', `Nobody has begun to sign in to ${this.#options.server}.`)
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.#change((entry) => ({ ...entry, discovery }))
  }

  /** The first step of a sign-in. Inside a hub it stops here, before a client is registered. */
  discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return this.#signIns.use((store) => {
      const { discovery, tokens } = this.#read(store)
      if (!this.#options.signIn && !tokens) throw this.#wanted()
      if (this.#refusedWith !== undefined && tokens?.refresh_token === this.#refusedWith) throw this.#clientRefused()
      return discovery
    })
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Awaitable<void> {
    if (scope === 'verifier' || scope === 'all') this.#verifier = undefined
    // The client may be wrong in the config of this process alone, which must not sign out the others.
    if (scope === 'client' && !this.#options.signIn) {
      this.#refusedWith = this.#renewing
      return undefined
    }
    return this.#change((entry) => {
      if (scope === 'tokens' && this.#refusedWith !== undefined && this.#refusedWith === this.#renewing) return entry
      // Another process has renewed the tokens meanwhile: the rejected ones are not the stored ones.
      if (scope === 'tokens' && entry.tokens?.refresh_token !== this.#renewing) return entry
      const forgotten = KEPT.filter((key) => (scope === 'all' || scope === key) && entry[key] !== undefined)
      if (forgotten.length === 0) return entry
      return { ...entry, ...Object.fromEntries(forgotten.map((key) => [key, undefined])) }
    })
  }

  /**
   * Whether a client was registered for this redirect address: many authorization servers accept only the exact one.
   */
  #isUsable(client: StoredOAuthClientInformation): boolean {
    if (this.#isRegistered) return true
    if (this.clientMetadataUrl !== undefined) return client.client_id === this.clientMetadataUrl
    return 'redirect_uris' in client && client.redirect_uris.includes(this.redirectUrl)
  }

  /** The client that the owner configured, unless its id is a metadata URL. */
  #namedClient(): { client_id: string; client_secret: string | undefined } | undefined {
    const { clientId, clientSecret } = this.#options.oauth ?? {}
    if (clientId === undefined || this.clientMetadataUrl !== undefined) return undefined
    return { client_id: clientId, client_secret: clientSecret }
  }

  /** If the owner configured the authorization server, no other is accepted. */
  #assertIssuer(found: string): void {
    const { server, oauth } = this.#options
    if (oauth?.issuer === undefined || withoutSlash(oauth.issuer) === withoutSlash(found)) return
    throw new ToolError(
      'CONFIG_INVALID',
      `${server} names ${escapeLine(found)} to sign in; the owner named ${escapeLine(oauth.issuer)}.`,
      {
        fix: {
          key: `mcpServers.${server}.oauth.issuer`,
          hint: 'Correct it if the server is right; else do not sign in.',
        },
      },
    )
  }

  /** Binds a client to the first authorization server it was used with; one that the server names later is refused. */
  #bind(id: string, store: SignInAccess, context: Context): string | undefined {
    const { client: known } = store.read()
    const issuer = this.#options.oauth?.issuer ?? (known?.client_id === id ? known.issuer : undefined)
    if (!context) return issuer
    if (issuer === undefined) {
      this.#changeIn(store, (entry) => ({ ...entry, client: { client_id: id, issuer: context.issuer } }))
      return context.issuer
    }
    if (withoutSlash(issuer) === withoutSlash(context.issuer)) return issuer
    const { server } = this.#options
    throw new ToolError(
      'CONFIG_INVALID',
      `${server} names ${escapeLine(context.issuer)} to sign in; its client id was used with ${escapeLine(issuer)}.`,
      { hint: `If that is right: tool-hub mcp logout ${server}, then sign in again.` },
    )
  }

  #read(store: SignInAccess): SignInEntry {
    this.#last = store.read()
    this.#hide(this.#last)
    return this.#last
  }

  #change(decide: (before: SignInEntry) => SignInEntry): Promise<void> {
    return this.#signIns.use((store) => this.#changeIn(store, decide))
  }

  #changeIn(store: SignInAccess, decide: (before: SignInEntry) => SignInEntry): void {
    store.change((before) => {
      this.#last = decide(before)
      this.#hide(this.#last)
      return this.#last
    })
  }

  #hide({ tokens, client }: SignInEntry): void {
    const { access_token, refresh_token, id_token } = tokens ?? {}
    const all = [access_token, refresh_token, id_token, client?.client_secret, this.#options.oauth?.clientSecret]
    const values = all.flatMap((value) => (value && !this.#hidden.has(value) ? [value] : []))
    if (values.length === 0) return
    for (const value of values) this.#hidden.add(value)
    this.#options.host.hide(values)
  }

  #clientRefused(): ToolError {
    const { server } = this.#options
    return new ToolError('APPROVAL_UNAVAILABLE', `The authorization server rejects the client of ${server}.`, {
      hint: `Check oauth.clientId and oauth.clientSecret, also against those of other machines; if they are right, run: tool-hub mcp login ${server}`,
    })
  }

  #wanted(): ToolError {
    const { server } = this.#options
    return new ToolError('APPROVAL_UNAVAILABLE', `${server} wants you to sign in.`, {
      hint: `Run: tool-hub mcp login ${server}`,
    })
  }
}

/** Whether the client id is the URL of the client's own metadata, for servers that accept that. */
function isMetadataUrl(oauth: McpOAuth | undefined): oauth is McpOAuth & { clientId: string } {
  if (oauth?.clientId === undefined || oauth.clientSecret !== undefined || !URL.canParse(oauth.clientId)) return false
  const { protocol, pathname } = new URL(oauth.clientId)
  return protocol === 'https:' && pathname !== '/'
}

/** A page that a person may be sent to: HTTPS, unless both the page and the server are on this machine. */
function checkPage(page: URL, server: URL): URL {
  if (page.protocol === 'https:') return page
  if (page.protocol === 'http:' && isThisMachine(page) && isThisMachine(server)) return page
  throw new ToolError('UPSTREAM_ERROR', `The page to sign in is ${escapeLine(page.origin)}, which is not https.`, {
    hint: 'Have the operator of the server correct what it says about signing in.',
    retryable: false,
  })
}

function isThisMachine({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]'
}

function withoutSlash(issuer: string): string {
  return issuer.endsWith('/') ? issuer.slice(0, -1) : issuer
}
