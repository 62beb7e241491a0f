import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../core/src/principal.ts'
import type { NewToken } from '../../../core/src/protocol/service.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { AuthRequest } from './auth-request.ts'
import { Authenticator, type AuthenticatorOptions } from './authenticator.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import { createSignInSessions } from './sign-in-sessions.ts'
import { newTokenSecret } from './token.ts'
import { TokenManager } from './token-manager.ts'

const as = (principal: Principal) => ({ name: principal.name }) as unknown as PrincipalHub
const OWN = 'http://localhost:4600'

function openAuthenticator(options: Partial<AuthenticatorOptions> = {}) {
  const clock = fakeClock()
  const store = createMemoryStore()
  const tokens = new TokenManager({ store, hub: { as }, clock, base: '/' })
  const sessions = createSignInSessions({ store, tokens, clock, ...(options.jwt && { jwt: options.jwt }) })
  const authenticator = new Authenticator({ tokens, sessions, clock, ...options })
  const newToken = async (token: Partial<NewToken> = {}) =>
    tokens.create({ name: 'ci', scopes: ['call'], ...token }, { mayAllow: true })
  /** The status that a request is answered with. */
  const statusOf = async (asked: AuthRequest) => {
    const answer = await authenticator.authenticate(asked)
    return answer.ok ? 200 : answer.status
  }
  const signIn = async (secret: string) => {
    const answer = await authenticator.signIn(request({ origin: OWN }, { method: 'POST' }), secret)
    return answer.ok ? answer.headers['set-cookie']!.split(';', 1)[0]! : answer.status
  }
  return { clock, authenticator, newToken, statusOf, signIn }
}

function request(headers: Record<string, string> = {}, rest: Partial<AuthRequest> = {}): AuthRequest {
  const all = new Headers({ host: 'localhost:4600', ...headers })
  return { method: 'GET', url: `${OWN}/v1/tools`, headers: all, remoteAddress: '192.0.2.7', ...rest }
}

const bearer = (secret: string, rest?: Partial<AuthRequest>) => request({ authorization: `Bearer ${secret}` }, rest)
const invented = () => request({ cookie: `tool_hub_session=${newTokenSecret().slice(3)}` })

/** Knows the given tokens, and counts what it was asked to verify. */
function verifier(good: Set<string>) {
  const asked: string[] = []
  const person = { issuer: 'https://a.example', subject: 'ada', scopes: ['read' as const], expiresAt: 1e15 }
  const jwt: JwtVerifier = {
    async verify(token) {
      asked.push(token)
      return good.has(token) ? person : undefined
    },
    callerOf: ({ subject }) => ({ name: `user:${subject}`, scopes: new Set(), hub: as({ name: subject }) }),
  }
  return { jwt, asked }
}

describe('guessing tokens', () => {
  it('is over after ten in a minute, per address, by header and by sign-in', async () => {
    const { authenticator, clock, statusOf, signIn } = openAuthenticator()
    for (let i = 0; i < 9; i++) expect(await statusOf(bearer(newTokenSecret()))).toBe(401)
    expect(await signIn(newTokenSecret())).toBe(401)
    await clock.advance(20_000)
    const limited = { ok: false, status: 429, error: { code: 'RATE_LIMITED' }, headers: { 'retry-after': '40' } }
    expect(await authenticator.authenticate(bearer(newTokenSecret()))).toMatchObject(limited)
    expect(await signIn(newTokenSecret())).toBe(429)
    expect(await statusOf(bearer(newTokenSecret(), { remoteAddress: '192.0.2.8' }))).toBe(401)
    await clock.advance(40_000)
    expect(await statusOf(bearer(newTokenSecret()))).toBe(401)
  })

  it('locks out nobody who has one, seen before or not: others at that address guessed', async () => {
    const { newToken, statusOf, signIn } = openAuthenticator()
    const [seen, unseen] = [await newToken(), await newToken({ name: 'unseen' })]
    expect(await statusOf(bearer(seen.secret))).toBe(200)
    for (let i = 0; i < 12; i++) await statusOf(bearer(newTokenSecret()))
    expect(await statusOf(bearer(newTokenSecret()))).toBe(429)
    expect(await statusOf(bearer(seen.secret))).toBe(200)
    expect(await statusOf(bearer(unseen.secret))).toBe(200)
    expect(await signIn(unseen.secret)).toMatch(/^tool_hub_session=/)
  })

  it('counts a /64 of IPv6 as one, and an IPv4 address in either spelling', async () => {
    const { statusOf } = openAuthenticator({ limits: { failures: 1 } })
    const guess = (remoteAddress: string) => statusOf(bearer(newTokenSecret(), { remoteAddress }))
    expect(await guess('2001:db8::1')).toBe(401)
    expect(await guess('2001:db8:0:0:ffff::2')).toBe(429)
    expect(await guess('2001:db8:0:1::1')).toBe(401)
    expect(await guess('::ffff:192.0.2.1')).toBe(401)
    expect(await guess('192.0.2.1')).toBe(429)
  })

  it('from many addresses takes no endless memory, and forgets the quiet ones first', async () => {
    const { statusOf } = openAuthenticator({ limits: { failures: 1 } })
    const guess = (remoteAddress: string) => statusOf(bearer('th_wrong', { remoteAddress }))
    await guess('first')
    for (let i = 0; i < 10_000; i++) await guess(`10.0.${i >> 8}.${i & 255}`)
    expect(await guess('first')).toBe(401)
    expect(await guess('10.0.39.15')).toBe(429)
  })
})

describe('guessing sessions', () => {
  it('is over after a hundred in a minute, does not count as guessing tokens, and locks out nobody who signed in', async () => {
    const { newToken, statusOf, signIn } = openAuthenticator()
    const cookie = String(await signIn((await newToken()).secret))
    for (let i = 0; i < 100; i++) expect(await statusOf(invented())).toBe(401)
    expect(await statusOf(invented())).toBe(429)
    expect(await statusOf(request({ cookie }))).toBe(200)
    expect(await statusOf(bearer(newTokenSecret()))).toBe(401)
  })
})

describe('forging tokens of people', () => {
  it('is over after so many in a minute without being verified; those who were verified go on', async () => {
    const good = new Set(['good.ada.sig'])
    const { jwt, asked } = verifier(good)
    const { statusOf, signIn, newToken } = openAuthenticator({ jwt, limits: { jwtFailures: 3 } })
    expect(await statusOf(bearer('good.ada.sig'))).toBe(200)
    // Neither tokens of ours nor texts that are none cost a signature.
    for (let i = 0; i < 12; i++) await statusOf(bearer(i % 2 ? newTokenSecret() : 'nonsense'))
    for (let i = 0; i < 3; i++) expect(await statusOf(bearer(`forged.${i}.sig`))).toBe(401)
    expect(await statusOf(bearer('forged.4.sig'))).toBe(429)
    expect(await signIn('forged.5.sig')).toBe(429)
    expect(asked).not.toContain('nonsense')
    expect(asked.filter((token) => token.startsWith('forged'))).toHaveLength(3)
    expect(await statusOf(bearer('good.ada.sig'))).toBe(200)
    expect(await statusOf(bearer((await newToken()).secret))).toBe(200)
    // One that has become invalid is verified once more, not for ever.
    good.clear()
    expect(await statusOf(bearer('good.ada.sig'))).toBe(429)
    const before = asked.length
    expect(await statusOf(bearer('good.ada.sig'))).toBe(429)
    expect(asked).toHaveLength(before)
  })
})

describe('behind a proxy', () => {
  const guess = (remoteAddress: string, forwarded?: string) =>
    request(
      { authorization: `Bearer ${newTokenSecret()}`, ...(forwarded && { 'x-forwarded-for': forwarded }) },
      { remoteAddress },
    )

  it('who guesses is identified by what the proxy says, and by nothing that others say', async () => {
    const { statusOf } = openAuthenticator({
      limits: { failures: 1 },
      trustedProxies: ['10.0.0.0/8', '::1', '192.0.2.1'],
    })
    expect(await statusOf(guess('10.1.2.3', '203.0.113.1'))).toBe(401)
    expect(await statusOf(guess('10.1.2.3', '203.0.113.2'))).toBe(401)
    expect(await statusOf(guess('::ffff:10.9.9.9', '6.6.6.6, 203.0.113.1, 192.0.2.1'))).toBe(429)
    expect(await statusOf(guess('::1', '203.0.113.2:4711'))).toBe(429)
    expect(await statusOf(guess('::1', '[2001:db8::7]:4711'))).toBe(401)
    expect(await statusOf(guess('::1', '2001:db8::8'))).toBe(429)
    // An invalid address is not believed: then it is the proxy itself.
    expect(await statusOf(guess('10.7.7.7', '203.0.113.9, unknown'))).toBe(401)
    expect(await statusOf(guess('10.7.7.7', '203.0.113.10, unknown'))).toBe(429)
    expect(await statusOf(guess('198.51.100.1', '203.0.113.50'))).toBe(401)
    expect(await statusOf(guess('198.51.100.1', '203.0.113.51'))).toBe(429)
  })

  it('no proxy is believed by default, and an invalid address is refused immediately', async () => {
    const { statusOf } = openAuthenticator({ limits: { failures: 1 } })
    expect(await statusOf(guess('127.0.0.1', '203.0.113.1'))).toBe(401)
    expect(await statusOf(guess('127.0.0.1', '203.0.113.2'))).toBe(429)
    for (const written of ['proxy.example', '10.0.0.0/33', '10.0.0.0/', '::/129', '10.0.0.1/8/8'])
      expect(() => openAuthenticator({ trustedProxies: [written] })).toThrow('trustedProxies')
  })
})
