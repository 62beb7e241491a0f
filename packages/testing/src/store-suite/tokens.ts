import type { StoredToken, StoreTests } from '@tool-hub/core'

/** Grants, tokens and sessions. */
export function tokensSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the grants, tokens and sessions of ${name}`, () => {
    it('remember answers, oldest first and by tool, until they are taken back or expire', async () => {
      const grant = { id: 'g1', tool: 'a', body: '{}', createdAt: 2 }
      await store().grants.put(grant)
      await store().grants.put({ ...grant, id: 'g2', tool: 'b', createdAt: 1, expiresAt: 100 })
      await store().grants.put({ ...grant, body: '{"changed":true}' })
      expect((await store().grants.list()).map(({ id }) => id)).toEqual(['g2', 'g1'])
      expect(await store().grants.list({ tool: 'a' })).toEqual([{ ...grant, body: '{"changed":true}' }])
      expect((await store().grants.list({ tool: 'b' }))[0]).toMatchObject({ createdAt: 1, expiresAt: 100 })
      await store().grants.put({ ...grant, id: 'g0' })
      expect((await store().grants.list()).map(({ id }) => id)).toEqual(['g2', 'g0', 'g1'])
      await store().grants.remove('g0')
      await store().sweep(99)
      expect(await store().grants.list()).toHaveLength(2)
      await store().sweep(100)
      expect((await store().grants.list()).map(({ id }) => id)).toEqual(['g1'])
      expect(await store().grants.remove('g1')).toBe(true)
      expect(await store().grants.remove('g1')).toBe(false)
    })

    it('find a token by its hash, and have each name once', async () => {
      const token: StoredToken = { id: 't1', name: 'ci', hash: 'h1', body: '{}', createdAt: 1 }
      await store().tokens.add(token)
      for (const twin of [{ id: 't1' }, { name: 'ci' }, { hash: 'h1' }]) {
        const other = { ...token, id: 't2', name: 'other', hash: 'h2', ...twin }
        await expect(async () => store().tokens.add(other)).rejects.toMatchObject({
          code: 'CONFLICT',
          message: `There is a token ${other.name} already.`,
          fix: { hint: 'Use another name, or remove that token first.' },
        })
      }
      await store().tokens.add({ ...token, id: 't0', name: 'older', hash: 'h0', createdAt: 0, expiresAt: 9 })
      expect((await store().tokens.list()).map(({ id }) => id)).toEqual(['t0', 't1'])
      expect(await store().tokens.findByHash('h0')).toMatchObject({ createdAt: 0, expiresAt: 9 })
      expect(await store().tokens.findByHash('none')).toBeUndefined()
      await store().tokens.touch('t0', 1)
      expect(await store().tokens.findByHash('h0')).toMatchObject({ usedAt: 1 })
      await store().tokens.touch('t1', 20)
      await store().tokens.touch('t1', 10)
      await store().tokens.touch('nobody', 10)
      expect(await store().tokens.findByHash('h1')).toEqual({ ...token, usedAt: 20 })
      expect(await store().tokens.remove('t1')).toBe(true)
      expect(await store().tokens.remove('t1')).toBe(false)
      expect(await store().tokens.findByHash('h1')).toBeUndefined()
      await store().tokens.add({ ...token, id: 't9', name: 'nine', hash: 'h9', usedAt: 5 })
      await store().tokens.add(token)
      expect((await store().tokens.list()).map(({ id }) => id)).toEqual(['t0', 't1', 't9'])
      expect(await store().tokens.findByHash('h9')).toMatchObject({ usedAt: 5 })
    })

    it('rotate the secret of a token once for each secret, and find the token by both', async () => {
      const token: StoredToken = {
        id: 't1',
        name: 'ci',
        hash: 'h1',
        body: '{}',
        createdAt: 1,
        expiresAt: 50,
        usedAt: 5,
      }
      await store().tokens.add(token)
      await store().tokens.add({ ...token, id: 't2', name: 'other', hash: 'o1' })
      const rotation = { from: 'h1', to: 'h2', at: 10, expiresAt: 60, previousExpiresAt: 20 }
      expect(await store().tokens.rotate('t1', rotation)).toBe(true)
      expect(await store().tokens.rotate('t1', { ...rotation, to: 'h3' })).toBe(false)
      expect(await store().tokens.rotate('nobody', rotation)).toBe(false)
      const rotated = {
        ...{ id: 't1', name: 'ci', hash: 'h2', body: '{}', createdAt: 1, expiresAt: 60, rotatedAt: 10 },
        ...{ previousHash: 'h1', previousExpiresAt: 20, previousUsedAt: 5 },
      }
      for (const hash of ['h1', 'h2']) expect(await store().tokens.findByHash(hash)).toEqual(rotated)
      await store().tokens.touch('t1', 11)
      await store().tokens.touch('t1', 12, 'previous')
      await store().tokens.touch('t1', 4, 'previous')
      expect(await store().tokens.findByHash('h2')).toEqual({ ...rotated, usedAt: 11, previousUsedAt: 12 })
      expect(await store().tokens.rotate('t1', { from: 'h2', to: 'h4', at: 30, previousExpiresAt: 30 })).toBe(true)
      expect(await store().tokens.findByHash('h1')).toBeUndefined()
      const { expiresAt: _, ...lasting } = rotated
      expect(await store().tokens.findByHash('h4')).toEqual({
        ...{ ...lasting, hash: 'h4', rotatedAt: 30, previousHash: 'h2', previousExpiresAt: 30, previousUsedAt: 11 },
      })
      expect((await store().tokens.list()).map(({ hash }) => hash)).toEqual(['h4', 'o1'])
      expect(await store().tokens.remove('t1')).toBe(true)
      for (const hash of ['h1', 'h2', 'h4']) expect(await store().tokens.findByHash(hash)).toBeUndefined()
    })

    it('know a session until it expires, ends, or its token is revoked', async () => {
      const session = { hash: 's1', token: 't1', body: '{}', createdAt: 1, expiresAt: 100 }
      await store().signIns.add(session)
      for (const hash of ['s2', 's3']) await store().signIns.add({ ...session, hash })
      await store().signIns.add({ ...session, hash: 's4', token: 't2', expiresAt: 200 })
      expect(await store().signIns.find('s1', 99)).toEqual(session)
      expect(await store().signIns.find('s1', 100)).toBeUndefined()
      await store().signIns.add({ ...session, body: '{"again":true}', createdAt: 2, expiresAt: 101 })
      expect(await store().signIns.find('s1', 100)).toMatchObject({ body: '{"again":true}', createdAt: 2 })
      await store().signIns.remove('s2')
      expect(await store().signIns.find('s2', 0)).toBeUndefined()
      await store().signIns.removeOf('t1')
      expect(await store().signIns.find('s3', 0)).toBeUndefined()
      await store().sweep(199)
      expect(await store().signIns.find('s4', 0)).toBeDefined()
      await store().sweep(200)
      expect(await store().signIns.find('s4', 0)).toBeUndefined()
    })
  })
}
