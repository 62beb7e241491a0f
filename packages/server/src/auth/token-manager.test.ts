import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryStore, openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { NewToken } from '../../../core/src/protocol/service.ts'
import type { StoredToken } from '../../../core/src/store.ts'
import { defineTool } from '../../../core/src/tool.ts'
import type { PrincipalHub } from '../../../runtime/src/hub/hub-api.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import { hashSecret, newTokenSecret } from './token.ts'
import { createPrincipalLookup, TokenManager } from './token-manager.ts'

const done = z.strictObject({ done: z.boolean() })
const tool = (name: string, capabilities: readonly ('danger:destructive' | 'exec')[]) =>
  defineTool({
    name,
    description: 'Does nothing.',
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

function openManager(options: Partial<ConstructorParameters<typeof TokenManager>[0]> = {}) {
  const clock = fakeClock()
  const store = createMemoryStore()
  return { clock, store, manager: new TokenManager({ store, hub, clock, base: folder, ...options }) }
}

const CI: NewToken = { name: 'ci', scopes: ['call', 'read'] }

describe('a token', () => {
  it('lets in who has its secret, by name and scopes, and nobody else', async () => {
    const { manager, store } = openManager()
    const { token, secret } = await manager.create(CI)
    expect(secret).toMatch(/^th_[\w-]{43}$/)
    const caller = await manager.authenticate(secret)
    expect(caller).toMatchObject({ name: 'token:ci', token: token.id, scopes: new Set(['call', 'read']) })
    expect(caller?.hub.name).toBe('token:ci')
    expect(await manager.authenticate(secret)).toBe(caller)
    for (const wrong of [secret.slice(0, -1), `${secret}A`, secret.toLowerCase(), '', 'th_', token.id])
      expect(await manager.authenticate(wrong)).toBeUndefined()
    const kept = JSON.stringify(await store.tokens.list())
    expect(kept).not.toContain(secret.slice(3))
    expect(JSON.stringify(await manager.list())).not.toMatch(/hash|base/)
  })

  it('ends when it expires, hot or not', async () => {
    const { manager, clock } = openManager()
    const { secret } = await manager.create({ ...CI, expiresAt: clock.now() + 500 })
    expect(await manager.authenticate(secret)).toBeDefined()
    await clock.advance(499)
    expect(await manager.authenticate(secret)).toBeDefined()
    await clock.advance(1)
    expect(await manager.authenticate(secret)).toBeUndefined()
    await clock.advance(5_000)
    expect(await manager.authenticate(secret)).toBeUndefined()
  })

  it('ends immediately when it is revoked here, also for a look-up that was under way', async () => {
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
      rotate: store.tokens.rotate,
      touch: store.tokens.touch,
    }
    const { manager } = openManager({ store: { tokens, signIns: store.signIns, events: store.events } })
    const { token, secret } = await manager.create(CI)
    expect(await manager.authenticate(secret)).toBeDefined()
    isSlow = true
    const other = await manager.create({ ...CI, name: 'other' })
    const underWay = manager.authenticate(other.secret)
    expect(await manager.remove(token.id)).toBe(true)
    expect(await manager.remove(other.token.id)).toBe(true)
    answer()
    expect(await underWay).toBeUndefined()
    expect(await manager.authenticate(secret)).toBeUndefined()
    expect(await manager.remove(token.id)).toBe(false)
  })

  it('ends immediately when another process revokes it', async () => {
    const [here, there] = [openStore(join(folder, 'data')), openStore(join(folder, 'data'))]
    try {
      const { manager } = openManager({ store: here })
      const elsewhere = new TokenManager({ store: there, hub, base: folder })
      const { token, secret } = await elsewhere.create(CI)
      expect(await manager.authenticate(secret)).toMatchObject({ name: 'token:ci' })
      expect(await elsewhere.remove(token.id)).toBe(true)
      expect(await manager.authenticate(secret)).toBeUndefined()
    } finally {
      await Promise.all([here.close(), there.close()])
    }
  })

  it('is remembered as used, once a minute, and works where that cannot be written', async () => {
    const { manager, clock, store } = openManager()
    const { secret } = await manager.create(CI)
    const start = clock.now()
    for (const [afterMs, usedAt] of [
      [0, start],
      [59_999, start],
      [1, start + 60_000],
    ] as const) {
      await clock.advance(afterMs)
      await manager.authenticate(secret)
      await clock.advance(0)
      expect((await manager.list())[0]!.usedAt).toBe(usedAt)
    }
    store.tokens.touch = () => {
      throw new Error('the disk is full')
    }
    await clock.advance(60_000)
    expect(await manager.authenticate(secret)).toBeDefined()
  })

  it('that this version cannot read opens nothing, says so, and can be revoked', async () => {
    const { manager, store } = openManager()
    const { token, secret } = await manager.create(CI)
    const [stored] = await store.tokens.list()
    await store.tokens.remove(token.id)
    await store.tokens.add({ ...stored!, body: '{"scopes":["call","fly"]}' })
    expect(() => manager.authenticate(secret)).toThrow('token ci cannot be read by this version')
    expect(await manager.list()).toMatchObject([{ name: 'ci', scopes: [] }])
    expect(await manager.remove(token.id)).toBe(true)
  })
})

describe('what is remembered of a token', () => {
  const as = ({ name }: { name: string }) => ({ name }) as unknown as PrincipalHub

  /** A manager that knows one token, and how often its use was written. */
  async function knownToken() {
    const parts = openManager({ hub: { as } })
    const { manager, store } = parts
    const { secret } = await manager.create(CI)
    const [stored] = await store.tokens.list()
    const touched: number[] = []
    const touch = store.tokens.touch.bind(store.tokens)
    store.tokens.touch = (id, at) => {
      touched.push(at)
      return touch(id, at)
    }
    const replace = async (changes: Partial<StoredToken>) => {
      await store.tokens.remove(stored!.id)
      await store.tokens.add({ ...stored!, ...changes })
    }
    return { ...parts, secret, stored: stored!, touched, replace }
  }

  it('is one caller until the store says something else', async () => {
    const { manager, secret, stored, replace } = await knownToken()
    const caller = await manager.authenticate(secret)
    expect(await manager.authenticate(secret)).toBe(caller)
    await replace({ body: JSON.stringify({ scopes: ['read'], base: folder }) })
    expect(await manager.authenticate(secret)).toMatchObject({ token: stored.id, scopes: new Set(['read']) })
  })

  it('is a new caller under a new id', async () => {
    const { manager, secret, stored, replace } = await knownToken()
    expect(await manager.authenticate(secret)).toMatchObject({ token: stored.id })
    await replace({ id: 'token-2' })
    expect(await manager.authenticate(secret)).toMatchObject({ token: 'token-2' })
  })

  it('is held for the 1,000 that were used last', async () => {
    const { manager, store, secret, stored } = await knownToken()
    const caller = await manager.authenticate(secret)
    const useOthers = async (first: number, count: number) => {
      for (let index = first; index < first + count; index++) {
        const other = newTokenSecret()
        const own = { id: `token-${index}`, name: `n${index}`, hash: hashSecret(other) }
        await store.tokens.add({ ...stored, ...own })
        await manager.authenticate(other)
      }
    }
    await useOthers(0, 999)
    expect(await manager.authenticate(secret)).toBe(caller)
    await useOthers(1_000, 1_000)
    expect(await manager.authenticate(secret)).not.toBe(caller)
  })

  it('is not trusted when the store gives another token', async () => {
    const { manager, store, secret, stored } = await knownToken()
    store.tokens.findByHash = () => ({ ...stored, hash: hashSecret('another') })
    expect(await manager.authenticate(secret)).toBeUndefined()
  })

  it('is not that it was revoked, when it was not there', async () => {
    const { manager, secret, replace } = await knownToken()
    expect(await manager.remove('token-later')).toBe(false)
    await replace({ id: 'token-later' })
    expect(await manager.authenticate(secret)).toMatchObject({ token: 'token-later' })
  })

  it('is when it was used, also where that cannot be written, and by another process', async () => {
    const { manager, store, secret, clock, touched } = await knownToken()
    const failing = () => {
      touched.push(clock.now())
      throw new Error('the disk is full')
    }
    const touch = store.tokens.touch
    store.tokens.touch = failing
    const start = clock.now()
    for (const afterMs of [0, 1_000, 59_000]) {
      await clock.advance(afterMs)
      await manager.authenticate(secret)
    }
    expect(touched).toEqual([start, start + 60_000])
    store.tokens.touch = touch
    await clock.advance(60_000)
    await manager.authenticate(secret)
    const elsewhere = openManager({ store, clock, hub: { as } }).manager
    await elsewhere.authenticate(secret)
    expect(touched).toEqual([start, start + 60_000, start + 120_000])
  })

  it('is the first use, a minute after 1970 began', async () => {
    const clock = fakeClock(60_000)
    const { manager } = openManager({ clock, hub: { as } })
    await manager.authenticate((await manager.create(CI)).secret)
    expect((await manager.list())[0]!.usedAt).toBe(60_000)
  })
})

describe('what a token may do', () => {
  it('leaves out commands and destruction unless it says so, and tells how', async () => {
    const { manager } = openManager()
    const calm = await manager.authenticate((await manager.create(CI)).secret)
    for (const name of ['test/wipe', 'test/run']) {
      const result = await calm!.hub.callDynamic(name, {})
      expect(result).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
      expect(result.ok || result.error.message).toMatch(/ off over the network for token ci\.$/)
      expect(result.ok || result.error.fix.hint).toBe(
        'The owner of the hub can make a token that may: tool-hub tokens add NAME --allow-danger.',
      )
    }
    expect(await calm!.hub.callDynamic('test/calm', {})).toMatchObject({ ok: true })
    const { secret } = await manager.create({ ...CI, name: 'bold', allowDanger: true }, { mayAllow: true })
    const bold = await manager.authenticate(secret)
    expect(await bold!.hub.callDynamic('test/wipe', {})).toMatchObject({ ok: true })
  })

  it('is held to its profile, its rules and their place', async () => {
    const { manager } = openManager()
    const policy = [{ deny: 'test/calm', reason: 'not for you' }]
    const caller = await manager.authenticate(
      (await manager.create({ ...CI, name: 'held', policy, profile: 'full' })).secret,
    )
    const explanation = await caller!.hub.explain('test/calm', {})
    expect(JSON.stringify(explanation)).toMatch(/not for you/)
    expect(JSON.stringify(explanation)).toMatch(/token held#policy\[0\]/)
  })

  it('is everything for the owner of this process, whom no other process knows', async () => {
    const { manager, store } = openManager()
    const secret = manager.createOwnerToken()
    const owner = await manager.authenticate(secret)
    expect(owner).toMatchObject({ name: 'owner', scopes: new Set(['call', 'approve', 'read', 'admin']) })
    expect(await owner!.hub.callDynamic('test/wipe', {})).toMatchObject({ ok: true })
    expect(await store.tokens.list()).toEqual([])
    expect(await openManager({ store }).manager.authenticate(secret)).toBeUndefined()
  })
})

describe('a new token is refused', () => {
  it.each<[string, Partial<NewToken>, string, RegExp]>([
    ['an allow rule', { policy: [{ allow: 'exec' }] }, 'FORBIDDEN', /Rule 1 allows/],
    ['danger', { allowDanger: true }, 'FORBIDDEN', /destroy/],
    ['a root that the hub has not', { roots: [{ path: '/', mode: 'read' }] }, 'FORBIDDEN', /may read/],
  ])('with %s, unless its owner makes it', async (_, limits, code, message) => {
    const { manager } = openManager()
    await expect(manager.create({ ...CI, ...limits })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
    expect(await manager.list()).toEqual([])
    expect((await manager.create({ ...CI, ...limits }, { mayAllow: true })).token).toMatchObject(limits)
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
  ])('with %s, no matter who creates it', async (_, limits, message) => {
    const { manager } = openManager()
    await expect(manager.create({ ...CI, ...limits }, { mayAllow: true })).rejects.toMatchObject({
      code: 'INPUT_SCHEMA_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('when there is one of that name, in whatever case', async () => {
    const { manager } = openManager()
    await manager.create(CI)
    await expect(manager.create({ ...CI, name: 'CI' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await manager.list()).toHaveLength(1)
  })

  it('for more than the hub itself may do in a folder', async () => {
    const roots = [{ path: folder, mode: 'read' as const }]
    const { manager } = openManager({ roots })
    await expect(manager.create({ ...CI, roots: [{ path: folder, mode: 'write' }] })).rejects.toThrow('may write')
    expect((await manager.create({ ...CI, roots })).token.roots).toEqual(roots)
  })
})

describe('what a principal may now', () => {
  it('is what its token says, and nothing once that is revoked, expired or may not call', async () => {
    const { manager, store, clock } = openManager()
    const look = createPrincipalLookup(store, () => clock.now())
    const { token } = await manager.create({ ...CI, budget: { calls: 3 } })
    await manager.create({ name: 'reader', scopes: ['read'] })
    await manager.create({ name: 'brief', scopes: ['call'], expiresAt: clock.now() + 1_000 })
    const before = { name: 'token:ci', budget: { calls: 100 } }
    expect(await look(before)).toMatchObject({ name: 'token:ci', budget: { calls: 3 } })
    expect(await look({ name: 'token:reader' })).toBeUndefined()
    expect(await look({ name: 'token:brief' })).toBeDefined()
    await clock.advance(1_000)
    await manager.remove(token.id)
    for (const name of ['token:brief', 'token:ci']) expect(await look({ name })).toBeUndefined()
    expect(await look({ name: 'user:ada' })).toEqual({ name: 'user:ada' })
  })
})
