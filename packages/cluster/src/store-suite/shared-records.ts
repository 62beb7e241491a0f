import type { StoreTests } from '@tool-hub/core'
import type { NewSegment } from '../store/types.ts'

/** A segment of one line, whose number its hash is made from. */
function segment(run: string, seq: number, change: Partial<NewSegment> = {}): NewSegment {
  const after = seq === 1 ? '' : `h${seq - 1}`
  const held = { owner: 'a', epoch: 1 }
  return { run, held, first: seq, last: seq, after, hash: `h${seq}`, lines: `{"seq":${seq}}\n`, at: seq, ...change }
}

/** Shared records, and content by its hash. */
export function sharedRecordsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the shared records of ${name}`, () => {
    const segments = () => store().segments
    const lease = (run: string, owner = 'a') => store().runStates.lease(run, { owner })

    it('take segments of many runs at a time, each only if it continues the last line', async () => {
      for (const run of ['r', 's', 't']) await lease(run)
      const first = [segment('r', 1), segment('s', 1), segment('t', 2)]
      expect(await segments().append(first)).toEqual(['added', 'added', 'gap'])
      const later = [segment('r', 2), segment('s', 2, { after: 'other' }), segment('t', 1), segment('r', 3)]
      expect(await segments().append(later)).toEqual(['added', 'gap', 'added', 'added'])
      expect(await segments().append([segment('r', 3), segment('r', 5)])).toEqual(['gap', 'gap'])
      expect(await segments().append([])).toEqual([])
      expect(await segments().heads()).toEqual([
        { run: 'r', seq: 3, hash: 'h3', epoch: 1, at: 3 },
        { run: 's', seq: 1, hash: 'h1', epoch: 1, at: 1 },
        { run: 't', seq: 1, hash: 'h1', epoch: 1, at: 1 },
      ])
      expect(await segments().heads({ run: 's' })).toMatchObject([{ run: 's', seq: 1 }])
      expect(await segments().heads({ run: 'nothing' })).toEqual([])
    })

    it('take nothing from a process that does not have the lease', async () => {
      expect(await segments().append([segment('r', 1)])).toEqual(['moved'])
      await lease('r')
      await segments().append([segment('r', 1)])
      expect(await segments().append([segment('r', 2, { held: { owner: 'b', epoch: 1 } })])).toEqual(['moved'])
      expect(await segments().append([segment('r', 2, { held: { owner: 'a', epoch: 2 } })])).toEqual(['moved'])
      await store().runStates.release('r', { owner: 'a', epoch: 1 })
      expect(await segments().append([segment('r', 2)])).toEqual(['moved'])
      await lease('r', 'b')
      expect(await segments().append([segment('r', 2)])).toEqual(['moved'])
      expect(await segments().append([segment('r', 2, { held: { owner: 'b', epoch: 2 } })])).toEqual(['added'])
      expect(await segments().heads({ run: 'r' })).toEqual([{ run: 'r', seq: 2, hash: 'h2', epoch: 2, at: 2 }])
    })

    it('are read from a line on, and moved elsewhere in one piece', async () => {
      await lease('r')
      const long = segment('r', 2, { last: 3, hash: 'h3', lines: 'two\nthree\n' })
      await segments().append([segment('r', 1), long, segment('r', 4), segment('r', 5)])
      const stored = { first: 2, last: 3, after: 'h1', hash: 'h3', epoch: 1, lines: 'two\nthree\n' }
      expect(await segments().read('r', { from: 3, limit: 1 })).toEqual([stored])
      expect(await segments().read('r', { from: 6, limit: 10 })).toEqual([])
      expect(await segments().move('r', { first: 1, last: 2, object: 'o' })).toBe(false)
      expect(await segments().move('r', { first: 1, last: 4, object: 'o' })).toBe(true)
      const [moved, last] = await segments().read('r', { from: 1, limit: 10 })
      expect(moved).toEqual({ first: 1, last: 4, after: '', hash: 'h4', epoch: 1, object: 'o' })
      expect(last).toMatchObject({ first: 5, last: 5, after: 'h4' })
      expect(await segments().append([segment('r', 6)])).toEqual(['added'])
    })

    it('are removed with their head, and name what is elsewhere', async () => {
      await lease('r')
      await segments().append([segment('r', 1), segment('r', 2)])
      await segments().move('r', { first: 1, last: 1, object: 'o' })
      expect(await segments().remove('r')).toEqual(['o'])
      expect(await segments().remove('r')).toEqual([])
      expect(await segments().heads()).toEqual([])
      expect(await segments().read('r', { from: 1, limit: 9 })).toEqual([])
      expect(await segments().append([segment('r', 1)])).toEqual(['added'])
    })

    it('keep every character of a line', async () => {
      await lease('r')
      const lines = `{"text":"ä🙂'; DROP TABLE segments; -- \\u0000 %_?"}\n`
      await segments().append([segment('r', 1, { lines })])
      expect(await segments().read('r', { from: 1, limit: 1 })).toMatchObject([{ lines }])
    })
  })

  describe(`the content of ${name}`, () => {
    const blobs = () => store().blobs
    const add = async (hash: string, run: string, { upload = `u-${hash}`, at = 1 } = {}) => {
      for (const number of [0, 1]) await blobs().addPart(upload, { number, content: new Uint8Array([number, 255]), at })
      await blobs().add({ hash, bytes: 4, upload, parts: 2, run, at })
    }

    it('is stored in parts once, and found by the runs that use it', async () => {
      expect(await blobs().use('h', { run: 'r', at: 1 })).toBe(false)
      await add('h', 'r')
      const stored = { hash: 'h', bytes: 4, upload: 'u-h', parts: 2 }
      expect(await blobs().find('h', 'r')).toEqual(stored)
      expect(await blobs().find('h', 's')).toBeUndefined()
      expect(await blobs().use('h', { run: 's', at: 2 })).toBe(true)
      await add('h', 't', { upload: 'second' })
      for (const run of ['s', 't']) expect(await blobs().find('h', run)).toEqual(stored)
      expect(await blobs().part('u-h', 1)).toEqual(new Uint8Array([1, 255]))
      expect(await blobs().part('u-h', 2)).toBeUndefined()
      expect(await blobs().part('second', 0)).toBeUndefined()
      await add('h', 'r')
      expect(await blobs().part('u-h', 0)).toEqual(new Uint8Array([0, 255]))
    })

    it('is removed when no run uses it any more, and not sooner', async () => {
      await add('h', 'r')
      await blobs().use('h', { run: 's', at: 5 })
      await blobs().add({ hash: 'o', bytes: 9, upload: 'none', parts: 0, object: 'far/away', run: 's', at: 1 })
      await blobs().release('r')
      expect(await blobs().removeUnused({ before: 100, limit: 10 })).toEqual([])
      expect(await blobs().find('h', 's')).toBeDefined()
      await blobs().release('s')
      expect(await blobs().removeUnused({ before: 5, limit: 10 })).toEqual(['far/away'])
      expect(await blobs().use('h', { run: 't', at: 6 })).toBe(true)
      expect(await blobs().removeUnused({ before: 100, limit: 10 })).toEqual([])
      await blobs().release('t')
      expect(await blobs().removeUnused({ before: 100, limit: 10 })).toEqual([])
      expect(await blobs().use('h', { run: 't', at: 7 })).toBe(false)
      expect(await blobs().part('u-h', 0)).toBeUndefined()
    })

    it('is swept if it was never completed', async () => {
      const day = 86_400_000
      for (const [upload, at] of [
        ['old', 1],
        ['young', day + 1],
      ] as const)
        await blobs().addPart(upload, { number: 0, content: new Uint8Array(3), at })
      await add('h', 'r')
      await store().sweep(day + 2)
      expect(await blobs().part('old', 0)).toBeUndefined()
      expect(await blobs().part('young', 0)).toBeDefined()
      expect(await blobs().part('u-h', 0)).toBeDefined()
    })
  })
}
