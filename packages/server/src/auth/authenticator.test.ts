import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../core/src/principal.ts'
import type { NewToken } from '../../../core/src/protocol/service.ts'
import type { StoredSignIn } from '../../../core/src/store.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { AuthRequest } from './auth-request.ts'
import { Authenticator, type AuthenticatorOptions } from './authenticator.ts'
import { requireScope } from './caller.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import { createSignInSessions } from './sign-in-sessions.ts'
import { newTokenSecret } from './token.ts'
import { TokenManager } from './token-manager.ts'

const as = (principal: Principal) => ({ name: principal.name }) as unknown as PrincipalHub
const OWN = 'http://localhost:4600'

function openAuthenticator(options: Partial<AuthenticatorOptions> = {}, store = createMemoryStore()) {
  const clock = fakeClock()
  const tokens = new TokenManager({ store, hub: { as }, clock, base: '/' })
  const sessions = createSignInSessions({ store, tokens, clock, ...(options.jwt && { jwt: options.jwt }) })
  const authenticator = new Authenticator({ tokens, sessions, clock, ...options })
  const newToken = async (token: Partial<NewToken> = {}) =>
    tokens.create({ name: 'ci', scopes: ['call'], ...token }, { mayAllow: true })
  return { clock, store, tokens, sessions, authenticator, newToken }
}

function request(headers: Record<string, string> = {}, rest: Partial<AuthRequest> = {}): AuthRequest {
  const all = new Headers({ host: 'localhost:4600', ...headers })
  return { method: 'GET', url: `${OWN}/v1/tools`, headers: all, remoteAddress: '192.0.2.7', ...rest }
}

const bearer = (secret: string, rest?: Partial<AuthRequest>) => request({ authorization: `Bearer ${secret}` }, rest)

/** The cookie and the word against forgery of somebody who has signed in. */
async function signIn(authenticator: ReturnType<typeof openAuthenticator>['authenticator'], secret: string) {
  const answer = await authenticator.signIn(request({ origin: OWN }, { method: 'POST' }), secret)
  if (!answer.ok) throw answer.error
  const { csrf, headers } = answer
  return { csrf, header: headers['set-cookie']!, cookie: headers['set-cookie']!.split(';', 1)[0]! }
}

describe('whom a request was sent to', () => {
  it.each([
    'localhost',
    'LOCALHOST:80',
    '127.0.0.1:4600',
    '127.9.9.9',
    '[::1]:4600',
    'tools.example.org',
    'a.example:8443',
  ])('is us for %s', async (host) => {
    const { authenticator, newToken } = openAuthenticator({ allowedHosts: ['Tools.example.org', 'a.example:8443'] })
    const { secret } = await newToken()
    expect(await authenticator.authenticate(request({ host, authorization: `bearer ${secret}` }))).toMatchObject({
      ok: true,
    })
  })

  it.each([
    'evil.example',
    'localhost.evil.example',
    'a.example:8444',
    'a.example',
    '10.0.0.1',
    'localhost, evil.example',
    '',
  ])('is not us for %j, whatever token comes', async (host) => {
    const { authenticator, newToken } = openAuthenticator({ allowedHosts: ['a.example:8443'] })
    const { secret } = await newToken()
    const asked = request({ host, authorization: `Bearer ${secret}` })
    expect(await authenticator.authenticate(asked)).toMatchObject({
      ok: false,
      status: 403,
      error: { code: 'FORBIDDEN' },
    })
    expect(authenticator.inspect(asked)).toMatchObject({ status: 403 })
  })
})

describe('the page that sent a request', () => {
  it.each([
    [OWN, true],
    ['https://app.example.org', true],
    ['http://localhost:9999', false],
    ['https://evil.example', false],
    ['https://localhost:4600.evil.example', false],
    ['null', false],
    ['file://', false],
    [`${OWN}, https://evil.example`, false],
  ])('from %s: %s', async (origin, isFine) => {
    const { authenticator, newToken } = openAuthenticator({ allowedOrigins: ['https://app.example.org'] })
    const authorization = `Bearer ${(await newToken()).secret}`
    for (const rest of [{ method: 'POST' }, { method: 'GET' }])
      expect((await authenticator.authenticate(request({ origin, authorization }, rest))).ok).toBe(isFine)
    expect((await authenticator.authenticate(request({ origin, authorization, upgrade: 'websocket' }))).ok).toBe(isFine)
    const guess = await authenticator.signIn(request({ origin }, { method: 'POST' }), newTokenSecret())
    expect(guess).toMatchObject({ status: isFine ? 401 : 403 })
  })

  it('is ours too behind a proxy that speaks TLS, also with the port said', () => {
    const { authenticator } = openAuthenticator({ allowedHosts: ['tools.example.org'] })
    for (const host of ['tools.example.org', 'tools.example.org:443'])
      expect(authenticator.inspect(request({ host, origin: 'https://tools.example.org' }))).toBeUndefined()
    expect(
      authenticator.inspect(request({ host: 'tools.example.org', origin: 'https://tools.example.org:8443' })),
    ).toBeDefined()
  })

  it('must be written as an origin to be allowed', () => {
    for (const origin of ['*', 'app.example.org', 'https://app.example.org/'])
      expect(() => openAuthenticator({ allowedOrigins: [origin] })).toThrow('is not an origin')
    expect(() => openAuthenticator({ allowedHosts: ['https://a.example'] })).toThrow('is not the name of a host')
  })
})

describe('who asks', () => {
  it('is nobody without a token, with a broken header, or with a token in the URL', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const { secret } = await newToken()
    const inUrl = request({}, { url: `${OWN}/v1/tools?access_token=${secret}` })
    for (const asked of [
      request(),
      request({ authorization: secret }),
      request({ authorization: 'Basic eDp5' }),
      inUrl,
    ]) {
      const answer = await authenticator.authenticate(asked)
      expect(answer).toMatchObject({ ok: false, status: 401, error: { code: 'UNAUTHENTICATED' } })
      expect(answer).toMatchObject({ headers: { 'www-authenticate': 'Bearer realm="tool-hub"' } })
    }
    expect(await authenticator.authenticate(inUrl)).toMatchObject({
      error: { fix: { hint: expect.stringContaining('ends up in logs') } },
    })
  })

  it('is no longer let in when the token is revoked, also on a connection that lasts', async () => {
    const { authenticator, newToken, tokens } = openAuthenticator()
    const { secret, token } = await newToken()
    const answer = await authenticator.authenticate(bearer(secret))
    if (!answer.ok) throw answer.error
    expect(await answer.holds()).toBe(true)
    await tokens.remove(token.id)
    expect(await answer.holds()).toBe(false)
    expect(await authenticator.authenticate(bearer(secret))).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('invalid_token') },
    })
  })

  it('may do what its scopes say and no more', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const answer = await authenticator.authenticate(bearer((await newToken({ scopes: ['admin'] })).secret))
    if (!answer.ok) throw answer.error
    expect(() => requireScope(answer.caller, 'admin')).not.toThrow()
    for (const scope of ['call', 'approve', 'read'] as const)
      expect(() => requireScope(answer.caller, scope)).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('its scopes are admin') }),
      )
  })

  it('gets an error if the keys of its issuer are unavailable, and has not guessed', async () => {
    const { ToolError } = await import('@tool-hub/core/errors')
    const jwt: JwtVerifier = {
      verify: async () => {
        throw new ToolError('UPSTREAM_ERROR', 'The keys cannot be had.')
      },
      callerOf: () => undefined,
    }
    const { authenticator } = openAuthenticator({ jwt })
    for (let i = 0; i < 12; i++)
      expect(await authenticator.authenticate(bearer('a.b.c'))).toMatchObject({ ok: false, status: 503 })
    expect(await authenticator.signIn(request({}, { method: 'POST' }), 'a.b.c')).toMatchObject({ status: 503 })
  })
})

describe('a session', () => {
  it('has a cookie that no script sees and no other site sends, Secure over https', async () => {
    const { authenticator, newToken } = openAuthenticator({ allowedHosts: ['tools.example.org'] })
    const { secret } = await newToken()
    const { header } = await signIn(authenticator, secret)
    expect(header).toMatch(/^tool_hub_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(header).not.toContain(secret.slice(3))
    const https = { host: 'tools.example.org', origin: 'https://tools.example.org' }
    const answer = await authenticator.signIn(request(https, { method: 'POST' }), secret)
    expect(answer).toMatchObject({ headers: { 'set-cookie': expect.stringMatching(/; Secure$/) } })
  })

  it('may look without more, and change with the word against forgery that is its own', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const { secret, token } = await newToken()
    const [mine, another] = [await signIn(authenticator, secret), await signIn(authenticator, secret)]
    const { cookie, csrf } = mine
    const look = await authenticator.authenticate(request({ cookie: `theme=dark; ${cookie}` }))
    expect(look).toMatchObject({ ok: true, csrf, caller: { name: 'token:ci', token: token.id } })
    expect(await authenticator.authenticate(request({ cookie }, { method: 'HEAD' }))).toMatchObject({ ok: true })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const wrongs: Record<string, string>[] = [{}, { 'x-tool-hub-csrf': '' }, { 'x-tool-hub-csrf': another.csrf }]
      for (const wrong of wrongs)
        expect(await authenticator.authenticate(request({ cookie, origin: OWN, ...wrong }, { method }))).toMatchObject({
          status: 403,
          error: { message: expect.stringContaining('x-tool-hub-csrf') },
        })
      const right = request({ cookie, origin: OWN, 'x-tool-hub-csrf': csrf }, { method })
      expect(await authenticator.authenticate(right)).toMatchObject({ ok: true })
    }
    // A header that only a program sets needs no such word, and the cookie beside it is not looked at.
    const both = request({ cookie, authorization: `Bearer ${secret}` }, { method: 'POST' })
    expect(await authenticator.authenticate(both)).toMatchObject({ ok: true })
    const wrong = request({ cookie, authorization: `Bearer ${newTokenSecret()}` })
    expect(await authenticator.authenticate(wrong)).toMatchObject({ status: 401 })
  })

  it('leaves nothing in the store that opens anything', async () => {
    const { authenticator, newToken, store } = openAuthenticator()
    const kept: StoredSignIn[] = []
    const add = store.signIns.add.bind(store.signIns)
    store.signIns.add = (session) => {
      kept.push(session)
      return add(session)
    }
    const { secret, token } = await newToken()
    const { cookie, csrf } = await signIn(authenticator, secret)
    expect(kept).toMatchObject([{ token: token.id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }])
    for (const open of [cookie.split('=')[1], csrf, secret.slice(3)]) expect(JSON.stringify(kept)).not.toContain(open)
  })

  it('is of use to pages of ours only', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const { cookie } = await signIn(authenticator, (await newToken()).secret)
    const status = async (headers: Record<string, string>) => {
      const answer = await authenticator.authenticate(request({ cookie, ...headers }))
      return answer.ok ? 200 : answer.status
    }
    expect(await status({ 'sec-fetch-site': 'same-origin' })).toBe(200)
    expect(await status({ 'sec-fetch-site': 'none' })).toBe(200)
    expect(await status({ 'sec-fetch-site': 'same-site' })).toBe(403)
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await status({ upgrade: 'websocket', origin: OWN })).toBe(200)
    expect(await status({ upgrade: 'websocket' })).toBe(403)
  })

  it('ends after twelve hours, with its token, when it is signed out', async () => {
    const { authenticator, newToken, clock, tokens } = openAuthenticator()
    const first = await newToken()
    const late = await signIn(authenticator, first.secret)
    await clock.advance(12 * 3_600_000 - 1)
    const fresh = await signIn(authenticator, first.secret)
    expect(await authenticator.authenticate(request({ cookie: late.cookie }))).toMatchObject({ ok: true })
    await clock.advance(1)
    expect(await authenticator.authenticate(request({ cookie: late.cookie }))).toMatchObject({ status: 401 })
    const lasting = await authenticator.authenticate(request({ cookie: fresh.cookie }))
    await tokens.remove(first.token.id)
    expect(lasting.ok && (await lasting.holds())).toBe(false)
    expect(await authenticator.authenticate(request({ cookie: fresh.cookie }))).toMatchObject({ status: 401 })

    const { secret } = await newToken({ name: 'short', expiresAt: clock.now() + 1_000 })
    const [short, left] = [await signIn(authenticator, secret), await signIn(authenticator, secret)]
    const gone = await authenticator.signOut(request({ cookie: left.cookie }))
    expect(gone['set-cookie']).toMatch(/^tool_hub_session=; .*Max-Age=0/)
    expect(await authenticator.authenticate(request({ cookie: left.cookie }))).toMatchObject({ status: 401 })
    expect(await authenticator.authenticate(request({ cookie: short.cookie }))).toMatchObject({ ok: true })
    await clock.advance(1_000)
    expect(await authenticator.authenticate(request({ cookie: short.cookie }))).toMatchObject({ status: 401 })
  })

  it('of the owner outlives the process, as others do; the secret of the owner does not', async () => {
    const store = createMemoryStore()
    const before = openAuthenticator({}, store)
    const owner = await signIn(before.authenticator, before.tokens.createOwnerToken())
    const other = await signIn(before.authenticator, (await before.newToken()).secret)
    expect(await before.authenticator.authenticate(request({ cookie: owner.cookie }))).toMatchObject({
      caller: { name: 'owner' },
    })
    const after = openAuthenticator({}, store)
    expect(await after.authenticator.authenticate(request({ cookie: owner.cookie }))).toMatchObject({
      caller: { name: 'owner' },
    })
    expect(await after.authenticator.authenticate(request({ cookie: other.cookie }))).toMatchObject({
      ok: true,
      csrf: other.csrf,
    })
  })

  it('of a person lasts no longer than what its issuer said', async () => {
    const clock = fakeClock()
    const person = {
      issuer: 'https://a.example',
      subject: 'ada',
      scopes: ['read' as const],
      expiresAt: clock.now() + 60_000,
    }
    const jwt: JwtVerifier = {
      verify: async (token) => (token === 'a.b.c' ? person : undefined),
      callerOf: ({ subject, scopes }) => ({
        name: `user:${subject}`,
        scopes: new Set(scopes),
        hub: as({ name: subject }),
      }),
    }
    const one = openAuthenticator({ jwt })
    const { cookie, header } = await signIn(one.authenticator, 'a.b.c')
    expect(header).toContain('Max-Age=60')
    expect(await one.authenticator.authenticate(request({ cookie }))).toMatchObject({ caller: { name: 'user:ada' } })
    expect(await openAuthenticator({}, one.store).authenticator.authenticate(request({ cookie }))).toMatchObject({
      status: 401,
    })
    await one.clock.advance(60_000)
    expect(await one.authenticator.authenticate(request({ cookie }))).toMatchObject({ status: 401 })
  })

  it('is missing if a request has two', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const { cookie } = await signIn(authenticator, (await newToken()).secret)
    const both = `${cookie}; tool_hub_session=${'x'.repeat(43)}`
    expect(await authenticator.authenticate(request({ cookie: both }))).toMatchObject({ status: 401 })
  })
})

describe('how often one may ask', () => {
  it('is what its token says, for it alone', async () => {
    const { authenticator, clock, newToken } = openAuthenticator({ limits: { rate: { perSecond: 1_000, burst: 3 } } })
    const slow = await newToken({ rate: { perSecond: 2, burst: 2 } })
    const usual = await newToken({ name: 'usual' })
    for (let i = 0; i < 2; i++)
      expect(await authenticator.authenticate(bearer(slow.secret))).toMatchObject({ ok: true })
    expect(await authenticator.authenticate(bearer(slow.secret))).toMatchObject({
      status: 429,
      error: { code: 'RATE_LIMITED', message: 'Too many requests of token:ci; wait 500 ms.' },
      headers: { 'retry-after': '1' },
    })
    for (let i = 0; i < 3; i++)
      expect(await authenticator.authenticate(bearer(usual.secret))).toMatchObject({ ok: true })
    expect(await authenticator.authenticate(bearer(usual.secret))).toMatchObject({ status: 429 })
    await clock.advance(500)
    expect(await authenticator.authenticate(bearer(slow.secret))).toMatchObject({ ok: true })
    expect(await authenticator.authenticate(bearer(slow.secret))).toMatchObject({ status: 429 })
  })
})
