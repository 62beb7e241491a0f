import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { TokenManager } from './token-manager.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const folder = temporaryFolder()

/** Tokens in a store, and those of another process on the same store. */
function openTokens() {
  const clock = fakeClock()
  const store = createMemoryStore()
  const hub = { as: ({ name }: { name: string }) => ({ name }) as unknown as PrincipalHub }
  const open = () => new TokenManager({ store, hub, clock, base: folder })
  return { clock, store, tokens: open(), elsewhere: open() }
}

it('both secrets of a rotated token are its principal, in every process, until the overlap ends', async () => {
  const { clock, tokens, elsewhere, store } = openTokens()
  const { token, secret: old } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const before = await elsewhere.authenticate(old)
  const rotated = await tokens.rotate(token.id, { overlapMs: HOUR })
  const { secret } = rotated!
  expect(secret).toMatch(/^th_[\w-]{43}$/)
  expect(secret).not.toBe(old)
  for (const each of [tokens, elsewhere])
    for (const known of [old, secret]) expect(await each.authenticate(known)).toMatchObject({ name: 'token:ci' })
  // MCP sessions and sockets belong to the caller, so they survive the change of the secret.
  expect(await elsewhere.authenticate(secret)).toBe(before)
  expect(JSON.stringify(await store.tokens.list())).not.toMatch(new RegExp(`${old.slice(3)}|${secret.slice(3)}`))
  await clock.advance(HOUR - 1)
  expect(await elsewhere.authenticate(old)).toBe(before)
  await clock.advance(1)
  for (const each of [tokens, elsewhere]) {
    expect(await each.authenticate(old)).toBeUndefined()
    expect(await each.authenticate(secret)).toMatchObject({ name: 'token:ci', token: token.id })
  }
})

it('the previous secret stays valid for 24 hours by default, and no longer than the token was', async () => {
  const { clock, tokens } = openTokens()
  const lasting = await tokens.create({ name: 'lasting', scopes: ['call'] })
  const now = clock.now()
  const ending = await tokens.create({ name: 'ending', scopes: ['call'], expiresAt: now + 2 * HOUR })
  expect((await tokens.rotate(lasting.token.id))!.token.previous).toEqual({ expiresAt: now + DAY })
  await clock.advance(HOUR)
  const { token } = (await tokens.rotate(ending.token.id))!
  // Its lifetime of two hours begins again.
  expect(token).toMatchObject({
    ...{ expiresAt: now + 3 * HOUR, rotatedAt: now + HOUR, previous: { expiresAt: now + 2 * HOUR } },
  })
  expect(await tokens.list()).toContainEqual(token)
  await clock.advance(HOUR)
  expect(await tokens.authenticate(ending.secret)).toBeUndefined()
})

it('a revoked token loses both secrets', async () => {
  const { tokens, elsewhere } = openTokens()
  const { token, secret: old } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const { secret } = (await tokens.rotate(token.id))!
  for (const each of [old, secret]) expect(await elsewhere.authenticate(each)).toBeDefined()
  expect(await tokens.remove(token.id)).toBe(true)
  for (const each of [old, secret])
    expect([await tokens.authenticate(each), await elsewhere.authenticate(each)]).toEqual([undefined, undefined])
  expect(await tokens.rotate(token.id)).toBeUndefined()
})

it('a token is not rotated while the secret before is valid, unless all older secrets are to end', async () => {
  const { clock, tokens } = openTokens()
  const { token, secret: first } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const second = (await tokens.rotate(token.id))!.secret
  await expect(tokens.rotate(token.id, { overlapMs: 1 })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining(new Date(clock.now() + DAY).toISOString()),
    fix: { hint: expect.stringContaining('tool-hub tokens rotate ci --overlap 0') },
  })
  const revoked: string[] = []
  tokens.watchRevoked((id) => revoked.push(id))
  const third = (await tokens.rotate(token.id, { overlapMs: 0 }))!
  expect(third.token.previous).toBeUndefined()
  expect([await tokens.authenticate(first), await tokens.authenticate(second)]).toEqual([undefined, undefined])
  expect(await tokens.authenticate(third.secret)).toBeDefined()
  // What the older ones have open ends.
  await expect.poll(() => revoked).toEqual([token.id])
  // The one that ended does not hinder the next rotation.
  expect(await tokens.rotate(token.id)).toBeDefined()
})

it('of two rotations at the same time one wins, and its secret works', async () => {
  const { tokens, elsewhere, store } = openTokens()
  const { token } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const list = store.tokens.list.bind(store.tokens)
  let reads = 0
  let bothHaveRead = () => {}
  const both = new Promise<void>((resolve) => {
    bothHaveRead = resolve
  })
  store.tokens.list = async () => {
    const found = await list()
    if (++reads === 2) bothHaveRead()
    await both
    return found
  }
  const outcomes = await Promise.allSettled([tokens, elsewhere].map((each) => each.rotate(token.id)))
  const [won] = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value!.secret] : []))
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } })
  expect(await elsewhere.authenticate(won!)).toBeDefined()
})

it('the list says when each of the two secrets was last used', async () => {
  const { clock, tokens } = openTokens()
  const { token, secret: old } = await tokens.create({ name: 'ci', scopes: ['call'] })
  const created = clock.now()
  await tokens.authenticate(old)
  await clock.advance(HOUR)
  const { secret } = (await tokens.rotate(token.id))!
  expect((await tokens.list())[0]).toMatchObject({ previous: { usedAt: created } })
  expect((await tokens.list())[0]!.usedAt).toBeUndefined()
  await tokens.authenticate(secret)
  await clock.advance(HOUR)
  await tokens.authenticate(old)
  await clock.advance(0)
  const [entry] = await tokens.list()
  expect(entry).toMatchObject({ usedAt: created + HOUR, previous: { usedAt: created + 2 * HOUR } })
})

it.each([-1, 0.5, Number.NaN, 31 * DAY])('an overlap of %d ms is refused', async (overlapMs) => {
  const { tokens } = openTokens()
  const { token } = await tokens.create({ name: 'ci', scopes: ['call'] })
  await expect(tokens.rotate(token.id, { overlapMs })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
})

it.each([
  ['allow rules', { policy: [{ allow: 'exec' }] }],
  ['dangerous calls', { allowDanger: true }],
  ['folders outside the hub', { roots: [{ path: folder, mode: 'write' as const }] }],
])('only the owner rotates a token with %s, which nobody else may create', async (_, limits) => {
  const { tokens } = openTokens()
  const { token, secret } = await tokens.create({ name: 'bold', scopes: ['call'], ...limits }, { mayAllow: true })
  await expect(tokens.rotate(token.id)).rejects.toMatchObject({
    code: 'FORBIDDEN',
    fix: { hint: expect.stringContaining('on the machine of the hub') },
  })
  expect(await tokens.authenticate(secret)).toBeDefined()
  expect((await tokens.rotate(token.id, {}, { mayAllow: true }))!.token).toMatchObject(limits)
})
