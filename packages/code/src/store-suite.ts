import type { StoreTests } from '@tool-hub/core'
import type { LedgerLine, SavedScript, ScriptChange, StoredScript } from './types.ts'

/** Scripts that wait, and scripts that are tools. */
export function codeSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the scripts of ${name}`, () => {
    const script = (id: string, more: Partial<StoredScript> = {}): StoredScript => ({
      id,
      run: 'r1',
      caller: 'agent',
      sha256: 'ab',
      source: 'return 1',
      setup: '{"input":null}',
      status: 'running',
      approvals: [],
      createdAt: 10,
      updatedAt: 10,
      ...more,
    })
    const line = (position: number, seq: number, more: Partial<LedgerLine> = {}): LedgerLine => ({
      position,
      seq,
      tool: 'core/fs.readText',
      argsHash: `hash ${seq}`,
      status: 'ok',
      isUntrusted: false,
      ...more,
    })
    const change = (id: string, more: Partial<ScriptChange>): ScriptChange => ({
      id,
      from: null,
      status: 'suspended',
      owner: null,
      approvals: [],
      at: 20,
      ...more,
    })
    const ids = async (filter = {}) => (await store().scripts.list(filter)).map(({ id }) => id).join(' ')

    it('are kept with their calls, in the order in which the calls ended', async () => {
      const kept = script('a', { principal: 'token:ci', owner: 'p1', approvals: ['approval-a.1'] })
      const [first, second] = [
        line(1, 2, { answer: '{"ok":true}', line: 3, callId: 'a.2' }),
        line(2, 1, { ref: 'artifact:x', isUntrusted: true }),
      ]
      await store().scripts.add(kept, [first])
      expect(await store().scripts.append('a', second, 'p1')).toBe(true)
      expect(await store().scripts.append('a', line(3, 3), 'p2')).toBe(false)
      expect(await store().scripts.append('b', line(1, 1), 'p1')).toBe(false)
      expect(await store().scripts.find('a')).toEqual(kept)
      expect(await store().scripts.lines('a')).toEqual([first, second])
      expect(await store().scripts.find('b')).toBeUndefined()
      expect(await store().scripts.lines('b')).toEqual([])
    })

    it('are changed only by the process that owns them', async () => {
      await store().scripts.add(script('a', { owner: 'p1' }), [])
      expect(await store().scripts.change(change('a', { from: 'p2' }))).toBe(false)
      expect(await store().scripts.change(change('a', { from: null }))).toBe(false)
      expect(await store().scripts.change(change('a', { from: 'p1', approvals: ['x'] }))).toBe(true)
      const { owner: _, ...suspended } = script('a', { status: 'suspended', approvals: ['x'], updatedAt: 20 })
      expect(await store().scripts.find('a')).toEqual(suspended)
      const taking = ['p2', 'p3'].map((owner) => store().scripts.change(change('a', { status: 'running', owner })))
      expect(await Promise.all(taking)).toEqual([true, false])
      const ended = change('a', { from: 'p2', status: 'completed', outcome: '{"value":1}', at: 30 })
      expect(await store().scripts.change(ended)).toBe(true)
      expect(await store().scripts.find('a')).toMatchObject({
        status: 'completed',
        outcome: '{"value":1}',
        updatedAt: 30,
      })
      expect(await store().scripts.change(change('none', {}))).toBe(false)
    })

    it('are listed newest first, by run, principal, state and time', async () => {
      await store().scripts.add(script('a', { createdAt: 1 }), [])
      await store().scripts.add(script('b', { createdAt: 2, principal: 'token:ci' }), [])
      await store().scripts.add(script('c', { createdAt: 3, run: 'r2', status: 'suspended' }), [])
      expect(await ids()).toBe('c b a')
      expect(await ids({ limit: 2 })).toBe('c b')
      expect(await ids({ before: 3 })).toBe('b a')
      expect(await ids({ run: 'r1' })).toBe('b a')
      expect(await ids({ principal: 'token:ci' })).toBe('b')
      expect(await ids({ status: 'suspended' })).toBe('c')
    })

    it('are deleted with their calls a month after their last change', async () => {
      const day = 86_400_000
      await store().scripts.add(script('old', { updatedAt: day }), [line(1, 1)])
      await store().scripts.add(script('new', { updatedAt: 2 * day }), [line(1, 1)])
      await store().sweep(31 * day + 1)
      expect(await ids()).toBe('new')
      expect(await store().scripts.lines('old')).toEqual([])
      expect(await store().scripts.lines('new')).toHaveLength(1)
    })
  })

  describe(`the saved scripts of ${name}`, () => {
    const saved = (id: string): SavedScript => ({
      name: id,
      description: `Does ${id}.`,
      sha256: 'ab',
      source: 'return input.a',
      inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
      savedBy: 'owner',
      savedAt: 5,
    })

    it('have unique names, are listed by name, and removed', async () => {
      expect(await store().savedScripts.list()).toEqual([])
      expect(await store().savedScripts.add(saved('b'))).toBe(true)
      expect(await store().savedScripts.add(saved('a'))).toBe(true)
      expect(await store().savedScripts.add({ ...saved('a'), source: 'other' })).toBe(false)
      expect(await store().savedScripts.list()).toEqual([saved('a'), saved('b')])
      expect(await store().savedScripts.find('a')).toEqual(saved('a'))
      expect(await store().savedScripts.find('c')).toBeUndefined()
      expect(await store().savedScripts.remove('a')).toBe(true)
      expect(await store().savedScripts.remove('a')).toBe(false)
      expect(await store().savedScripts.list()).toEqual([saved('b')])
    })
  })
}
