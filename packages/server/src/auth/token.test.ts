import { expect, it } from 'vitest'
import { isJwt, isSessionSecret, isTokenSecret, newSessionSecret, newTokenSecret } from './token.ts'

it('a JSON Web Token is three parts and nothing before or after them', () => {
  expect(isJwt('a-b_1.c.d')).toBe(true)
  for (const text of ['a.b', 'a.b.c.d', 'a.b.c!', '!a.b.c', 'a.b.', '.b.c', 'a.b.c ', newTokenSecret()])
    expect(isJwt(text), text).toBe(false)
})

it('a token and a session are exactly as long as a new one', () => {
  const [token, session] = [newTokenSecret(), newSessionSecret()]
  expect([isTokenSecret(token), isSessionSecret(session)]).toEqual([true, true])
  for (const text of [`${token}a`, ` ${token}`, token.slice(0, -1), session]) expect(isTokenSecret(text)).toBe(false)
  for (const text of [`${session}a`, ` ${session}`, session.slice(0, -1)]) expect(isSessionSecret(text)).toBe(false)
})
