import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../define.ts'
import { createMemoryStore } from '../../store/memory/create-memory-store.ts'
import { openStore } from '../../store/sqlite/open-store.ts'
import type { StoredToken } from '../../store.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type TestHub, testHub } from '../../testing/test-hub.ts'
import type { NewToken } from '../api/service.ts'
import { createPrincipalLookup, createTokenDesk } from './create-token-desk.ts'

const done = z.strictObject({ done: z.boolean() })
const tool = (name: string, capabilities: readonly ('danger:destructive' | 'exec')[]) =>
  defineTool({
    name,
    description: 'Does as it is told.',
    input: z.strictObject({}),
    output: done,
    capabilities: [...capabilities],
    execute: () => ({ done: true }),
  })

let hub: TestHub
let folder: string
beforeAll(() => {
  hub = testHub({
    tools: [tool('test/wipe', ['danger:destructive']), tool('test/run', ['exec']), tool('test/calm', [])],
    policy: [{ allow: 'test/wipe' }, { allow: 'test/run' }],
  }) as unknown as TestHub
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-tokens-'))
})
afterAll(async () => {
  await hub.close()
  rmSync(folder, { recursive: true, force: true })
})

function deskOf(options: Partial<Parameters<typeof createTokenDesk>[0]> = {}) {
  const clock = fakeClock()
  const store = createMemoryStore()
  return { clock, store, desk: createTokenDesk({ store, hub, clock, base: folder, ...options }) }
}

const CI: NewToken = { name: 'ci', scopes: ['call', 'read'] }

describe('a token', () => {
  it('lets in who has its secret, by name and scopes, and nobody else', async () => {
    const { desk, store } = deskOf()
    const { token, secret } = await desk.create(CI)
    expect(secret).toMatch(/^th_[\w-]{43}$/)
    const visitor = await desk.admit(secret)
    expect(visitor).toMatchObject({ name: 'token:ci', token: token.id, scopes: new Set(['call', 'read']) })
    expect(visitor?.hub.name).toBe('token:ci')
    expect(await desk.admit(secret)).toBe(visitor)
    for (const wrong of [secret.slice(0, -1), `${secret}A`, secret.toLowerCase(), '', 'th_', token.id])
      expect(await desk.admit(wrong)).toBeUndefined()
    const kept = JSON.stringify(await store.tokens.list())
    expect(kept).not.toContain(secret.slice(3))
    expect(JSON.stringify(await desk.list())).not.toMatch(/hash|base/)
  })

  it('ends when it expires, hot or not', async () => {
    const { desk, clock } = deskOf()
    const { secret } = await desk.create({ ...CI, expiresAt: clock.now() + 500 })
    expect(await desk.admit(secret)).toBeDefined()
    await clock.advance(499)
    expect(await desk.admit(secret)).toBeDefined()
    await clock.advance(1)
    expect(await desk.admit(secret)).toBeUndefined()
    await clock.advance(5_000)
    expect(await desk.admit(secret)).toBeUndefined()
  })

  it('ends at once when it is revoked here, also for a look-up that was under way', async () => {
    const store = createMemoryStore()
    let answer = () => {}
    const slow = new Promise<void>((resolve) => {
      answer = resolve
    })
    let isSlow = false
    const findByHash = async (hash: string): Promise<StoredToken | undefined> => {
      const found = await store.tokens.findByHash(hash)
      if (isSlow) await slow
      return found
    }
    const tokens = {
      findByHash,
      add: (token: StoredToken) => store.tokens.add(token),
      list: () => store.tokens.list(),
      remove: (id: string) => store.tokens.remove(id),
      touch: (id: string, at: number) => store.tokens.touch(id, at),
    }
    const { desk } = deskOf({ store: { tokens, signIns: store.signIns } })
    const { token, secret } = await desk.create(CI)
    expect(await desk.admit(secret)).toBeDefined()
    isSlow = true
    const other = await desk.create({ ...CI, name: 'other' })
    const underWay = desk.admit(other.secret)
    expect(await desk.remove(token.id)).toBe(true)
    expect(await desk.remove(other.token.id)).toBe(true)
    answer()
    expect(await underWay).toBeUndefined()
    expect(await desk.admit(secret)).toBeUndefined()
    expect(await desk.remove(token.id)).toBe(false)
  })

  it('ends at once when another process revokes it', async () => {
    const [here, there] = [openStore(join(folder, 'data')), openStore(join(folder, 'data'))]
    try {
      const { desk } = deskOf({ store: here })
      const elsewhere = createTokenDesk({ store: there, hub, base: folder })
      const { token, secret } = await elsewhere.create(CI)
      expect(await desk.admit(secret)).toMatchObject({ name: 'token:ci' })
      expect(await elsewhere.remove(token.id)).toBe(true)
      expect(await desk.admit(secret)).toBeUndefined()
    } finally {
      await Promise.all([here.close(), there.close()])
    }
  })

  it('is remembered as used, once a minute, and works where that cannot be written', async () => {
    const { desk, clock, store } = deskOf()
    const { secret } = await desk.create(CI)
    const start = clock.now()
    for (const [afterMs, usedAt] of [
      [0, start],
      [59_999, start],
      [1, start + 60_000],
    ] as const) {
      await clock.advance(afterMs)
      await desk.admit(secret)
      await clock.advance(0)
      expect((await desk.list())[0]!.usedAt).toBe(usedAt)
    }
    store.tokens.touch = () => {
      throw new Error('the disk is full')
    }
    await clock.advance(60_000)
    expect(await desk.admit(secret)).toBeDefined()
  })

  it('that this version cannot read opens nothing, says so, and can be revoked', async () => {
    const { desk, store } = deskOf()
    const { token, secret } = await desk.create(CI)
    const [stored] = await store.tokens.list()
    await store.tokens.remove(token.id)
    await store.tokens.add({ ...stored!, body: '{"scopes":["call","fly"]}' })
    expect(() => desk.admit(secret)).toThrow('token ci cannot be read by this version')
    expect(await desk.list()).toMatchObject([{ name: 'ci', scopes: [] }])
    expect(await desk.remove(token.id)).toBe(true)
  })
})

describe('what a token may do', () => {
  it('leaves out commands and destruction unless it says so, and tells how', async () => {
    const { desk } = deskOf()
    const calm = await desk.admit((await desk.create(CI)).secret)
    for (const name of ['test/wipe', 'test/run']) {
      const result = await calm!.hub.callDynamic(name, {})
      expect(result).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
      expect(JSON.stringify(result)).toMatch(/off over the network for token ci.*--allow-danger/)
    }
    expect(await calm!.hub.callDynamic('test/calm', {})).toMatchObject({ ok: true })
    const { secret } = await desk.create({ ...CI, name: 'bold', allowDanger: true }, { mayAllow: true })
    const bold = await desk.admit(secret)
    expect(await bold!.hub.callDynamic('test/wipe', {})).toMatchObject({ ok: true })
  })

  it('is held to its profile, its rules and their place', async () => {
    const { desk } = deskOf()
    const policy = [{ deny: 'test/calm', reason: 'not for you' }]
    const visitor = await desk.admit((await desk.create({ ...CI, name: 'held', policy, profile: 'full' })).secret)
    const explanation = await visitor!.hub.explain('test/calm', {})
    expect(JSON.stringify(explanation)).toMatch(/not for you/)
    expect(JSON.stringify(explanation)).toMatch(/token held#policy\[0\]/)
  })

  it('is everything for the owner of this process, whom no other process knows', async () => {
    const { desk, store } = deskOf()
    const secret = desk.createOwnerToken()
    const owner = await desk.admit(secret)
    expect(owner).toMatchObject({ name: 'owner', scopes: new Set(['call', 'approve', 'read', 'admin']) })
    expect(await owner!.hub.callDynamic('test/wipe', {})).toMatchObject({ ok: true })
    expect(await store.tokens.list()).toEqual([])
    expect(await deskOf({ store }).desk.admit(secret)).toBeUndefined()
  })
})

describe('a new token is refused', () => {
  it.each<[string, Partial<NewToken>, string, RegExp]>([
    ['an allow rule', { policy: [{ allow: 'exec' }] }, 'FORBIDDEN', /Rule 1 allows/],
    ['danger', { allowDanger: true }, 'FORBIDDEN', /destroy/],
    ['a root that the hub has not', { roots: [{ path: '/', mode: 'read' }] }, 'FORBIDDEN', /may read/],
  ])('with %s, unless its owner makes it', async (_, limits, code, message) => {
    const { desk } = deskOf()
    await expect(desk.create({ ...CI, ...limits })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
    expect(await desk.list()).toEqual([])
    expect((await desk.create({ ...CI, ...limits }, { mayAllow: true })).token).toMatchObject(limits)
  })

  it.each<[string, Partial<NewToken>, RegExp]>([
    ['an unknown key in a rule', { policy: [{ deny: 'exec', onn: 'git *' }] }, /onn/],
    ['a rule without a verb', { policy: [{ on: './x' }] }, /verb/],
    ['a broken pattern', { policy: [{ deny: 'read:fs', on: '[' }] }, /pattern/],
    ['a relative root', { roots: [{ path: 'data', mode: 'read' }] }, /not an absolute path/],
    ['a root that is not there', { roots: [{ path: '/no/such/folder', mode: 'read' }] }, /not a folder that is there/],
    ['an end in the past', { expiresAt: 1 }, /expired/],
    ['no scope', { scopes: [] }, /scopes/],
    ['a name that could be taken for something else', { name: 'a b' }, /name/],
    ['a budget below nothing', { budget: { calls: -1 } }, /below 0/],
  ])('with %s, whoever makes it', async (_, limits, message) => {
    const { desk } = deskOf()
    await expect(desk.create({ ...CI, ...limits }, { mayAllow: true })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('when there is one of that name, in whatever case', async () => {
    const { desk } = deskOf()
    await desk.create(CI)
    await expect(desk.create({ ...CI, name: 'CI' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await desk.list()).toHaveLength(1)
  })

  it('for more than the hub itself may do in a folder', async () => {
    const roots = [{ path: folder, mode: 'read' as const }]
    const { desk } = deskOf({ roots })
    await expect(desk.create({ ...CI, roots: [{ path: folder, mode: 'write' }] })).rejects.toThrow('may write')
    expect((await desk.create({ ...CI, roots })).token.roots).toEqual(roots)
  })
})

describe('what a principal may now', () => {
  it('is what its token says, and nothing once that is revoked, expired or may not call', async () => {
    const { desk, store, clock } = deskOf()
    const look = createPrincipalLookup(store, () => clock.now())
    const { token } = await desk.create({ ...CI, budget: { calls: 3 } })
    await desk.create({ name: 'reader', scopes: ['read'] })
    await desk.create({ name: 'brief', scopes: ['call'], expiresAt: clock.now() + 1_000 })
    const before = { name: 'token:ci', budget: { calls: 100 } }
    expect(await look(before)).toMatchObject({ name: 'token:ci', budget: { calls: 3 } })
    expect(await look({ name: 'token:reader' })).toBeUndefined()
    expect(await look({ name: 'token:brief' })).toBeDefined()
    await clock.advance(1_000)
    await desk.remove(token.id)
    for (const name of ['token:brief', 'token:ci']) expect(await look({ name })).toBeUndefined()
    expect(await look({ name: 'user:ada' })).toEqual({ name: 'user:ada' })
  })
})
