import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type SourceHost, ToolError, type WebFetch } from '@tool-hub/core'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startAuthorizationServer } from '../../../../test/support/authorization-server.ts'
import { networkStore } from '../../../../test/support/source-store.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { systemClock } from '../../../core/src/context.ts'
import { createWebFetch, type OpenWebFetch } from '../../../sandbox/src/network/web-fetch.ts'
import { signInToServer, signOut } from '../manage/sign-in.ts'
import { oauthFetch } from './oauth-fetch.ts'
import { openOAuth } from './oauth-provider.ts'
import { renewTogether } from './renewals.ts'
import { openSignIns } from './sign-in-store.ts'

const KEY = '0123456789abcdef'.repeat(4)
const OTHER_KEY = 'fedcba9876543210'.repeat(4)
const wanted = expect.objectContaining({ code: 'APPROVAL_UNAVAILABLE', message: 'github wants you to sign in.' })

let server: Awaited<ReturnType<typeof startAuthorizationServer>>
let fetch: OpenWebFetch
let folder = ''

beforeEach(async () => {
  vi.stubEnv('TOOL_HUB_KEY', KEY)
  vi.spyOn(console, 'warn').mockImplementation(() => {})
  server = await startAuthorizationServer()
  fetch = createWebFetch({ origins: [server.origin], publicHosts: true }, { privateRanges: [], userAgent: 'hub/1' })
  folder = temporaryFolder('renewals')
})
afterEach(async () => {
  await fetch.close()
  server.close()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** A machine with its own data folder and its own connection to the store. */
function machine(name: string) {
  const store = networkStore(join(folder, 'store'))
  return { data: join(folder, name), store, clock: systemClock, hide: () => {} }
}
type Machine = ReturnType<typeof machine>

/** Somebody signs in there, and agrees to everything. */
function signIn(
  host: Machine,
  others: { readonly fetch?: WebFetch; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const openBrowser = async (page: string) => {
    const answer = await globalThis.fetch(page, { redirect: 'manual' })
    await globalThis.fetch(answer.headers.get('location')!)
  }
  const { signal } = new AbortController()
  return signInToServer({
    server: 'github',
    url: server.url,
    host,
    fetch,
    openBrowser,
    say: () => {},
    signal,
    ...others,
  })
}

/** Connects as the hub of that machine does. */
async function connect(host: Machine, through: WebFetch = fetch): Promise<Client> {
  const options = { server: 'github', url: server.url, host }
  const authProvider = openOAuth(options)
  const client = new Client({ name: 'hub', version: '1' })
  onTestFinished(() => client.close())
  const together = renewTogether(options)
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    authProvider,
    fetch: oauthFetch(through, together),
  })
  await client.connect(transport)
  return client
}

const count = (path: string) => server.pathsAsked().filter((asked) => asked === path).length
const tokensAt = async (host: Machine) =>
  (await openSignIns(host, 'github', server.url).use((store) => store.read())).tokens
const isRenewal = (init: RequestInit | undefined) =>
  init?.body instanceof URLSearchParams && init.body.get('grant_type') === 'refresh_token'

describe('a sign-in in a shared store', () => {
  it('holds on all machines, until somebody signs out on any', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    expect(await (await connect(other)).listTools()).toMatchObject({ tools: [] })
    for (const { data } of [one, other])
      for (const file of ['mcp-tokens', 'key']) expect(existsSync(join(data, file))).toBe(false)
    const { body } = (await one.store.documents.read('mcp-sign-ins/github'))!
    for (const token of server.tokens()) expect(body).not.toContain(token)
    expect(await signOut({ server: 'gitlab', host: other })).toBe(false)
    expect(await signOut({ server: 'github', url: 'https://elsewhere.example/', host: other })).toBe(false)
    expect(await signOut({ server: 'github', host: other })).toBe(true)
    expect(await signOut({ server: 'github', host: other })).toBe(false)
    await expect(connect(one)).rejects.toThrow(wanted)
  })

  it('is renewed by one of the machines that find it expired at the same moment', async () => {
    const hosts = ['a', 'b', 'c'].map((name) => machine(name))
    await signIn(hosts[0]!)
    const clients = await Promise.all(hosts.map((host) => connect(host)))
    for (let round = 1; round <= 3; round++) {
      const before = count('/token')
      server.expire()
      // The server refuses a refresh token that is used twice.
      const lists = clients.flatMap((client) => [client.listTools(), client.listTools()])
      for (const list of await Promise.all(lists)) expect(list).toMatchObject({ tools: [] })
      expect(count('/token')).toBe(before + 1)
    }
    const stored = await tokensAt(hosts[2]!)
    expect(server.tokens().sort()).toEqual([stored!.access_token, stored!.refresh_token].sort())
  })

  it('makes a machine wait for another that renews it, and use its tokens', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const begun = vi.fn()
    const slow: WebFetch = async (url, init) => {
      if (!isRenewal(init)) return fetch(url, init)
      begun()
      await held
      return fetch(url, init)
    }
    const leases = vi.fn(other.store.slots.lease)
    const slots = { ...other.store.slots, lease: leases }
    const waiting = { ...other, store: { ...other.store, slots } }
    const client = await connect(one, slow)
    server.expire()
    const before = count('/token')
    const first = client.listTools()
    await expect.poll(() => begun.mock.calls.length).toBe(1)
    const second = connect(waiting)
    await expect.poll(() => leases.mock.results.length).toBeGreaterThan(1)
    expect(leases.mock.results.map(({ value }) => value)).not.toContain(true)
    release()
    expect(await first).toMatchObject({ tools: [] })
    expect(await (await second).listTools()).toMatchObject({ tools: [] })
    expect(count('/token')).toBe(before + 1)
  })

  it('is not put back by a renewal that ends after somebody signed out, or in anew', async () => {
    const [one, other] = [machine('one'), machine('other')]
    for (const change of ['out', 'in'] as const) {
      await signIn(one)
      const during: WebFetch = async (url, init) => {
        const response = await fetch(url, init)
        if (isRenewal(init)) await (change === 'out' ? signOut({ server: 'github', host: other }) : signIn(other))
        return response
      }
      const client = await connect(one, during)
      server.expire()
      const listing = client.listTools()
      if (change === 'out') await expect(listing).rejects.toThrow()
      else expect(await listing).toMatchObject({ tools: [] })
      const stored = await tokensAt(other)
      if (change === 'out') expect(stored).toBeUndefined()
      else expect(server.tokens()).toEqual(expect.arrayContaining([stored!.access_token, stored!.refresh_token]))
      server.revoke()
    }
  })

  it('survives a store that is away for a moment while a renewal ends', async () => {
    const host = machine('one')
    await signIn(host)
    let failures = 0
    const write: SourceHost['store']['documents']['write'] = (...values) => {
      if (failures > 0) {
        failures--
        throw new ToolError('CONFLICT', 'The store is away.', { retryable: true })
      }
      return host.store.documents.write(...values)
    }
    const documents = { ...host.store.documents, write }
    const failing: WebFetch = async (url, init) => {
      const response = await fetch(url, init)
      if (isRenewal(init)) failures = 2
      return response
    }
    const client = await connect({ ...host, store: { ...host.store, documents } }, failing)
    server.expire()
    expect(await client.listTools()).toMatchObject({ tools: [] })
    expect(failures).toBe(0)
    const stored = await tokensAt(machine('other'))
    expect(server.tokens().sort()).toEqual([stored!.access_token, stored!.refresh_token].sort())
  })

  it('is refused for all when the authorization server refuses a renewal, and not when it is unavailable', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    const clients = [await connect(one), await connect(other)]
    server.expire()
    server.behaviour.refusesRenewal = { status: 503, error: 'server_error' }
    await expect(clients[0]!.listTools()).rejects.toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'UPSTREAM_ERROR', retryable: true }) }),
    )
    server.behaviour.refusesRenewal = undefined
    expect(await clients[0]!.listTools()).toMatchObject({ tools: [] })
    server.revoke()
    await expect(clients[1]!.listTools()).rejects.toThrow(wanted)
    await expect(clients[0]!.listTools()).rejects.toThrow(wanted)
    expect(await tokensAt(other)).toBeUndefined()
  })

  it('is kept when the client is wrong on one machine alone', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    const stored = await tokensAt(one)
    const wrong: WebFetch = (url, init) => {
      if (isRenewal(init)) (init!.body as URLSearchParams).set('client_id', 'unknown')
      return fetch(url, init)
    }
    const client = await connect(other, wrong)
    server.expire()
    const refused = expect.objectContaining({
      code: 'APPROVAL_UNAVAILABLE',
      message: 'The authorization server rejects the client of github.',
      fix: { hint: expect.stringContaining('against those of other machines') },
    })
    for (const _ of [1, 2]) await expect(client.listTools()).rejects.toThrow(refused)
    // It is not asked again before somebody signs in.
    const before = count('/token')
    await expect(client.listTools()).rejects.toThrow(refused)
    expect(count('/token')).toBe(before)
    expect(await tokensAt(one)).toEqual(stored)
    expect(await (await connect(one)).listTools()).toMatchObject({ tools: [] })
    expect(await client.listTools()).toMatchObject({ tools: [] })
  })

  it('is free again when the process that renews it has ended', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    const client = await connect(other)
    const now = Date.now()
    await one.store.slots.lease('mcp-sign-in/github', { owner: 'killed', now: now - 60_000, until: now })
    server.expire()
    expect(await client.listTools()).toMatchObject({ tools: [] })
    expect(await one.store.slots.lease('mcp-sign-in/github', { owner: 'next', now, until: now + 1 })).toBe(true)
  })
})

describe('the key of a sign-in in a shared store', () => {
  it('must be set before anybody signs in; a server that needs no sign-in works without', async () => {
    vi.stubEnv('TOOL_HUB_KEY', '')
    const host = machine('one')
    await expect(connect(host)).rejects.toThrow(wanted)
    await expect(signIn(host)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/^TOOL_HUB_KEY is not set\. The sign-ins to MCP servers are encrypted with it/),
      fix: { hint: 'Set TOOL_HUB_KEY to the same key on all machines; make one: openssl rand -base64 32.' },
    })
    // Nobody was sent to a page, and no key of this machine alone exists.
    expect(count('/authorize')).toBe(0)
    expect(existsSync(join(host.data, 'key'))).toBe(false)
    expect(await host.store.documents.read('mcp-sign-ins/github')).toBeUndefined()
  })

  it('must be the same on all machines; with another, nothing is read or overwritten', async () => {
    const [one, other] = [machine('one'), machine('other')]
    await signIn(one)
    const before = await one.store.documents.read('mcp-sign-ins/github')
    vi.stubEnv('TOOL_HUB_KEY', OTHER_KEY)
    const closed = expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(
        '(mcp-sign-ins/github) cannot be used: it was changed, or written with another key',
      ),
      fix: { hint: expect.stringContaining('Set TOOL_HUB_KEY to the key that the other machines have') },
    })
    await expect(connect(other)).rejects.toThrow(closed)
    await expect(signIn(other)).rejects.toThrow(closed)
    await expect(async () => signOut({ server: 'github', host: other })).rejects.toThrow(closed)
    expect(await one.store.documents.read('mcp-sign-ins/github')).toEqual(before)
    vi.stubEnv('TOOL_HUB_KEY', KEY)
    expect(await (await connect(one)).listTools()).toMatchObject({ tools: [] })
  })

  it('may be replaced after what the old one sealed was discarded', async () => {
    const host = machine('one')
    await signIn(host)
    vi.stubEnv('TOOL_HUB_KEY', OTHER_KEY)
    expect(await signOut({ server: 'github', force: true, host })).toBe(true)
    await signIn(host)
    expect(await (await connect(machine('other'))).listTools()).toMatchObject({ tools: [] })
  })
})
