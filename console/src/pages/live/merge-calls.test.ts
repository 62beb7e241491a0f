import { describe, expect, it } from 'vitest'
import type { CallEntry } from '../../api/types.ts'
import { makeCall } from '../../calls/make-call.ts'
import { mergeCalls } from './merge-calls.ts'

const all = { fits: () => true, most: 100 }
const ids = (calls: readonly CallEntry[]) => calls.map(({ callId }) => callId)

describe('the list of calls', () => {
  const rows = [makeCall('c', { startedAt: 30 }), makeCall('b', { startedAt: 20 }), makeCall('a', { startedAt: 10 })]

  it('has new calls where they began: mostly on top, but one that waited long further down', () => {
    const heard = [
      makeCall('e', { startedAt: 50 }),
      makeCall('late', { startedAt: 15 }),
      makeCall('d', { startedAt: 40 }),
    ]
    expect(ids(mergeCalls(rows, heard, all))).toEqual(['e', 'd', 'c', 'b', 'late', 'a'])
  })

  it('turns a running call into its end, in whichever order both are heard', () => {
    const start = makeCall('x', { seq: 4, status: 'running', startedAt: 60 })
    const end = makeCall('x', { seq: 7, status: 'error', startedAt: 60 })
    for (const heard of [
      [start, end],
      [end, start],
    ]) {
      const merged = mergeCalls(rows, heard, all)
      expect(merged).toHaveLength(4)
      expect(merged[0]).toBe(end)
    }
    expect(mergeCalls([end], [start], all)).toEqual([end])
  })

  it('loses a call that fits no more, and takes in one that fits now', () => {
    const isRunning = { fits: ({ status }: CallEntry) => status === 'running', most: 100 }
    const running = [makeCall('x', { status: 'running', startedAt: 5 })]
    expect(mergeCalls(running, [makeCall('x', { seq: 2 })], isRunning)).toEqual([])
    expect(mergeCalls([], [makeCall('y'), ...running], isRunning)).toEqual(running)
  })

  it('keeps the newest where there is no room for all', () => {
    expect(ids(mergeCalls(rows, [makeCall('d', { startedAt: 40 })], { ...all, most: 2 }))).toEqual(['d', 'c'])
  })
})
