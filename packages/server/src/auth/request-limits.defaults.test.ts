import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { AuthRequest, Refusal } from './auth-request.ts'
import { GuessLimits, type GuessLimitsOptions } from './request-limits.ts'

const request: AuthRequest = { method: 'GET', url: '/', headers: new Headers(), remoteAddress: '192.0.2.7' }

function limitsOf(options: GuessLimitsOptions = {}) {
  const clock = fakeClock()
  return { clock, limits: new GuessLimits(options, ({ remoteAddress }) => remoteAddress, clock) }
}

const KINDS: [string, (limits: GuessLimits) => Refusal | undefined, number, number | undefined, string][] = [
  ['tokens', (limits) => limits.wrongToken(request), 10, 401, 'tokens that open nothing'],
  ['sessions', (limits) => limits.wrongSession(request), 100, 401, 'sessions that are none'],
  ['JSON Web Tokens', (limits) => limits.wrongJwt(request, 'a.b.c'), 1_000, 401, 'tokens that open nothing'],
  ['links', (limits) => limits.wrongLink(request), 30, undefined, 'links that lead nowhere'],
]

it.each(KINDS)('lets an address be wrong about %s so often a minute', async (_, fail, most, status, what) => {
  const { clock, limits } = limitsOf()
  for (let failure = 0; failure < most; failure++) expect(fail(limits)?.status).toBe(status)
  await clock.advance(59_999)
  expect(fail(limits)).toMatchObject({
    status: 429,
    error: { message: `Too many ${what} came from this address; wait 1 ms.`, details: { retryAfterMs: 1 } },
    headers: { 'retry-after': '1' },
  })
  await clock.advance(1)
  expect(fail(limits)?.status).toBe(status)
})

it.each<[keyof GuessLimitsOptions, (typeof KINDS)[number][1]]>([
  ['failures', KINDS[0]![1]],
  ['cookieFailures', KINDS[1]![1]],
  ['jwtFailures', KINDS[2]![1]],
  ['linkFailures', KINDS[3]![1]],
])('takes %s as the number of failures', (name, fail) => {
  const { limits } = limitsOf({ [name]: 2 })
  expect([1, 2, 3].map(() => fail(limits)?.status === 429)).toEqual([false, false, true])
})

it('says of a token and of a session what is wrong', () => {
  const { limits } = limitsOf()
  for (const refusal of [limits.wrongToken(request), limits.wrongJwt(request, 'a.b.c')])
    expect(refusal).toMatchObject({
      error: { code: 'UNAUTHENTICATED', message: 'The token is unknown, expired or revoked.' },
      headers: { 'www-authenticate': 'Bearer realm="tool-hub", error="invalid_token"' },
    })
  expect(limits.wrongSession(request)).toMatchObject({
    error: { message: 'The session is over.', fix: { hint: 'Sign in again.' } },
    headers: { 'www-authenticate': 'Bearer realm="tool-hub"' },
  })
})

it('verifies nothing for an address that was wrong too often, except the latest 10,000 that were good', async () => {
  const { clock, limits } = limitsOf({ jwtFailures: 1 })
  expect(limits.refuseUnverified(request, 'new.a.b')).toBeUndefined()
  limits.wrongJwt(request, 'forged.a.b')
  for (let index = 0; index < 10_000; index++) limits.noteVerified(`good.${index}.sig`)
  expect(limits.refuseUnverified(request, 'good.0.sig')).toBeUndefined()
  limits.noteVerified('good.10000.sig')
  expect(limits.refuseUnverified(request, 'good.0.sig')?.status).toBe(429)
  expect(limits.refuseUnverified(request, 'good.1.sig')).toBeUndefined()
  limits.wrongJwt(request, 'good.1.sig')
  expect(limits.refuseUnverified(request, 'good.1.sig')?.status).toBe(429)
  await clock.advance(59_999)
  expect(limits.refuseUnverified(request, 'new.a.b')?.status).toBe(429)
  await clock.advance(1)
  expect(limits.refuseUnverified(request, 'new.a.b')).toBeUndefined()
})
