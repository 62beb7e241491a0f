import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sourceHost } from '../../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../core/src/context.ts'
import { type OAuthOptions, openOAuth } from './oauth-provider.ts'
import { openSignIns } from './sign-in-store.ts'

const url = 'https://mcp.example/mcp'
const redirectUrl = 'http://127.0.0.1:4711/callback'
const context = { issuer: 'https://auth.example' }
const tokens = { access_token: 'access-1', refresh_token: 'refresh-1', id_token: 'id-1', token_type: 'Bearer' }
const discovery = { authorizationServerUrl: context.issuer }
const wanted = expect.objectContaining({
  code: 'APPROVAL_UNAVAILABLE',
  message: 's wants you to sign in.',
  fix: { hint: 'Run: tool-hub mcp login s' },
})

let data = ''
let hidden: (readonly string[])[] = []
let visited: string[] = []
beforeEach(() => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  data = temporaryFolder('oauth-client')
  hidden = []
  visited = []
})
afterEach(() => void vi.unstubAllEnvs())

const signIn = { redirectUrl, state: 'st', visit: (page: URL) => void visited.push(page.href) }
const open = (options: Partial<OAuthOptions> = {}) =>
  openOAuth({
    server: 's',
    url,
    host: { ...sourceHost(data), clock: systemClock, hide: (values) => void hidden.push(values) },
    ...options,
  })
const stored = () => openSignIns(sourceHost(data), 's', url).use((store) => store.read())

describe('the client', () => {
  it('says what it is, and where it listens', () => {
    const common = {
      client_name: 'tool-hub',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
    const person = open({ signIn, oauth: { scopes: ['a', 'b'] } })
    expect(person.redirectUrl).toBe(redirectUrl)
    expect(person.clientMetadata).toEqual({ ...common, redirect_uris: [redirectUrl], scope: 'a b' })
    expect(person.state!()).toBe('st')
    const hub = open()
    expect(hub.redirectUrl).toBe('http://127.0.0.1/callback')
    expect(hub.clientMetadata).toEqual({ ...common, redirect_uris: ['http://127.0.0.1/callback'] })
    expect(hub.state!()).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each([
    [['client_secret_post', 'client_secret_basic', 'none'], 'none'],
    [['client_secret_post', 'client_secret_basic'], 'client_secret_basic'],
    [['client_secret_post'], 'client_secret_post'],
    [['private_key_jwt'], 'none'],
  ])('proves itself by what the authorization server supports: %j', async (supported, method) => {
    const provider = open({ signIn })
    const authorizationServerMetadata = { token_endpoint_auth_methods_supported: supported }
    await provider.saveDiscoveryState!({ ...discovery, authorizationServerMetadata } as never)
    expect(provider.clientMetadata.token_endpoint_auth_method).toBe(method)
  })

  it.each([
    [{ clientId: 'https://hub.example/client.json' }, true],
    [{ clientId: 'https://hub.example/client.json', clientSecret: 'hush' }, false],
    [{ clientId: 'https://hub.example/' }, false],
    [{ clientId: 'http://hub.example/client.json' }, false],
    [{ clientId: 'hub' }, false],
    [{}, false],
    [undefined, false],
  ])(
    'is described by its address where that is one: %j',
    (oauth: { clientId?: string; clientSecret?: string } | undefined, isAddress) => {
      expect(open({ oauth }).clientMetadataUrl).toBe(isAddress ? oauth!.clientId : undefined)
    },
  )

  it('is the one that the owner named, of the authorization server that it was first used with', async () => {
    const oauth = { clientId: 'me', clientSecret: 'hush-hush' }
    const provider = open({ oauth })
    const named = { client_id: 'me', client_secret: 'hush-hush' }
    expect(await provider.clientInformation(undefined)).toEqual({ ...named, issuer: undefined })
    expect((await stored()).client).toBeUndefined()
    expect(await provider.clientInformation(context)).toEqual({ ...named, ...context })
    expect((await stored()).client).toEqual({ client_id: 'me', ...context })
    expect(await provider.clientInformation(undefined)).toEqual({ ...named, ...context })
    expect(await provider.clientInformation({ issuer: `${context.issuer}/` })).toEqual({ ...named, ...context })
    await expect(provider.clientInformation({ issuer: 'https://evil.example\n' })).rejects.toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 's names https://evil.example\\n to sign in; its client id was used with https://auth.example.',
        fix: { hint: 'If that is right: tool-hub mcp logout s, then sign in again.' },
      }),
    )
    // Another client of the owner is used with another server.
    const other = open({ oauth: { clientId: 'other' } })
    expect(await other.clientInformation({ issuer: 'https://new.example' })).toMatchObject({
      client_id: 'other',
      issuer: 'https://new.example',
    })
  })

  it('goes to no other authorization server than the owner named', async () => {
    for (const oauth of [{ issuer: `${context.issuer}/` }, { issuer: `${context.issuer}/`, clientId: 'me' }]) {
      const provider = open({ oauth, signIn })
      await provider.clientInformation(context)
      await expect(provider.clientInformation({ issuer: 'https://evil.example' })).rejects.toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: 's names https://evil.example to sign in; the owner named https://auth.example/.',
          fix: { key: 'mcpServers.s.oauth.issuer', hint: 'Correct it if the server is right; else do not sign in.' },
        }),
      )
    }
  })

  it('is the registered one, for the way back that it was registered for', async () => {
    await expect(open().clientInformation(context)).rejects.toThrow(wanted)
    expect(await open({ signIn }).clientInformation(context)).toBeUndefined()
    const provider = open({ signIn })
    await provider.saveClientInformation!({ client_id: 'c' } as never)
    expect(await provider.clientInformation(context)).toEqual({ client_id: 'c' })
    expect(await open({ signIn }).clientInformation(context)).toBeUndefined()
    expect(await open().clientInformation(context)).toEqual({ client_id: 'c' })
    await provider.saveClientInformation!({ client_id: 'c', redirect_uris: [redirectUrl] } as never)
    expect(await open({ signIn }).clientInformation(context)).toMatchObject({ client_id: 'c' })
    const elsewhere = { ...signIn, redirectUrl: 'http://127.0.0.1:4712/callback' }
    expect(await open({ signIn: elsewhere }).clientInformation(context)).toBeUndefined()
    const described = open({ signIn, oauth: { clientId: 'https://hub.example/client.json' } })
    expect(await described.clientInformation(context)).toBeUndefined()
  })
})

describe('what is kept', () => {
  it('is forgotten by its kind, or all of it', async () => {
    const fill = async () => {
      const provider = open({ signIn })
      await provider.saveTokens(tokens)
      await provider.tokens(context)
      await provider.saveClientInformation!({ client_id: 'c' } as never)
      await provider.saveDiscoveryState!(discovery)
      await provider.saveCodeVerifier('v')
      return provider
    }
    const left = async () => {
      const entry = await stored()
      return ['client', 'tokens', 'discovery'].filter((key) => entry[key as 'tokens'] !== undefined)
    }
    for (const [scope, others, hasVerifier] of [
      ['client', ['tokens', 'discovery'], true],
      ['tokens', ['client', 'discovery'], true],
      ['discovery', ['client', 'tokens'], true],
      ['verifier', ['client', 'tokens', 'discovery'], false],
      ['all', [], false],
    ] as const) {
      const provider = await fill()
      await provider.invalidateCredentials!(scope)
      expect([scope, await left()]).toEqual([scope, others])
      if (hasVerifier) expect(provider.codeVerifier()).toBe('v')
      else
        expect(() => provider.codeVerifier()).toThrow(
          expect.objectContaining({ code: 'CONFLICT', message: 'Nobody has begun to sign in to s.' }),
        )
    }
  })

  it('is forgotten with all of it, also when the tokens were renewed meanwhile', async () => {
    const provider = open({ signIn })
    await provider.saveTokens(tokens)
    await provider.invalidateCredentials!('tokens')
    expect((await stored()).tokens).toEqual(tokens)
    await provider.invalidateCredentials!('all')
    expect((await stored()).tokens).toBeUndefined()
  })

  it('is hidden once', async () => {
    const provider = open({ signIn, oauth: { clientId: 'me', clientSecret: 'hush-hush' } })
    await provider.saveTokens(tokens)
    await provider.tokens(context)
    await provider.saveClientInformation!({ client_id: 'c', client_secret: 'its-secret' } as never)
    await provider.saveCodeVerifier('verifier')
    expect(hidden.flat().sort()).toEqual(['access-1', 'hush-hush', 'id-1', 'its-secret', 'refresh-1', 'verifier'])
    expect(hidden.every((values) => values.length > 0)).toBe(true)
    hidden = []
    await open().tokens(context)
    expect(hidden.flat().sort()).toEqual(['access-1', 'id-1', 'its-secret', 'refresh-1'])
  })

  it('says where to sign in, once somebody has', async () => {
    expect(await open({ signIn }).discoveryState!()).toBeUndefined()
    await expect(open().discoveryState!()).rejects.toThrow(wanted)
    await open({ signIn }).saveDiscoveryState!(discovery)
    await expect(open().discoveryState!()).rejects.toThrow(wanted)
    await open({ signIn }).saveTokens(tokens)
    expect(await open().discoveryState!()).toEqual(discovery)
  })

  it('holds what a call lacked until somebody signs in', async () => {
    const page = new URL('https://auth.example/authorize?scope=admin')
    const hub = open()
    for (const _ of [1, 2]) await expect(hub.redirectToAuthorization(page)).rejects.toThrow(wanted)
    expect((await stored()).lackingScope).toBe('admin')
    await open({ signIn }).saveTokens(tokens)
    expect((await stored()).lackingScope).toBeUndefined()
  })
})

describe('the page to sign in', () => {
  it.each([
    ['https://auth.example/authorize', url],
    ['http://localhost/authorize', 'http://127.0.0.1/mcp'],
    ['http://127.0.0.1/authorize', 'http://[::1]/mcp'],
    ['http://[::1]/authorize', 'http://localhost/mcp'],
  ])('is visited where it is safe: %s', async (page, server) => {
    await open({ signIn, url: server }).redirectToAuthorization(new URL(page))
    expect(visited).toEqual([page])
  })

  it.each([
    ['http://auth.example/authorize', 'http://127.0.0.1/mcp', 'http://auth.example'],
    ['http://127.0.0.1/authorize', url, 'http://127.0.0.1'],
    ['ftp://127.0.0.1/authorize', 'http://127.0.0.1/mcp', 'ftp://127.0.0.1'],
  ])('is not visited where it is not: %s', async (page, server, origin) => {
    await expect(open({ signIn, url: server }).redirectToAuthorization(new URL(page))).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: `The page to sign in is ${origin}, which is not https.`,
      fix: { hint: 'Have the operator of the server correct what it says about signing in.' },
      retryable: false,
    })
    expect(visited).toEqual([])
  })
})
