import type { StoredHead, StoreTests } from '../../core/index.ts'

const HEAD: StoredHead = { run: 'r', opening: 'o1', seq: 10, hash: 'h10', at: 1 }

/** Heads of run records. */
export function headsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the heads of ${name}`, () => {
    it('are one an opening, the latest', async () => {
      await store().heads.put(HEAD)
      await store().heads.put({ ...HEAD, seq: 20, hash: 'h20', at: 2 })
      await store().heads.put({ ...HEAD, seq: 15, hash: 'h15', at: 3 })
      await store().heads.put({ ...HEAD, run: 'q', at: 4 })
      expect(await store().heads.list({ run: 'r' })).toEqual([{ ...HEAD, seq: 20, hash: 'h20', at: 2 }])
      expect((await store().heads.list()).map(({ run }) => run)).toEqual(['q', 'r'])
      expect(await store().heads.list({ run: 'other' })).toEqual([])
    })

    it('are replaced by one of the same place, and listed by run and then by age', async () => {
      await store().heads.put({ ...HEAD, opening: 'o2', at: 2 })
      await store().heads.put({ ...HEAD, run: 'q', at: 9 })
      await store().heads.put({ ...HEAD, at: 3 })
      await store().heads.put({ ...HEAD, hash: 'other', at: 4 })
      await store().heads.put({ ...HEAD, run: 's', at: 5 })
      const heads = await store().heads.list()
      expect(heads.map(({ run, opening, hash }) => `${run} ${opening} ${hash}`)).toEqual([
        'q o1 h10',
        'r o2 h10',
        'r o1 other',
        's o1 h10',
      ])
    })

    it('of a run that was removed stay so, also when they grow', async () => {
      await store().heads.put(HEAD)
      await store().heads.remove('r', { by: 'ada', at: 5 })
      await store().heads.put({ ...HEAD, seq: 11, hash: 'h11', at: 6 })
      expect(await store().heads.list()).toEqual([{ ...HEAD, seq: 11, hash: 'h11', at: 6, removedBy: 'ada' }])
    })

    it('go when the next opening continues them, and stay when it does not', async () => {
      await store().heads.put(HEAD)
      await store().heads.put({ ...HEAD, run: 'q' })
      const next = { ...HEAD, opening: 'o2', seq: 12, hash: 'h12', at: 2 }
      await store().heads.put(next, { seq: 10, hash: 'another' })
      await store().heads.put(next, { seq: 9, hash: 'h10' })
      expect(await store().heads.list({ run: 'r' })).toEqual([HEAD, next])
      await store().heads.put(next, { seq: 10, hash: 'h10' })
      expect(await store().heads.list({ run: 'r' })).toEqual([next])
      await store().heads.put({ ...next, seq: 13, hash: 'h13' }, { seq: 12, hash: 'h12' })
      expect(await store().heads.list({ run: 'r' })).toHaveLength(1)
      expect(await store().heads.list({ run: 'q' })).toHaveLength(1)
    })

    it('stay when the run is removed on record, also of a run that had none', async () => {
      await store().heads.put(HEAD)
      await store().heads.remove('r', { by: 'ada', at: 5 })
      await store().heads.remove('none', { by: 'ada', at: 5 })
      await store().heads.remove('none', { by: 'bob', at: 6 })
      expect(await store().heads.list()).toEqual([
        { run: 'none', opening: '', seq: 0, hash: '', at: 5, removedBy: 'ada' },
        { ...HEAD, removedBy: 'ada' },
      ])
      const again = { ...HEAD, opening: 'o2', seq: 2, hash: 'h2', at: 7 }
      await store().heads.put(again)
      expect(await store().heads.list({ run: 'r' })).toEqual([{ ...HEAD, removedBy: 'ada' }, again])
    })
  })
}
