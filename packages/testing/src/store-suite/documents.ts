import type { StoreTests } from '@tool-hub/core'

/** Documents by name. */
export function documentsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the documents of ${name}`, () => {
    const documents = () => store().documents

    it('are replaced only by who has read the last revision', async () => {
      expect(await documents().read('d')).toBeUndefined()
      expect(await documents().write('d', '{"a":1}', 1)).toBe(false)
      expect(await documents().read('d')).toBeUndefined()
      expect(await documents().write('d', '{"a":1}', 0)).toBe(true)
      expect(await documents().write('d', '{"a":2}', 0)).toBe(false)
      expect(await documents().read('d')).toEqual({ revision: 1, body: '{"a":1}' })
      expect(await documents().write('d', '{"a":3}', 1)).toBe(true)
      for (const stale of [0, 1, 3, -1]) expect(await documents().write('d', 'late', stale)).toBe(false)
      expect(await documents().read('d')).toEqual({ revision: 2, body: '{"a":3}' })
    })

    it('are written by one of those who try at the same time', async () => {
      for (const revision of [0, 1, 2]) {
        const tries = [1, 2, 3, 4, 5].map((each) => documents().write('d', `${revision}-${each}`, revision))
        expect((await Promise.all(tries)).filter(Boolean)).toEqual([true])
        expect((await documents().read('d'))?.revision).toBe(revision + 1)
      }
    })

    it('are not sent again to who knows the revision', async () => {
      await documents().write('d', 'text', 0)
      expect(await documents().read('d', 1)).toEqual({ revision: 1 })
      expect(await documents().read('d', 2)).toEqual({ revision: 1, body: 'text' })
      await documents().write('d', '', 1)
      expect(await documents().read('d', 1)).toEqual({ revision: 2, body: '' })
      expect(await documents().read('none', 1)).toBeUndefined()
    })

    it('are never mixed up, and keep every character', async () => {
      const names = ['constructor', '__proto__', '%', '_', 'K', 'k', 'k ', "'; DROP TABLE documents; --", 'ä/🙂']
      for (const each of names) expect(await documents().write(each, `${each}\n"\\u0000"`, 0)).toBe(true)
      for (const each of names)
        expect(await documents().read(each)).toEqual({ revision: 1, body: `${each}\n"\\u0000"` })
    })

    it('have at most 4 million characters', async () => {
      const most = 'x'.repeat(4_000_000)
      expect(await documents().write('d', most, 0)).toBe(true)
      const write = async () => documents().write('d', `${most}x`, 1)
      const message = 'The document d would have 4000001 characters, the limit is 4000000.'
      await expect(write()).rejects.toMatchObject({ code: 'FILE_TOO_LARGE', message })
      expect((await documents().read('d'))?.revision).toBe(1)
    })
  })
}
