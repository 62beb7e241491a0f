import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { createTokenRegister, type TokenRegisterOptions } from './token-register.ts'

function registerOf(options: Partial<TokenRegisterOptions> = {}) {
  const [store, clock] = [createMemoryStore(), fakeClock(1_000)]
  return { store, clock, register: createTokenRegister({ store, clock, ...options }) }
}

it('keeps a token under a new id with what it may do, each scope once', async () => {
  const { store, register } = registerOf({ base: '/srv' })
  const { token } = await register.create({ name: 'ci', scopes: ['read', 'call', 'read'], profile: 'minimal' })
  expect(token).toStrictEqual({
    id: expect.stringMatching(/^token-[0-9a-f]{16}$/),
    name: 'ci',
    scopes: ['read', 'call'],
    profile: 'minimal',
    createdAt: 1_000,
  })
  expect(await register.list()).toStrictEqual([token])
  const [stored] = await store.tokens.list()
  expect(JSON.parse(stored!.body)).toEqual({ scopes: ['read', 'call'], profile: 'minimal', base: '/srv' })
  expect(stored).not.toHaveProperty('expiresAt')
})

it('keeps when a token ends', async () => {
  const { store, register } = registerOf()
  const { token } = await register.create({ name: 'ci', scopes: ['call'], expiresAt: 5_000 })
  expect(token.expiresAt).toBe(5_000)
  expect((await store.tokens.list())[0]?.expiresAt).toBe(5_000)
})

it('keeps the folder of its rules: its own, that of the register, or the working folder', async () => {
  for (const [options, own, base] of [
    [{}, undefined, process.cwd()],
    [{ base: '/srv' }, undefined, '/srv'],
    [{ base: '/srv' }, '/home', '/home'],
  ] as const) {
    const { store, register } = registerOf(options)
    await register.create({ name: 'ci', scopes: ['call'] }, { base: own })
    expect(JSON.parse((await store.tokens.list())[0]!.body)).toMatchObject({ base })
  }
})

it('gives no folder where the hub has none', async () => {
  const { register } = registerOf()
  const wish = { name: 'ci', scopes: ['call'] as ['call'], roots: [{ path: process.cwd(), mode: 'read' as const }] }
  await expect(register.create(wish)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(register.create(wish, { mayAllow: true })).resolves.toBeDefined()
})

it('refuses a name that is taken, and says which token has it', async () => {
  const { register } = registerOf()
  const { token } = await register.create({ name: 'ci', scopes: ['call'] })
  await expect(register.create({ name: 'Ci', scopes: ['call'] })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: `There is a token ci already (${token.id}).`,
    fix: { hint: 'Choose another name, or revoke that one first: tool-hub tokens revoke ci' },
  })
  await register.create({ name: 'ci-2', scopes: ['call'] })
  await expect(register.create({ name: 'ｃｉ', scopes: ['call'] })).rejects.toMatchObject({ code: 'CONFLICT' })
})

it('ends the sign-ins of a token with it, and says whether there was one', async () => {
  const { store, register } = registerOf()
  const { token } = await register.create({ name: 'ci', scopes: ['call'] })
  const signIn = { body: '{}', createdAt: 1_000, expiresAt: 9_000 }
  await store.signIns.add({ ...signIn, hash: 'mine', token: token.id })
  await store.signIns.add({ ...signIn, hash: 'another', token: 'token-2' })
  expect([await register.remove(token.id), await register.remove(token.id)]).toEqual([true, false])
  expect([await store.signIns.find('mine', 2_000), await store.signIns.find('another', 2_000)]).toEqual([
    undefined,
    expect.objectContaining({ token: 'token-2' }),
  ])
})
