import type { IndexedCall, StoredHead, StoreTests } from '@tool-hub/core'

/** The index over run records. */
export function callsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the index of ${name}`, () => {
    const put = (calls: readonly IndexedCall[], runs: { run: string; bytes: number; at: number }[] = []) =>
      store().calls.put({ calls, runs })
    const ids = async (filter: object = {}) =>
      (await store().calls.calls({ limit: 100, ...filter })).map(({ callId }) => callId).join(' ')

    it('completes a call with its end, and keeps the run counted', async () => {
      const start = call({ status: 'running', principal: 'token:ci', parent: 'c0' })
      await put([start])
      expect(await store().calls.call('c1')).toEqual(start)
      expect(await store().calls.run('r1')).toMatchObject({ calls: 1, failures: 0 })
      const { principal: _, parent: __, ...rest } = start
      await put([{ ...rest, seq: 7, status: 'error', durationMs: 30, error: 'TIMEOUT', startedAt: 1030 }])
      expect(await store().calls.call('c1')).toEqual({ ...start, status: 'error', durationMs: 30, error: 'TIMEOUT' })
      expect(await store().calls.run('r1')).toEqual({
        run: 'r1',
        caller: 'agent',
        principal: 'token:ci',
        startedAt: 1000,
        endedAt: 1030,
        calls: 1,
        failures: 1,
        denials: 0,
      })
    })

    it('is the same after everything was put again, in any order', async () => {
      const entries = [call({ status: 'running' }), call({ status: 'error', durationMs: 5 }), call({ callId: 'c2' })]
      await put(entries)
      const before = [await store().calls.call('c1'), await store().calls.run('r1')]
      await put([...entries].reverse())
      expect([await store().calls.call('c1'), await store().calls.run('r1')]).toEqual(before)
      expect(before[1]).toMatchObject({ calls: 2, failures: 1 })
    })

    it('leaves a call to its run when another claims the id', async () => {
      await put([call()])
      await put([call({ run: 'r2', status: 'error' })])
      expect(await store().calls.call('c1')).toMatchObject({ run: 'r1', status: 'ok' })
      expect(await store().calls.run('r2')).toBeUndefined()
    })

    it('forgets a run that was removed, with its calls', async () => {
      await put([call(), call({ callId: 'c2', run: 'r2' })], [{ run: 'r1', bytes: 500, at: 2000 }])
      await store().calls.remove('r1')
      expect([await store().calls.run('r1'), await store().calls.call('c1')]).toEqual([undefined, undefined])
      expect(await store().calls.position('r1')).toBe(0)
      expect(await ids()).toBe('c2')
    })

    it('remembers how far a record was read, and never goes back', async () => {
      expect(await store().calls.position('r1')).toBe(0)
      await put([], [{ run: 'r1', bytes: 500, at: 2000 }])
      await put([call()], [{ run: 'r1', bytes: 400, at: 1500 }])
      expect(await store().calls.position('r1')).toBe(500)
      expect(await store().calls.run('r1')).toEqual({
        run: 'r1',
        caller: 'agent',
        startedAt: 1000,
        endedAt: 2000,
        calls: 1,
        failures: 0,
        denials: 0,
      })
    })

    it('keeps the first caller of a run', async () => {
      await put([call({ caller: 'first' }), call({ callId: 'c2', caller: 'second' })])
      expect(await store().calls.run('r1')).toMatchObject({ caller: 'first', calls: 2 })
    })

    it('finds calls by run, tool, caller, state, time and text, newest first', async () => {
      await put([
        call({
          callId: 'a',
          startedAt: 1,
          run: 'r1',
          tool: 'core/fs.readText',
          caller: 'x',
          purpose: 'Check the release',
        }),
        call({ callId: 'b', startedAt: 2, run: 'r2', tool: 'core/exec.run', caller: 'x', status: 'denied' }),
        call({ callId: 'c', startedAt: 3, run: 'r2', caller: 'y', status: 'running', summary: 'Saved 50% of it' }),
        call({ callId: 'd', startedAt: 4, run: 'r1', caller: 'z', status: 'pending', targets: ['/Home/Notes.md'] }),
        call({ callId: 'e', startedAt: 4, seq: 9, run: 'r3', caller: 'z', status: 'interrupted' }),
      ])
      expect(await ids()).toBe('e d c b a')
      expect(await ids({ before: 4 })).toBe('c b a')
      expect(await ids({ limit: 2 })).toBe('e d')
      expect(await ids({ run: 'r2' })).toBe('c b')
      expect(await ids({ tool: 'core/fs.readText' })).toBe('a')
      expect(await ids({ caller: 'x', before: 2 })).toBe('a')
      expect(await ids({ status: 'failed' })).toBe('e b')
      expect(await ids({ status: 'pending' })).toBe('d')
      expect(await ids({ text: 'exec.RUN' })).toBe('b')
      expect(await ids({ text: '50%' })).toBe('c')
      expect(await ids({ text: 'home/notes' })).toBe('d')
      expect(await ids({ text: 'the Release' })).toBe('a')
      expect(await ids({ text: 'Z', status: 'failed' })).toBe('e')
      expect(await ids({ text: '_', run: 'r1' })).toBe('')
      await expect(async () => ids({ text: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
    })

    it('lists runs newest first, by caller and in pages, and forgets all when cleared', async () => {
      for (let n = 1; n <= 4; n++)
        await put([call({ callId: `c${n}`, run: `r${n}`, startedAt: n, caller: n === 2 ? 'other' : 'agent' })])
      const runs = async (filter: object) =>
        (await store().calls.runs({ limit: 10, ...filter })).map(({ run }) => run).join(' ')
      expect(await runs({})).toBe('r4 r3 r2 r1')
      expect(await runs({ caller: 'agent', before: 4 })).toBe('r3 r1')
      expect(await runs({ limit: 1 })).toBe('r4')
      expect(await runs({ before: 2 })).toBe('r1')
      await put(['0', '9'].map((run) => call({ callId: `of-${run}`, run, startedAt: 4 })))
      await put(['y', 'x', 'z'].map((callId) => call({ callId, run: 'r9', startedAt: 1 })))
      expect(await runs({ before: 5, limit: 4 })).toBe('r4 9 0 r3')
      expect(await ids({ run: 'r9' })).toBe('z y x')
      await store().calls.clear()
      expect(await runs({})).toBe('')
      expect(await ids()).toBe('')
      expect(await store().calls.position('r1')).toBe(0)
    })

    it('finds runs by caller, span and text', async () => {
      await put([
        call({
          callId: 'a',
          run: 'first',
          startedAt: 10,
          durationMs: 90,
          principal: 'token:ci',
          tool: 'core/exec.run',
        }),
        call({ callId: 'b', run: 'second', startedAt: 20, principal: 'token:ci/second', caller: 'session:reader' }),
        call({ callId: 'c', run: 'third', startedAt: 30, caller: 'cli:Anna', targets: ['read:fs /Notes'] }),
      ])
      const runs = async (filter: object) =>
        (await store().calls.runs({ limit: 10, ...filter })).map(({ run }) => run).join(' ')
      expect(await runs({ caller: 'token:ci' })).toBe('second first')
      expect(await runs({ since: 50 })).toBe('first')
      expect(await runs({ since: 20, before: 30 })).toBe('second first')
      expect(await runs({ text: 'EXEC.run' })).toBe('first')
      expect(await runs({ text: 'anna' })).toBe('third')
      expect(await runs({ text: '/notes' })).toBe('third')
      expect(await runs({ text: 'hir' })).toBe('third')
      await expect(async () => runs({ text: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'INPUT_SCHEMA_INVALID' })
      expect(await store().calls.run('second')).toMatchObject({ principal: 'token:ci', caller: 'session:reader' })
    })

    it('lists who has called, the sessions of a principal together', async () => {
      await put([
        call({ callId: 'a', run: 'r1', startedAt: 10, principal: 'token:ci', caller: 'token:ci' }),
        call({ callId: 'b', run: 'r1', startedAt: 40, principal: 'token:ci', caller: 'token:ci' }),
        call({ callId: 'c', run: 's1', startedAt: 20, principal: 'token:ci/s1', caller: 'session:one' }),
        call({ callId: 'd', run: 's2', startedAt: 30, principal: 'token:ci/s2', caller: 'session:two' }),
        call({ callId: 'e', run: 'r2', startedAt: 5, caller: 'cli:anna' }),
      ])
      await put([], [{ run: 'no-calls', bytes: 9, at: 99 }])
      const all = [
        { caller: 'token:ci', principal: 'token:ci', runs: 1, calls: 2, lastAt: 40 },
        { caller: '', principal: 'token:ci', runs: 2, calls: 2, lastAt: 30 },
        { caller: 'cli:anna', runs: 1, calls: 1, lastAt: 5 },
      ]
      expect(await store().calls.callers({ limit: 10 })).toEqual(all)
      expect(await store().calls.callers({ limit: 1 })).toEqual(all.slice(0, 1))
    })

    it('counts calls, failures and durations per slice of time', async () => {
      await put([
        call({ callId: 'a', startedAt: 59_999, durationMs: 1 }),
        call({ callId: 'b', startedAt: 60_000, durationMs: 10 }),
        call({ callId: 'c', startedAt: 119_999, durationMs: 20, status: 'error' }),
        call({ callId: 'd', startedAt: 119_999, status: 'running', durationMs: undefined }),
        call({ callId: 'f', startedAt: 119_999, status: 'denied', durationMs: undefined }),
        call({ callId: 'g', startedAt: 119_999, status: 'approval_required', durationMs: undefined }),
        call({
          callId: 'h',
          startedAt: 119_999,
          status: 'error',
          error: 'INPUT_SCHEMA_INVALID',
          durationMs: undefined,
        }),
        call({ callId: 'i', startedAt: 119_999, status: 'aborted', error: 'ABORTED', durationMs: undefined }),
        call({ callId: 'j', startedAt: 119_999, status: 'denied', error: 'PATH_DENIED', durationMs: undefined }),
        call({ callId: 'e', startedAt: 240_000, status: 'running', durationMs: undefined }),
      ])
      expect(await store().calls.rates({ since: 60_000, sliceMs: 60_000 })).toEqual([
        { at: 60_000, calls: 8, failures: 1, denials: 3, callerErrors: 2, meanMs: 15, maxMs: 20 },
        { at: 240_000, calls: 1, failures: 0, denials: 0, callerErrors: 0, meanMs: 0, maxMs: 0 },
      ])
      await expect(async () => store().calls.rates({ since: 0, sliceMs: 0 })).rejects.toMatchObject({
        code: 'INPUT_SCHEMA_INVALID',
      })
    })

    it('returns everything about a call', async () => {
      const whole = call({
        ...{ principal: 'token:ci', parent: 'c0', durationMs: 5, attempts: 3, effect: 'ask', rule: 'allow x' },
        ...{ error: 'TIMEOUT', summary: 'Saved', targets: ['/a', '/b'], approvedBy: 'ada' },
        ...{ purpose: 'to test', request: 'a b' },
      })
      await put([whole, call({ callId: 'bare' })])
      expect(await store().calls.call('c1')).toEqual(whole)
      expect(await store().calls.call('bare')).toEqual(call({ callId: 'bare' }))
      expect(await store().calls.calls({ limit: 9 })).toEqual([whole, call({ callId: 'bare' })])
      expect(await store().calls.runs({ limit: 9 })).toEqual([await store().calls.run('r1')])
      expect(await store().calls.call('none')).toBeUndefined()
    })

    it('takes a call whose texts hold odd characters', async () => {
      await put([call({ summary: 'nul \0 and half \ud83d of a pair', targets: ['a\0b'] })])
      expect(await ids({ text: 'nul' })).toBe('c1')
      expect((await store().calls.call('c1'))?.targets).toEqual(['a\0b'])
    })
  })
}

function call(change: Partial<IndexedCall> = {}): IndexedCall {
  return {
    callId: 'c1',
    run: 'r1',
    seq: 3,
    tool: 'notes.save',
    caller: 'agent',
    status: 'ok',
    startedAt: 1000,
    ...change,
  }
}

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

/** What users said. */
export function userTextsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the user texts of ${name}`, () => {
    const add = (run: string, text: string) => store().userTexts.add(run, text, { maxChars: 10, at: 1 })

    it('are kept by run, in order, until they are removed', async () => {
      await add('r', 'one')
      await add('q', 'other')
      await add('r', 'two')
      expect(await store().userTexts.list('r')).toEqual(['one', 'two'])
      await store().userTexts.remove('r')
      expect(await store().userTexts.list('r')).toEqual([])
      expect(await store().userTexts.list('q')).toEqual(['other'])
    })

    it('are bounded: a longer one is cut, and the oldest go first', async () => {
      await add('r', '123456')
      await add('r', 'abcd')
      expect(await store().userTexts.list('r')).toEqual(['123456', 'abcd'])
      await add('r', 'x')
      expect(await store().userTexts.list('r')).toEqual(['abcd', 'x'])
      await add('r', 'a'.repeat(50))
      expect(await store().userTexts.list('r')).toEqual(['a'.repeat(10)])
    })
  })
}
