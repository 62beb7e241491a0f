import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startAuthorizationServer } from '../../../../test/support/authorization-server.ts'
import { readDocument, sourceHost } from '../../../../test/support/source-store.ts'
import { systemClock } from '../../../core/src/context.ts'
import type { McpOAuth } from '../../../core/src/mcp-server.ts'
import type { WebFetch } from '../../../core/src/source.ts'
import { createWebFetch, type OpenWebFetch } from '../../../sandbox/src/network/web-fetch.ts'
import { oauthFetch } from '../oauth/oauth-fetch.ts'
import { openOAuth } from '../oauth/oauth-provider.ts'
import { renewTogether } from '../oauth/renewals.ts'
import { type SignInOptions, signInToServer, signOut } from './sign-in.ts'

type Server = Awaited<ReturnType<typeof startAuthorizationServer>>

let server: Server
let data: string
let fetch: OpenWebFetch
let hidden: string[]
let said: string[]
let clients: Client[]

beforeEach(async () => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  server = await startAuthorizationServer()
  data = await mkdtemp(join(tmpdir(), 'sign-in-'))
  fetch = createWebFetch({ origins: [server.origin], publicHosts: true }, { privateRanges: [], userAgent: 'hub/1' })
  hidden = []
  said = []
  clients = []
})
afterEach(async () => {
  for (const client of clients) await client.close()
  await fetch.close()
  server.close()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await rm(data, { recursive: true, force: true })
})

const host = () => ({
  ...sourceHost(data),
  clock: systemClock,
  hide: (values: readonly string[]) => void hidden.push(...values),
})

/** A browser of somebody who agrees to everything. */
async function agree(page: string): Promise<void> {
  const answer = await globalThis.fetch(page, { redirect: 'manual' })
  await globalThis.fetch(answer.headers.get('location')!)
}

function signIn(options: Partial<SignInOptions> = {}): Promise<void> {
  const { signal } = new AbortController()
  const say = (message: string) => void said.push(message)
  return signInToServer({
    server: 'github',
    url: server.url,
    host: host(),
    fetch,
    openBrowser: agree,
    say,
    signal,
    ...options,
  })
}

interface Reached {
  readonly name?: string
  readonly url?: string
  readonly oauth?: McpOAuth
}

/** Connects as a hub does, in which nobody can sign in. */
async function connect({ name = 'github', url = server.url, oauth }: Reached = {}): Promise<Client> {
  const options = { server: name, url, host: host() }
  const authProvider = openOAuth({ ...options, oauth })
  const client = new Client({ name: 'hub', version: '1' })
  clients.push(client)
  const ownFetch = oauthFetch(fetch, renewTogether(options))
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider, fetch: ownFetch }))
  return client
}

const wanted = expect.objectContaining({
  code: 'APPROVAL_UNAVAILABLE',
  message: 'github wants you to sign in.',
  fix: { hint: 'Run: tool-hub mcp login github' },
})
const code = (expected: string) => expect.objectContaining({ code: expected })
const count = (path: string) => server.pathsAsked().filter((asked) => asked === path).length
const last = (path: string) => server.asked.findLast((asked) => asked.path === path)!

describe('signing in', () => {
  it('ends with a hub that is let in', async () => {
    await signIn()
    expect(said.join()).toMatch(/^Sign in to github in your browser\. .* go to:\nhttp:\/\/127\.0\.0\.1/)
    expect(await (await connect()).listTools()).toMatchObject({ tools: [] })
  })

  it('names the resource, proves who began it, and registers as what it is', async () => {
    await signIn()
    // The server checks PKCE, the way back and the resource itself; this is what it was asked.
    const { params } = last('/authorize')
    expect(Object.fromEntries(params)).toMatchObject({ code_challenge_method: 'S256', resource: server.url })
    expect(params.get('state')).toHaveLength(43)
    expect(last('/token').params.get('resource')).toBe(server.url)
    expect([...server.clients.values()]).toMatchObject([
      { client_name: 'tool-hub', token_endpoint_auth_method: 'none', application_type: 'native' },
    ])
  })

  it('leaves no token readable on disk, and hides all of them', async () => {
    await signIn()
    expect(await readdir(data)).toContain('key')
    const document = await readDocument(data, 'mcp-sign-ins/github')
    const verifier = last('/token').params.get('code_verifier')!
    for (const token of [...server.tokens(), verifier]) {
      expect(document).not.toContain(token)
      expect(hidden).toContain(token)
    }
    expect(server.tokens()).toHaveLength(2)
  })

  it('asks for what the owner said, else for what the server wants', async () => {
    server.behaviour.challengeScope = 'mcp:read'
    await signIn()
    expect(last('/authorize').params.get('scope')).toBe('mcp:read')
    await signIn({ oauth: { scopes: ['a', 'b'] } })
    expect(last('/authorize').params.get('scope')).toBe('a b')
  })

  it('uses the client that the owner named, with its secret, and registers none', async () => {
    const oauth = { clientId: 'me', clientSecret: 'hush-hush-hush', callbackPort: await freePort() }
    const redirect_uris = [`http://127.0.0.1:${oauth.callbackPort}/callback`]
    server.clients.set('me', { redirect_uris, client_secret: 'hush-hush-hush' })
    await signIn({ oauth })
    expect(count('/register')).toBe(0)
    expect(hidden).toContain('hush-hush-hush')
    server.expire()
    expect(await (await connect({ oauth })).listTools()).toMatchObject({ tools: [] })
  })

  it('gives the named client to no other authorization server than the first', async () => {
    const oauth = { clientId: 'me', clientSecret: 'hush-hush-hush', callbackPort: await freePort() }
    server.clients.set('me', {
      redirect_uris: [`http://127.0.0.1:${oauth.callbackPort}/callback`],
      client_secret: 'hush-hush-hush',
    })
    await signIn({ oauth })
    const evil = await startAuthorizationServer()
    server.behaviour.resource = { authorization_servers: [evil.origin] }
    const both = createWebFetch({ origins: [server.origin, evil.origin] }, { privateRanges: [], userAgent: 'hub/1' })
    await expect(signIn({ oauth, fetch: both })).rejects.toThrow(/its client id was used with/)
    expect(evil.pathsAsked()).not.toContain('/token')
    await both.close()
    evil.close()
  })

  it('gives nothing to an authorization server that the owner did not name', async () => {
    const oauth = { clientId: 'me', clientSecret: 'hush-hush-hush', callbackPort: await freePort() }
    const redirect_uris = [`http://127.0.0.1:${oauth.callbackPort}/callback`]
    server.clients.set('me', { redirect_uris, client_secret: 'hush-hush-hush' })
    const visited = vi.fn()
    const other = signIn({ oauth: { ...oauth, issuer: 'https://auth.example' }, openBrowser: visited })
    await expect(other).rejects.toThrow(/to sign in; the owner named https:\/\/auth\.example/)
    expect([visited.mock.calls.length, count('/token')]).toEqual([0, 0])
    await signIn({ oauth: { ...oauth, issuer: `${server.origin}/` } })
    expect(server.tokens()).toHaveLength(2)
  })

  it('registers anew for another way back, and forgets nothing when it is given up', async () => {
    await signIn()
    const controller = new AbortController()
    const giveUp = () => controller.abort()
    await expect(signIn({ openBrowser: giveUp, signal: controller.signal })).rejects.toThrow(code('ABORTED'))
    expect(count('/register')).toBe(2)
    expect(await (await connect()).listTools()).toMatchObject({ tools: [] })
  })

  it('continues without a browser: the address was printed', async () => {
    const openBrowser = () => {
      setImmediate(() => void agree(said.join().split('\n')[1]!))
      throw new Error('no browser here')
    }
    await signIn({ openBrowser })
    expect(server.tokens()).toHaveLength(2)
  })
})

describe('what is not believed while signing in', () => {
  it('is an answer with another state: it is refused, and changes nothing', async () => {
    const controller = new AbortController()
    server.behaviour.answer = (params) => params.set('state', 'guessed')
    const openBrowser = async (page: string) => {
      await agree(page)
      controller.abort()
    }
    await expect(signIn({ openBrowser, signal: controller.signal })).rejects.toThrow(code('ABORTED'))
    expect(count('/token')).toBe(0)
  })

  it.each([
    ['of another issuer', (params: URLSearchParams) => params.set('iss', 'https://evil.example')],
    ['without the issuer that was promised', (params: URLSearchParams) => params.delete('iss')],
  ])('is an answer %s: its code is not used', async (_, answer) => {
    server.behaviour.answer = answer
    await expect(signIn()).rejects.toThrow(code('UPSTREAM_ERROR'))
    expect(count('/token')).toBe(0)
  })

  it('is a page to sign in that is not safe on the way', async () => {
    server.behaviour.metadata = { authorization_endpoint: 'http://evil.example/authorize' }
    const openBrowser = vi.fn()
    await expect(signIn({ openBrowser })).rejects.toThrow(/http:\/\/evil\.example, which is not https/)
    expect(openBrowser).not.toHaveBeenCalled()
  })

  it('is a resource of another place, or an authorization server in a private network', async () => {
    server.behaviour.resource = { resource: 'https://other.example/mcp' }
    await expect(signIn()).rejects.toThrow(/does not match expected/)
    server.behaviour.resource = { authorization_servers: ['https://169.254.169.254/'] }
    await expect(signIn()).rejects.toThrow(code('HTTP_DISALLOWED_HOST'))
  })

  it('is more than anybody has to say about signing in', async () => {
    server.behaviour.metadata = { more: 'x'.repeat(300_000) }
    await expect(signIn()).rejects.toThrow(code('HTTP_TOO_LARGE'))
  })
})

describe('a sign-in that cannot be', () => {
  it('was refused by the person', async () => {
    server.behaviour.answer = (params) => {
      params.delete('code')
      params.set('error', 'access_denied')
      params.set('error_description', 'not\u001b[2J you')
    }
    await expect(signIn()).rejects.toThrow(
      expect.objectContaining({
        code: 'APPROVAL_DENIED',
        message: 'Signing in to github was refused: access_denied: not\\u{1b}[2J you',
        fix: { hint: 'Sign in again, or have the account allowed there.' },
      }),
    )
  })

  it('needs a client that somebody registers by hand', async () => {
    server.behaviour.metadata = { registration_endpoint: undefined }
    await expect(signIn()).rejects.toThrow(
      expect.objectContaining({
        code: 'UPSTREAM_ERROR',
        message: expect.stringContaining('Signing in to github failed: '),
        fix: {
          hint: 'Register a client with the authorization server by hand, and set oauth.clientId and oauth.callbackPort.',
        },
        retryable: false,
      }),
    )
  })

  it('meets a server that only takes a token', async () => {
    const locked: WebFetch = async (url) => new Response(null, { status: String(url) === server.url ? 401 : 404 })
    await expect(signIn({ fetch: locked })).rejects.toThrow(
      expect.objectContaining({
        message: 'github offers no sign-in.',
        fix: expect.objectContaining({ hint: expect.stringContaining('set headers.Authorization') }),
      }),
    )
  })

  it('meets a server that is not there', async () => {
    server.close()
    await expect(signIn()).rejects.toThrow(code('UPSTREAM_ERROR'))
  })
})

describe('a hub, in which nobody can sign in', () => {
  it('says so when nobody has, and asks no authorization server in vain', async () => {
    await expect(connect()).rejects.toThrow(wanted)
    expect(new Set(server.pathsAsked())).toEqual(new Set(['/mcp']))
  })

  it('renews what is over, once for all calls that find out', async () => {
    await signIn()
    const client = await connect()
    server.expire()
    const before = count('/token')
    await Promise.all(Array.from({ length: 5 }, () => client.listTools()))
    expect(count('/token')).toBe(before + 1)
    expect(last('/token').params.get('resource')).toBe(server.url)
    for (const token of server.tokens()) expect(hidden).toContain(token)
    // The renewed tokens are kept: another hub needs no renewal.
    await (await connect()).listTools()
    expect(count('/token')).toBe(before + 1)
  })

  it('says that somebody must sign in when a renewal is refused', async () => {
    await signIn()
    const client = await connect()
    server.revoke()
    await expect(client.listTools()).rejects.toThrow(wanted)
    await expect(connect()).rejects.toThrow(wanted)
    expect(count('/register')).toBe(1)
    await signIn()
    expect(await (await connect()).listTools()).toMatchObject({ tools: [] })
  })

  it('keeps its tokens when the authorization server only has a bad day', async () => {
    await signIn()
    const client = await connect()
    server.expire()
    server.behaviour.refusesRenewal = { status: 503, error: 'server_error' }
    await expect(client.listTools()).rejects.toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'UPSTREAM_ERROR', retryable: true }) }),
    )
    server.behaviour.refusesRenewal = undefined
    expect(await client.listTools()).toMatchObject({ tools: [] })
  })

  it('sends a token to no other URL, and under no other name', async () => {
    await signIn()
    const other = await startAuthorizationServer()
    const both = createWebFetch({ origins: [server.origin, other.origin] }, { privateRanges: [], userAgent: 'hub/1' })
    await fetch.close()
    fetch = both
    await expect(connect({ url: other.url })).rejects.toThrow(wanted)
    await expect(connect({ url: `${server.url}?tenant=2` })).rejects.toThrow(wanted)
    await expect(connect({ name: 'gitlab' })).rejects.toThrow(/gitlab wants you to sign in/)
    expect([...other.asked, ...server.asked].filter(({ path }) => path === '/mcp').length).toBeGreaterThan(3)
    expect(other.asked.every(({ headers }) => headers.authorization === undefined)).toBe(true)
    other.close()
  })

  it('remembers what a call lacked, for the next sign-in', async () => {
    server.behaviour.challengeScope = 'read'
    await signIn()
    server.behaviour.neededScope = 'admin'
    await expect((await connect()).listTools()).rejects.toThrow(wanted)
    await signIn()
    expect(last('/authorize').params.get('scope')).toBe('read admin')
    expect(await (await connect()).listTools()).toMatchObject({ tools: [] })
  })

  it('has nothing left after somebody signed out', async () => {
    await signIn()
    expect(await signOut({ server: 'gitlab', host: host() })).toBe(false)
    expect(await signOut({ server: 'github', url: 'https://elsewhere.example/', host: host() })).toBe(false)
    expect(await signOut({ server: 'github', host: host() })).toBe(true)
    await expect(connect()).rejects.toThrow(wanted)
  })

  it('says what to do when the tokens cannot be decrypted', async () => {
    await signIn()
    await rm(join(data, 'key'))
    await expect(connect()).rejects.toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        fix: { hint: expect.stringContaining('tool-hub mcp logout') },
      }),
    )
  })
})

async function freePort(): Promise<number> {
  const other = await startAuthorizationServer()
  other.close()
  return Number(new URL(other.origin).port)
}
