import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import type { StoredSignIn } from '../../../core/src/store.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import type { JwtVerifier, Person } from './jwt-verifier.ts'
import { createSignInSessions } from './sign-in-sessions.ts'
import { hashSecret, newSessionSecret, newTokenSecret } from './token.ts'
import { TokenManager } from './token-manager.ts'

const NOW = 1_000_000
const as = ({ name }: { name: string }) => ({ name }) as unknown as PrincipalHub
const secure = { secure: false }

function openSessions(person?: Person) {
  const [store, clock] = [createMemoryStore(), fakeClock(NOW)]
  /** What the store kept, and what it says is kept. */
  const kept: StoredSignIn[] = []
  let found: ((hash: string) => StoredSignIn | undefined) | undefined
  const signIns = {
    add: (session: StoredSignIn) => {
      kept.push(session)
      return store.signIns.add(session)
    },
    find: (hash: string, now: number) => (found ? found(hash) : store.signIns.find(hash, now)),
    remove: (hash: string) => store.signIns.remove(hash),
    removeOf: (token: string) => store.signIns.removeOf(token),
  }
  const jwt: JwtVerifier = {
    verify: async () => person,
    callerOf: ({ subject }) => ({ name: `user:${subject}`, scopes: new Set(), hub: as({ name: subject }) }),
  }
  const tokens = new TokenManager({ store, hub: { as }, clock, base: '/' })
  const sessions = createSignInSessions({ store: { signIns }, tokens, clock, ...(person && { jwt }) })
  return { clock, sessions, kept, tokens, say: (say: typeof found) => (found = say) }
}

const ada = (expiresAt: number): Person => ({ issuer: 'https://a.example', subject: 'ada', scopes: [], expiresAt })
const sessionOf = ({ cookie }: { cookie: string }) => /=([^;]+);/.exec(cookie)![1]!

it('keeps a sign-in for twelve hours, by whom it is', async () => {
  const { sessions, kept, tokens } = openSessions()
  const { secret, token } = await tokens.create({ name: 'ci', scopes: ['call'] })
  for (const [by, who] of [
    [secret, token.id],
    [tokens.createOwnerToken(), 'owner'],
  ] as const) {
    const signedIn = await sessions.signIn(by, secure)
    const session = sessionOf(signedIn!)
    expect(kept.pop()).toEqual({
      hash: hashSecret(session),
      token: who,
      body: expect.any(String),
      createdAt: NOW,
      expiresAt: NOW + 12 * 60 * 60 * 1_000,
    })
    expect(await sessions.authenticate(session)).toEqual({ caller: signedIn!.caller, csrf: signedIn!.csrf })
  }
})

it('keeps the sign-in of a person by its name, until its token ends', async () => {
  const { sessions, kept } = openSessions(ada(NOW + 60_000))
  const signedIn = await sessions.signIn('a.b.c', secure)
  expect(signedIn?.caller.name).toBe('user:ada')
  expect(kept).toMatchObject([{ token: 'user:ada', expiresAt: NOW + 60_000 }])
  expect(await sessions.authenticate(sessionOf(signedIn!))).toMatchObject({ caller: { name: 'user:ada' } })
})

it('keeps the sign-in of a person no longer than twelve hours', async () => {
  const { sessions, kept } = openSessions(ada(NOW + 86_400_000))
  await sessions.signIn('a.b.c', secure)
  expect(kept).toMatchObject([{ expiresAt: NOW + 43_200_000 }])
})

it('signs in nobody with a token that opens nothing or has just ended', async () => {
  expect(await openSessions().sessions.signIn('a.b.c', secure)).toBeUndefined()
  expect(await openSessions().sessions.signIn(newTokenSecret(), secure)).toBeUndefined()
  expect(await openSessions(ada(NOW)).sessions.signIn('a.b.c', secure)).toBeUndefined()
  expect(await openSessions(ada(NOW + 1)).sessions.signIn('a.b.c', secure)).toBeDefined()
})

it.each<[string, Partial<StoredSignIn>, boolean]>([
  ['as it was kept', {}, true],
  ['of another cookie', { hash: hashSecret('another') }, false],
  ['that ends now', { expiresAt: NOW }, false],
  ['that ends in a moment', { expiresAt: NOW + 1 }, true],
  ['that is no JSON', { body: '{' }, false],
  ['of a kind that does not exist', { body: '{"type":"guest"}' }, false],
  ['with more than belongs to it', { body: '{"type":"owner","admin":true}' }, false],
  ['of a token without its hash', { body: '{"type":"token"}' }, false],
])('trusts a sign-in of the store %s: %s', async (_, changes, isTrusted) => {
  const { sessions, kept, tokens, say } = openSessions()
  const signedIn = await sessions.signIn(tokens.createOwnerToken(), secure)
  say(() => ({ ...kept[0]!, ...changes }))
  const found = await sessions.authenticate(sessionOf(signedIn!))
  expect(found !== undefined).toBe(isTrusted)
})

it('ends one sign-in, and takes its cookie away', async () => {
  const { sessions, tokens } = openSessions()
  const { secret } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const [mine, another] = [await sessions.signIn(secret, secure), await sessions.signIn(secret, secure)]
  const gone = 'tool_hub_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'
  expect(await sessions.signOut(sessionOf(mine!), secure)).toBe(gone)
  expect(await sessions.signOut(undefined, { secure: true })).toBe(`${gone}; Secure`)
  expect(await sessions.authenticate(sessionOf(mine!))).toBeUndefined()
  expect(await sessions.authenticate(sessionOf(another!))).toBeDefined()
  expect(await sessions.authenticate(newSessionSecret())).toBeUndefined()
})

it('makes the cookie Secure where it is asked to', async () => {
  const { sessions, tokens } = openSessions()
  expect((await sessions.signIn(tokens.createOwnerToken(), { secure: true }))?.cookie).toMatch(/; Secure$/)
})
