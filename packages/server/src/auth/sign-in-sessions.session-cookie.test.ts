import { expect, it } from 'vitest'
import { readSessionCookie, writeSessionCookie } from './sign-in-sessions.ts'
import { newSessionSecret } from './token.ts'

const secret = newSessionSecret()

it('is written for this site alone, in whole seconds', () => {
  const written = `tool_hub_session=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=1`
  expect(writeSessionCookie(secret, { maxAgeMs: 1_999, secure: false })).toBe(written)
  expect(writeSessionCookie(secret, { maxAgeMs: 1_000, secure: true })).toBe(`${written}; Secure`)
})

it.each([
  [`tool_hub_session=${secret}`, secret],
  [`a=b;tool_hub_session=${secret} ; c`, secret],
  [`tool_hub_session=; tool_hub_session=${secret}`, secret],
  [`tool_hub_session=${secret}; tool_hub_session=${secret}`, undefined],
  [`tool_hub_session=${secret}x`, undefined],
  [`xtool_hub_session=${secret}`, undefined],
  ['tool_hub_session', undefined],
  ['', undefined],
  [null, undefined],
])('is read from %j', (header, expected) => {
  expect(readSessionCookie(header)).toBe(expected)
})
