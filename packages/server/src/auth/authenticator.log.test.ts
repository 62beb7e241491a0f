import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { NewToken } from '../../../core/src/protocol/service.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { AuthRequest } from './auth-request.ts'
import { Authenticator, type AuthenticatorOptions } from './authenticator.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import { createSignInSessions } from './sign-in-sessions.ts'
import { newTokenSecret } from './token.ts'
import { TokenManager } from './token-manager.ts'

const as = ({ name }: { name: string }) => ({ name }) as unknown as PrincipalHub
const OWN = 'http://localhost:4600'

function openAuthenticator(options: Partial<AuthenticatorOptions> = {}) {
  const [clock, store] = [fakeClock(), createMemoryStore()]
  const log: unknown[][] = []
  const tokens = new TokenManager({ store, hub: { as }, clock, base: '/' })
  const sessions = createSignInSessions({ store, tokens, clock, ...(options.jwt && { jwt: options.jwt }) })
  const authenticator = new Authenticator({ tokens, sessions, clock, log: (...line) => log.push(line), ...options })
  const newToken = async (token: Partial<NewToken> = {}) =>
    (await tokens.create({ name: 'ci', scopes: ['call'], ...token }, { mayAllow: true })).secret
  return { clock, store, tokens, authenticator, newToken, log }
}

function request(headers: Record<string, string> = {}, rest: Partial<AuthRequest> = {}): AuthRequest {
  const all = new Headers({ host: 'localhost:4600', ...headers })
  return { method: 'GET', url: `${OWN}/v1/tools`, headers: all, remoteAddress: '192.0.2.7', ...rest }
}

const post = (headers: Record<string, string> = {}) => request({ origin: OWN, ...headers }, { method: 'POST' })
const bearer = (secret: string) => request({ authorization: `Bearer ${secret}` })

describe('the log', () => {
  it('says who signed in, from where, and who was refused', async () => {
    const { authenticator, newToken, log } = openAuthenticator()
    await authenticator.signIn(post(), await newToken())
    await authenticator.signIn(post(), newTokenSecret())
    const address = '192.0.2.7'
    expect(log).toEqual([
      ['info', 'signed-in', 'token:ci signed in to the console.', { principal: 'token:ci', address }],
      [
        'warn',
        'sign-in-refused',
        'A sign-in to the console was refused.',
        { address, status: 401, code: 'UNAUTHENTICATED' },
      ],
    ])
  })

  it.each<[string, AuthRequest, string, object]>([
    ['no token', request(), 'debug', { method: 'GET', status: 401, code: 'UNAUTHENTICATED' }],
    ['a wrong token', bearer(newTokenSecret()), 'warn', { method: 'GET', status: 401, code: 'UNAUTHENTICATED' }],
    ['a wrong host', request({ host: 'evil.example' }), 'warn', { method: 'GET', status: 403, code: 'FORBIDDEN' }],
    ['a wrong page', post({ origin: 'https://a.example' }), 'warn', { method: 'POST', status: 403, code: 'FORBIDDEN' }],
  ])('says that a request with %s was refused', async (_, asked, level, fields) => {
    const { authenticator, log } = openAuthenticator()
    const answer = await authenticator.authenticate(asked)
    const { message } = (answer as Extract<typeof answer, { ok: false }>).error
    expect(log).toEqual([[level, 'request-refused', message, { address: '192.0.2.7', ...fields }]])
  })

  it('says nothing of who is let in', async () => {
    const { authenticator, newToken, log } = openAuthenticator()
    expect(await authenticator.authenticate(bearer(await newToken()))).toMatchObject({ ok: true })
    expect(log).toEqual([])
  })

  it('is not needed', async () => {
    const { authenticator } = openAuthenticator({ log: undefined })
    expect(await authenticator.authenticate(request())).toMatchObject({ status: 401 })
  })
})

describe('who is refused', () => {
  it.each(['Basic Bearer th_x', 'Bearer th_x th_y', 'Bearer', 'Bearer ', 'th_x'])(
    'gets an error that the header %j is not a token, and has not guessed one',
    async (authorization) => {
      const { authenticator } = openAuthenticator({ limits: { failures: 1 } })
      for (let time = 0; time < 3; time++)
        expect(await authenticator.authenticate(request({ authorization }))).toMatchObject({
          status: 401,
          error: { message: 'The header Authorization is not Bearer and a token.' },
          headers: { 'www-authenticate': 'Bearer realm="tool-hub"' },
        })
    },
  )

  it('learns what to do about a session from elsewhere, and about a page that is too old', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const signedIn = await authenticator.signIn(post(), await newToken())
    if (!signedIn.ok) throw signedIn.error
    const cookie = signedIn.headers['set-cookie']!.split(';', 1)[0]!
    expect(await authenticator.authenticate(request({ cookie, 'sec-fetch-site': 'cross-site' }))).toMatchObject({
      error: {
        message: 'A session can be used only by the pages of the service.',
        fix: { hint: 'Open the console, or send a token.' },
      },
    })
    expect(await authenticator.authenticate(post({ cookie }))).toMatchObject({
      error: { fix: { hint: 'Reload the page.' } },
    })
  })

  it('gets an error for a token that cannot be read, also when signing in; a store that fails is a defect', async () => {
    const { authenticator, newToken, store } = openAuthenticator()
    const secret = await newToken()
    const [stored] = await store.tokens.list()
    await store.tokens.remove(stored!.id)
    await store.tokens.add({ ...stored!, body: '{}' })
    expect(await authenticator.authenticate(bearer(secret))).toMatchObject({
      status: 403,
      error: { code: 'FORBIDDEN' },
    })
    expect(await authenticator.signIn(post(), secret)).toMatchObject({ status: 403, error: { code: 'FORBIDDEN' } })
    store.tokens.findByHash = async () => {
      throw new ToolError('FORBIDDEN', 'Not now.')
    }
    expect(await authenticator.authenticate(bearer(secret))).toMatchObject({
      status: 403,
      error: { message: 'Not now.' },
    })
    store.tokens.findByHash = () => {
      throw new Error('the disk is full')
    }
    await expect(async () => authenticator.authenticate(bearer(secret))).rejects.toThrow('the disk is full')
    await expect(authenticator.signIn(post(), secret)).rejects.toThrow('the disk is full')
  })
})

describe('the rate of a principal', () => {
  it('counts requests, messages and sign-ins, down to a wait of one millisecond', async () => {
    const { authenticator, newToken, clock } = openAuthenticator({ limits: { rate: { perSecond: 1_000, burst: 2 } } })
    const secret = await newToken()
    const identity = await authenticator.authenticate(bearer(secret))
    if (!identity.ok) throw identity.error
    expect([identity.take(), identity.take()]).toEqual([0, 1])
    const refused = { status: 429, error: { message: 'Too many requests of token:ci; wait 1 ms.' } }
    expect(await authenticator.authenticate(bearer(secret))).toMatchObject(refused)
    expect(await authenticator.signIn(post(), secret)).toMatchObject(refused)
    await clock.advance(1)
    expect(await authenticator.signIn(post(), secret)).toMatchObject({ ok: true })
    expect(await authenticator.signIn(post(), secret)).toMatchObject(refused)
  })

  it('is that of its token for messages too', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const identity = await authenticator.authenticate(bearer(await newToken({ rate: { perSecond: 1, burst: 2 } })))
    if (!identity.ok) throw identity.error
    expect([identity.take(), identity.take()]).toEqual([0, 1_000])
  })
})

describe('a session', () => {
  it('holds as long as it is not signed out', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const signedIn = await authenticator.signIn(post(), await newToken())
    if (!signedIn.ok) throw signedIn.error
    expect(signedIn).not.toHaveProperty('cookie')
    const asked = request({ cookie: signedIn.headers['set-cookie']!.split(';', 1)[0]! })
    const identity = await authenticator.authenticate(asked)
    if (!identity.ok) throw identity.error
    expect(await identity.holds()).toBe(true)
    await authenticator.signOut(asked)
    expect(await identity.holds()).toBe(false)
  })

  it('has a Secure cookie when the request came over https, and loses it the same way', async () => {
    const { authenticator, newToken } = openAuthenticator()
    const https = request({}, { method: 'POST', url: 'https://localhost:4600/v1/session' })
    expect(await authenticator.signIn(https, await newToken())).toMatchObject({
      headers: { 'set-cookie': expect.stringMatching(/; Secure$/) },
    })
    expect((await authenticator.signOut(https))['set-cookie']).toMatch(/; Secure$/)
    expect((await authenticator.signOut(post()))['set-cookie']).not.toMatch(/Secure/)
    const proxied = post({ origin: 'https://localhost:4600' })
    expect((await authenticator.signOut(proxied))['set-cookie']).toMatch(/; Secure$/)
  })
})

it('a person who signed in is verified on, whatever others at that address forged', async () => {
  const person = { issuer: 'https://a.example', subject: 'ada', scopes: [], expiresAt: 1e15 }
  const jwt: JwtVerifier = {
    verify: async (token) => (token === 'good.ada.sig' ? person : undefined),
    callerOf: () => ({ name: 'user:ada', scopes: new Set(), hub: as({ name: 'ada' }) }),
  }
  const { authenticator } = openAuthenticator({ jwt, limits: { jwtFailures: 1 } })
  expect(await authenticator.signIn(post(), 'good.ada.sig')).toMatchObject({ ok: true })
  expect(await authenticator.authenticate(bearer('forged.ada.sig'))).toMatchObject({ status: 401 })
  expect(await authenticator.authenticate(bearer('another.ada.sig'))).toMatchObject({ status: 429 })
  const identity = await authenticator.authenticate(bearer('good.ada.sig'))
  expect(identity).toMatchObject({ ok: true, caller: { name: 'user:ada' } })
})
