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

function door(options: Partial<AuthenticatorOptions> = {}, store = createMemoryStore()) {
  const clock = fakeClock()
  const tokens = new TokenManager({ store, hub: { as }, clock, base: '/' })
  const sessions = createSignInSessions({ store, tokens, clock, ...(options.jwt && { jwt: options.jwt }) })
  const keeper = new Authenticator({ tokens, sessions, clock, ...options })
  const newToken = async (token: Partial<NewToken> = {}) =>
    tokens.create({ name: 'ci', scopes: ['call'], ...token }, { mayAllow: true })
  return { clock, store, tokens, sessions, keeper, newToken }
}

function request(headers: Record<string, string> = {}, rest: Partial<AuthRequest> = {}): AuthRequest {
  const all = new Headers({ host: 'localhost:4600', ...headers })
  return { method: 'GET', url: `${OWN}/v1/tools`, headers: all, remoteAddress: '192.0.2.7', ...rest }
}

const bearer = (secret: string, rest?: Partial<AuthRequest>) => request({ authorization: `Bearer ${secret}` }, rest)

/** The cookie and the word against forgery of somebody who has signed in. */
async function signIn(keeper: ReturnType<typeof door>['keeper'], secret: string) {
  const answer = await keeper.signIn(request({ origin: OWN }, { method: 'POST' }), secret)
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
    const { keeper, newToken } = door({ allowedHosts: ['Tools.example.org', 'a.example:8443'] })
    const { secret } = await newToken()
    expect(await keeper.authenticate(request({ host, authorization: `bearer ${secret}` }))).toMatchObject({ ok: true })
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
    const { keeper, newToken } = door({ allowedHosts: ['a.example:8443'] })
    const { secret } = await newToken()
    const asked = request({ host, authorization: `Bearer ${secret}` })
    expect(await keeper.authenticate(asked)).toMatchObject({ ok: false, status: 403, error: { code: 'FORBIDDEN' } })
    expect(keeper.inspect(asked)).toMatchObject({ status: 403 })
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
    const { keeper, newToken } = door({ allowedOrigins: ['https://app.example.org'] })
    const authorization = `Bearer ${(await newToken()).secret}`
    for (const rest of [{ method: 'POST' }, { method: 'GET' }])
      expect((await keeper.authenticate(request({ origin, authorization }, rest))).ok).toBe(isFine)
    expect((await keeper.authenticate(request({ origin, authorization, upgrade: 'websocket' }))).ok).toBe(isFine)
    const guess = await keeper.signIn(request({ origin }, { method: 'POST' }), newTokenSecret())
    expect(guess).toMatchObject({ status: isFine ? 401 : 403 })
  })

  it('is ours too behind a proxy that speaks TLS, also with the port said', () => {
    const { keeper } = door({ allowedHosts: ['tools.example.org'] })
    for (const host of ['tools.example.org', 'tools.example.org:443'])
      expect(keeper.inspect(request({ host, origin: 'https://tools.example.org' }))).toBeUndefined()
    expect(
      keeper.inspect(request({ host: 'tools.example.org', origin: 'https://tools.example.org:8443' })),
    ).toBeDefined()
  })

  it('must be written as an origin to be allowed', () => {
    for (const origin of ['*', 'app.example.org', 'https://app.example.org/'])
      expect(() => door({ allowedOrigins: [origin] })).toThrow('is not an origin')
    expect(() => door({ allowedHosts: ['https://a.example'] })).toThrow('is not the name of a host')
  })
})

describe('who asks', () => {
  it('is nobody without a token, with a broken header, or with a token in the URL', async () => {
    const { keeper, newToken } = door()
    const { secret } = await newToken()
    const inUrl = request({}, { url: `${OWN}/v1/tools?access_token=${secret}` })
    for (const asked of [
      request(),
      request({ authorization: secret }),
      request({ authorization: 'Basic eDp5' }),
      inUrl,
    ]) {
      const answer = await keeper.authenticate(asked)
      expect(answer).toMatchObject({ ok: false, status: 401, error: { code: 'UNAUTHENTICATED' } })
      expect(answer).toMatchObject({ headers: { 'www-authenticate': 'Bearer realm="tool-hub"' } })
    }
    expect(await keeper.authenticate(inUrl)).toMatchObject({
      error: { fix: { hint: expect.stringContaining('ends up in logs') } },
    })
  })

  it('is no longer let in when the token is revoked, also on a connection that lasts', async () => {
    const { keeper, newToken, tokens } = door()
    const { secret, token } = await newToken()
    const answer = await keeper.authenticate(bearer(secret))
    if (!answer.ok) throw answer.error
    expect(await answer.holds()).toBe(true)
    await tokens.remove(token.id)
    expect(await answer.holds()).toBe(false)
    expect(await keeper.authenticate(bearer(secret))).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('invalid_token') },
    })
  })

  it('may do what its scopes say and no more', async () => {
    const { keeper, newToken } = door()
    const answer = await keeper.authenticate(bearer((await newToken({ scopes: ['admin'] })).secret))
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
    const { keeper } = door({ jwt })
    for (let i = 0; i < 12; i++)
      expect(await keeper.authenticate(bearer('a.b.c'))).toMatchObject({ ok: false, status: 503 })
    expect(await keeper.signIn(request({}, { method: 'POST' }), 'a.b.c')).toMatchObject({ status: 503 })
  })
})

describe('a session', () => {
  it('has a cookie that no script sees and no other site sends, Secure over https', async () => {
    const { keeper, newToken } = door({ allowedHosts: ['tools.example.org'] })
    const { secret } = await newToken()
    const { header } = await signIn(keeper, secret)
    expect(header).toMatch(/^tool_hub_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/)
    expect(header).not.toContain(secret.slice(3))
    const https = { host: 'tools.example.org', origin: 'https://tools.example.org' }
    const answer = await keeper.signIn(request(https, { method: 'POST' }), secret)
    expect(answer).toMatchObject({ headers: { 'set-cookie': expect.stringMatching(/; Secure$/) } })
  })

  it('may look without more, and change with the word against forgery that is its own', async () => {
    const { keeper, newToken } = door()
    const { secret, token } = await newToken()
    const [mine, another] = [await signIn(keeper, secret), await signIn(keeper, secret)]
    const { cookie, csrf } = mine
    const look = await keeper.authenticate(request({ cookie: `theme=dark; ${cookie}` }))
    expect(look).toMatchObject({ ok: true, csrf, caller: { name: 'token:ci', token: token.id } })
    expect(await keeper.authenticate(request({ cookie }, { method: 'HEAD' }))).toMatchObject({ ok: true })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const wrongs: Record<string, string>[] = [{}, { 'x-tool-hub-csrf': '' }, { 'x-tool-hub-csrf': another.csrf }]
      for (const wrong of wrongs)
        expect(await keeper.authenticate(request({ cookie, origin: OWN, ...wrong }, { method }))).toMatchObject({
          status: 403,
          error: { message: expect.stringContaining('x-tool-hub-csrf') },
        })
      const right = request({ cookie, origin: OWN, 'x-tool-hub-csrf': csrf }, { method })
      expect(await keeper.authenticate(right)).toMatchObject({ ok: true })
    }
    // A header that only a program sets needs no such word, and the cookie beside it is not looked at.
    const both = request({ cookie, authorization: `Bearer ${secret}` }, { method: 'POST' })
    expect(await keeper.authenticate(both)).toMatchObject({ ok: true })
    const wrong = request({ cookie, authorization: `Bearer ${newTokenSecret()}` })
    expect(await keeper.authenticate(wrong)).toMatchObject({ status: 401 })
  })

  it('leaves nothing in the store that opens the door', async () => {
    const { keeper, newToken, store } = door()
    const kept: StoredSignIn[] = []
    const add = store.signIns.add.bind(store.signIns)
    store.signIns.add = (session) => {
      kept.push(session)
      return add(session)
    }
    const { secret, token } = await newToken()
    const { cookie, csrf } = await signIn(keeper, secret)
    expect(kept).toMatchObject([{ token: token.id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) }])
    for (const open of [cookie.split('=')[1], csrf, secret.slice(3)]) expect(JSON.stringify(kept)).not.toContain(open)
  })

  it('is of use to pages of ours only', async () => {
    const { keeper, newToken } = door()
    const { cookie } = await signIn(keeper, (await newToken()).secret)
    const status = async (headers: Record<string, string>) => {
      const answer = await keeper.authenticate(request({ cookie, ...headers }))
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
    const { keeper, newToken, clock, tokens } = door()
    const first = await newToken()
    const late = await signIn(keeper, first.secret)
    await clock.advance(12 * 3_600_000 - 1)
    const fresh = await signIn(keeper, first.secret)
    expect(await keeper.authenticate(request({ cookie: late.cookie }))).toMatchObject({ ok: true })
    await clock.advance(1)
    expect(await keeper.authenticate(request({ cookie: late.cookie }))).toMatchObject({ status: 401 })
    const lasting = await keeper.authenticate(request({ cookie: fresh.cookie }))
    await tokens.remove(first.token.id)
    expect(lasting.ok && (await lasting.holds())).toBe(false)
    expect(await keeper.authenticate(request({ cookie: fresh.cookie }))).toMatchObject({ status: 401 })

    const { secret } = await newToken({ name: 'short', expiresAt: clock.now() + 1_000 })
    const [short, left] = [await signIn(keeper, secret), await signIn(keeper, secret)]
    const gone = await keeper.signOut(request({ cookie: left.cookie }))
    expect(gone['set-cookie']).toMatch(/^tool_hub_session=; .*Max-Age=0/)
    expect(await keeper.authenticate(request({ cookie: left.cookie }))).toMatchObject({ status: 401 })
    expect(await keeper.authenticate(request({ cookie: short.cookie }))).toMatchObject({ ok: true })
    await clock.advance(1_000)
    expect(await keeper.authenticate(request({ cookie: short.cookie }))).toMatchObject({ status: 401 })
  })

  it('of the owner outlives the process, as others do; the secret of the owner does not', async () => {
    const store = createMemoryStore()
    const before = door({}, store)
    const owner = await signIn(before.keeper, before.tokens.createOwnerToken())
    const other = await signIn(before.keeper, (await before.newToken()).secret)
    expect(await before.keeper.authenticate(request({ cookie: owner.cookie }))).toMatchObject({
      caller: { name: 'owner' },
    })
    const after = door({}, store)
    expect(await after.keeper.authenticate(request({ cookie: owner.cookie }))).toMatchObject({
      caller: { name: 'owner' },
    })
    expect(await after.keeper.authenticate(request({ cookie: other.cookie }))).toMatchObject({
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
    const one = door({ jwt })
    const { cookie, header } = await signIn(one.keeper, 'a.b.c')
    expect(header).toContain('Max-Age=60')
    expect(await one.keeper.authenticate(request({ cookie }))).toMatchObject({ caller: { name: 'user:ada' } })
    expect(await door({}, one.store).keeper.authenticate(request({ cookie }))).toMatchObject({ status: 401 })
    await one.clock.advance(60_000)
    expect(await one.keeper.authenticate(request({ cookie }))).toMatchObject({ status: 401 })
  })

  it('is missing if a request has two', async () => {
    const { keeper, newToken } = door()
    const { cookie } = await signIn(keeper, (await newToken()).secret)
    const both = `${cookie}; tool_hub_session=${'x'.repeat(43)}`
    expect(await keeper.authenticate(request({ cookie: both }))).toMatchObject({ status: 401 })
  })
})

describe('how often one may ask', () => {
  it('is what its token says, for it alone', async () => {
    const { keeper, clock, newToken } = door({ limits: { rate: { perSecond: 1_000, burst: 3 } } })
    const slow = await newToken({ rate: { perSecond: 2, burst: 2 } })
    const usual = await newToken({ name: 'usual' })
    for (let i = 0; i < 2; i++) expect(await keeper.authenticate(bearer(slow.secret))).toMatchObject({ ok: true })
    expect(await keeper.authenticate(bearer(slow.secret))).toMatchObject({
      status: 429,
      error: { code: 'RATE_LIMITED', message: 'Too many requests of token:ci; wait 500 ms.' },
      headers: { 'retry-after': '1' },
    })
    for (let i = 0; i < 3; i++) expect(await keeper.authenticate(bearer(usual.secret))).toMatchObject({ ok: true })
    expect(await keeper.authenticate(bearer(usual.secret))).toMatchObject({ status: 429 })
    await clock.advance(500)
    expect(await keeper.authenticate(bearer(slow.secret))).toMatchObject({ ok: true })
    expect(await keeper.authenticate(bearer(slow.secret))).toMatchObject({ status: 429 })
  })
})
