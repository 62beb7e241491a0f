import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sourceHost } from '../../../../test/support/source-store.ts'
import { systemClock } from '../../../core/src/context.ts'
import { type OAuthOptions, openOAuth } from './oauth-provider.ts'

const signIn = { redirectUrl: 'http://127.0.0.1:4711/callback', state: 's', visit: () => {} }
const context = { issuer: 'https://auth.example' }
const tokens = (number: number) => ({
  access_token: `access-${number}`,
  refresh_token: `refresh-${number}`,
  token_type: 'Bearer',
  issuer: context.issuer,
})

let data: string
beforeEach(async () => {
  vi.stubEnv('TOOL_HUB_KEY', '')
  data = await mkdtemp(join(tmpdir(), 'oauth-provider-'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(data, { recursive: true, force: true })
})

const open = (options: Partial<OAuthOptions> = {}) =>
  openOAuth({
    server: 'github',
    url: 'https://mcp.example/mcp',
    host: { ...sourceHost(data), clock: systemClock, hide: () => {} },
    ...options,
  })

it('writes nothing while there is nothing to keep', async () => {
  const provider = open({ signIn })
  expect(await provider.tokens()).toBeUndefined()
  await provider.invalidateCredentials?.('all')
  expect(await readdir(data)).toEqual([])
})

it('keeps tokens that another process has renewed while this one was refused', async () => {
  const [one, other] = [open(), open()]
  const person = open({ signIn })
  await person.saveTokens(tokens(1))
  await one.tokens(context)
  await person.saveTokens(tokens(2))
  await one.invalidateCredentials?.('tokens')
  expect(await one.tokens(context)).toMatchObject({ refresh_token: 'refresh-2' })
  await one.invalidateCredentials?.('tokens')
  expect(await other.tokens()).toBeUndefined()
})

it('takes a client id that is an address for what describes the client, where the server knows such', async () => {
  const oauth = { clientId: 'https://hub.example/client.json' }
  const provider = open({ signIn, oauth })
  expect(provider.clientMetadataUrl).toBe(oauth.clientId)
  expect(await provider.clientInformation(context)).toBeUndefined()
  await provider.saveClientInformation?.({ client_id: oauth.clientId, ...context })
  expect(await open({ signIn, oauth }).clientInformation(context)).toMatchObject({ client_id: oauth.clientId })
})

it('registers as what the authorization server supports', async () => {
  const provider = open({ signIn })
  expect(provider.clientMetadata.token_endpoint_auth_method).toBe('none')
  await provider.saveDiscoveryState?.({
    authorizationServerUrl: context.issuer,
    authorizationServerMetadata: {
      ...context,
      authorization_endpoint: 'https://auth.example/authorize',
      token_endpoint: 'https://auth.example/token',
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_post'],
    },
  })
  expect(provider.clientMetadata.token_endpoint_auth_method).toBe('client_secret_post')
})

it('keeps no more of a server than it may, so that others have room', async () => {
  const provider = open({ signIn })
  await expect(provider.saveTokens({ ...tokens(1), id_token: 'x'.repeat(300_000) })).rejects.toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR' }),
  )
  expect(await provider.tokens()).toBeUndefined()
})

it('loses nothing when several servers are signed in to concurrently', async () => {
  const names = Array.from({ length: 10 }, (_, number) => `server-${number}`)
  await Promise.all(names.map(async (server, number) => open({ server, signIn }).saveTokens(tokens(number))))
  for (const [number, server] of names.entries()) expect(await open({ server }).tokens()).toEqual(tokens(number))
})
