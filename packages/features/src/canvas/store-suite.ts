import type { StoreTests } from '@tool-hub/core'
import type { NewCanvas } from './types.ts'

/** What agents show. */
export function canvasSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the canvases of ${name}`, () => {
    const canvas = (id: string, more: Partial<NewCanvas> = {}): NewCanvas => ({
      id,
      name: id,
      title: `Title of ${id}`,
      kind: 'html',
      run: 'r1',
      caller: 'agent',
      tainted: false,
      createdAt: 10,
      version: { artifact: `artifact:${id}`, bytes: 3, callId: 'c1' },
      ...more,
    })
    const add = (made: NewCanvas, maxOfRun = 3) => store().canvases.add(made, { maxOfRun })
    const ids = async (filter = {}) => (await store().canvases.list(filter)).map(({ id }) => id).join(' ')

    it('are added once a name and run, up to a number a run', async () => {
      expect(await add(canvas('a', { principal: 'token:ci' }))).toBe('added')
      expect(await add(canvas('b', { name: 'a' }))).toBe('taken')
      expect(await add(canvas('c', { name: 'a', run: 'r2' }))).toBe('added')
      expect(await add(canvas('d'), 1)).toBe('full')
      expect(await add(canvas('d', { run: 'r2' }), 2)).toBe('added')
      expect(await add(canvas('e', { run: 'r2', tainted: true }), 3)).toBe('added')
      expect(await store().canvases.find('e')).toMatchObject({ tainted: true })
      expect(await store().canvases.find('a')).toEqual({
        id: 'a',
        name: 'a',
        title: 'Title of a',
        kind: 'html',
        run: 'r1',
        caller: 'agent',
        principal: 'token:ci',
        hidden: false,
        tainted: false,
        createdAt: 10,
        updatedAt: 10,
        latest: { n: 1, artifact: 'artifact:a', bytes: 3, at: 10, callId: 'c1' },
        versions: [{ n: 1, artifact: 'artifact:a', bytes: 3, at: 10, callId: 'c1' }],
      })
      expect(await store().canvases.find('b')).toBeUndefined()
      expect((await store().canvases.findNamed('r2', 'a'))?.id).toBe('c')
      expect(await store().canvases.findNamed('r3', 'a')).toBeUndefined()
    })

    it('keep their last versions, stay tainted, and are shown again with a new one', async () => {
      await add(canvas('a'))
      expect(await store().canvases.hide('a', 11)).toBe(true)
      expect(await store().canvases.hide('none', 11)).toBe(false)
      expect(await store().canvases.find('a')).toMatchObject({ hidden: true, updatedAt: 11 })
      const next = (at: number, tainted: boolean) =>
        store().canvases.addVersion(
          'a',
          { title: `at ${at}`, tainted, artifact: `artifact:${at}`, bytes: at, at, callId: `c${at}` },
          { keep: 2 },
        )
      expect(await next(20, true)).toMatchObject({ title: 'at 20', hidden: false, latest: { n: 2 }, updatedAt: 20 })
      const latest = { n: 3, artifact: 'artifact:21', bytes: 21, at: 21, callId: 'c21' }
      const { version: _, ...made } = canvas('a')
      const shown = { ...made, title: 'at 21', hidden: false, tainted: true, updatedAt: 21, latest }
      expect(await next(21, false)).toEqual(shown)
      expect(await store().canvases.findNamed('r1', 'a')).toEqual(shown)
      expect(await store().canvases.list({})).toEqual([shown])
      expect((await store().canvases.find('a'))!.versions.map(({ n }) => n)).toEqual([2, 3])
      const none = { title: '', tainted: false, artifact: 'x', bytes: 0, at: 1, callId: 'c' }
      expect(await store().canvases.addVersion('none', none, { keep: 2 })).toBeUndefined()
    })

    it('are listed newest first, by run, principal and whether they are hidden', async () => {
      for (const [id, run, createdAt] of [
        ['a', 'r1', 1],
        ['b', 'r1', 2],
        ['c', 'r2', 3],
      ] as const)
        await add(canvas(id, { run, createdAt, ...(id === 'b' && { principal: 'token:ci' }) }))
      await store().canvases.hide('c', 4)
      expect(await ids()).toBe('c b a')
      expect(await ids({ limit: 1 })).toBe('c')
      expect(await ids({ before: 3 })).toBe('b a')
      expect(await ids({ run: 'r1' })).toBe('b a')
      expect(await ids({ principal: 'token:ci' })).toBe('b')
      expect(await ids({ hidden: true })).toBe('c')
      expect(await ids({ hidden: false })).toBe('b a')
      await add(canvas('0', { run: 'r2', createdAt: 3 }))
      await add(canvas('d', { run: 'r2', createdAt: 3 }))
      expect(await ids()).toBe('d c 0 b a')
      expect((await store().canvases.list({}))[0]).not.toHaveProperty('versions')
    })
  })
}
