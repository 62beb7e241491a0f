import { describe, expect, it } from 'vitest'
import type { CallEntry, RunDetail } from '../../api/types.ts'
import { mergeIntoRun } from './merge-into-run.ts'

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
  run: { run: 'r', caller: 'a', startedAt: 100, endedAt: 110, calls: 2, failures: 0 },
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

  it('never takes an end back for an event that is older', () => {
    expect(mergeIntoRun(fetched, told(call('one', 'running'))).calls[0]?.status).toBe('ok')
  })
})
