import { describe, expect, it } from 'vitest'
import type { CallEntry, RunDetail } from '../../api/types.ts'
import { layoutCalls, mergeIntoRun } from './run-calls.ts'

const entry = (callId: string, startedAt: number, more: Partial<CallEntry> = {}): CallEntry => ({
  callId,
  run: 'r',
  seq: startedAt,
  tool: `tool.${callId}`,
  caller: 'token:a',
  status: 'ok',
  startedAt,
  durationMs: 10,
  ...more,
})
const shape = (rows: ReturnType<typeof layoutCalls>) =>
  rows.map(({ call, depth }) => `${' '.repeat(depth)}${call.callId}`)

describe('layoutCalls', () => {
  it('puts calls in the order of their start, and those that a call made below it', () => {
    const calls = [entry('c', 30), entry('b', 11, { parent: 'a' }), entry('a', 10), entry('d', 12, { parent: 'b' })]
    expect(shape(layoutCalls(calls))).toEqual(['a', ' b', '  d', 'c'])
  })

  it('leaves out what is below a closed call, and says how many there are', () => {
    const calls = [entry('a', 10), entry('b', 11, { parent: 'a' }), entry('c', 12, { parent: 'a' })]
    const rows = layoutCalls(calls, { closed: new Set(['a']) })
    expect(shape(rows)).toEqual(['a'])
    expect(rows[0]).toMatchObject({ children: 2, isOpen: false })
  })

  it('shows what is looked for with the calls that lead to it, also below a closed one', () => {
    const calls = [entry('a', 1), entry('b', 2, { parent: 'a' }), entry('c', 3, { parent: 'a' }), entry('d', 4)]
    const rows = layoutCalls(calls, { closed: new Set(['a']), isWanted: ({ callId }) => callId === 'c' })
    expect(shape(rows)).toEqual(['a', ' c'])
  })

  it('puts a call at the top whose parent is not there', () => {
    expect(shape(layoutCalls([entry('b', 2, { parent: 'gone' })]))).toEqual(['b'])
  })

  it('begins no call after one that it made', () => {
    const rows = layoutCalls([entry('a', 20), entry('b', 5, { parent: 'a' })])
    expect(rows.map(({ begin, end }) => [begin, end])).toEqual([
      [5, 15],
      [5, 15],
    ])
  })

  it('gives a running call no end', () => {
    expect(layoutCalls([entry('a', 1, { status: 'running', durationMs: undefined })])[0]?.end).toBeUndefined()
  })

  it('comes to an end when calls name each other as parents', () => {
    expect(layoutCalls([entry('a', 1, { parent: 'b' }), entry('b', 2, { parent: 'a' }), entry('c', 3)]).length).toBe(1)
  })

  it('lays out calls that are nested deeper than a stack', () => {
    const calls = Array.from({ length: 20_000 }, (_, n) => entry(`c${n}`, n, n > 0 ? { parent: `c${n - 1}` } : {}))
    expect(layoutCalls(calls).at(-1)?.depth).toBe(19_999)
  })
})

const call = (callId: string, status: string, durationMs?: number): CallEntry => ({
  callId,
  run: 'r',
  seq: 1,
  tool: 't.t',
  caller: 'a',
  status,
  startedAt: 100,
  durationMs,
})
const fetched: RunDetail = {
  run: { run: 'r', caller: 'a', startedAt: 100, endedAt: 110, calls: 2, failures: 0, denials: 0 },
  calls: [call('one', 'ok', 10), call('two', 'running')],
  isTruncated: false,
}
const told = (...calls: CallEntry[]) => new Map(calls.map((entry) => [entry.callId, entry]))

describe('mergeIntoRun', () => {
  it('ends a call that ran, and counts its failure and the time', () => {
    const merged = mergeIntoRun(fetched, told(call('two', 'error', 60)))
    expect(merged.run).toMatchObject({ calls: 2, failures: 1, endedAt: 160 })
    expect(merged.calls.map(({ status }) => status)).toEqual(['ok', 'error'])
  })

  it.each(['denied', 'approval_required'] as const)(
    'does not count a call that ended with %s as a failure',
    (status) => {
      expect(mergeIntoRun(fetched, told(call('two', status, 60))).run).toMatchObject({ calls: 2, failures: 0 })
    },
  )

  it('adds a call that is new', () => {
    expect(mergeIntoRun(fetched, told(call('three', 'running'))).run).toMatchObject({ calls: 3, failures: 0 })
  })

  it('names the caller of a run that was fetched before its first call was on record', () => {
    const empty = { ...fetched, run: { ...fetched.run, caller: '', calls: 0 }, calls: [] }
    expect(mergeIntoRun(empty, told(call('one', 'running'))).run).toMatchObject({ calls: 1, caller: 'a' })
    expect(mergeIntoRun(fetched, told({ ...call('three', 'running'), caller: 'b' })).run.caller).toBe('a')
  })

  it('never takes an end back for an event that is older', () => {
    expect(mergeIntoRun(fetched, told(call('one', 'running'))).calls[0]?.status).toBe('ok')
  })
})
