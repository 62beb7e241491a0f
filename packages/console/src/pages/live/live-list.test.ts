import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallEntry } from '../../api/types.ts'
import { makeCall } from '../../calls/make-call.ts'
import { createLiveList, mergeCalls } from './live-list.ts'

const ids = ({ rows }: { rows: readonly CallEntry[] }) => rows.map(({ callId }) => callId)
const pages = new Map<number | undefined, { calls: CallEntry[]; next?: number }>([
  [
    undefined,
    { calls: [makeCall('b', { startedAt: 20 }), makeCall('a', { startedAt: 10, status: 'running' })], next: 10 },
  ],
  [10, { calls: [makeCall('old', { startedAt: 5 })] }],
])
const open = () => createLiveList({ fits: () => true, load: async (before) => pages.get(before) ?? { calls: [] } })

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a live list', () => {
  it('grows on top by events, and at the end by pages until there are no more', async () => {
    const list = open()
    list.add(makeCall('c', { startedAt: 30 }))
    await list.reload()
    expect(ids(list.get())).toEqual(['c', 'b', 'a'])
    await list.loadMore()
    expect(ids(list.get())).toEqual(['c', 'b', 'a', 'old'])
    expect(list.get().isComplete).toBe(true)
  })

  it('keeps new calls back while it is held, but lets known ones end', async () => {
    const list = open()
    await list.reload()
    list.hold(true)
    list.add(makeCall('c', { startedAt: 30, status: 'running' }))
    list.add(makeCall('c', { startedAt: 30, seq: 3 }))
    list.add(makeCall('a', { startedAt: 10, seq: 2, status: 'error' }))
    vi.runAllTimers()
    expect(ids(list.get())).toEqual(['b', 'a'])
    expect(list.get()).toMatchObject({ waiting: 1, rows: [{}, { status: 'error' }] })
    list.hold(false)
    expect(ids(list.get())).toEqual(['c', 'b', 'a'])
    expect(list.get()).toMatchObject({ waiting: 0, rows: [{ status: 'ok' }, {}, {}] })
  })

  it('tells why there is nothing, and begins again', async () => {
    let isDown = true
    const load = async () => {
      if (isDown) throw new Error('The service is away.')
      return { calls: [makeCall('a')] }
    }
    const list = createLiveList({ fits: () => true, load })
    await list.reload()
    expect(list.get()).toMatchObject({ isLoading: false, error: { message: 'The service is away.' } })
    isDown = false
    await list.reload()
    expect(list.get()).toMatchObject({ error: undefined, rows: [{ callId: 'a' }] })
  })
})

const all = { fits: () => true, most: 100 }
const idsOf = (calls: readonly CallEntry[]) => calls.map(({ callId }) => callId)

describe('the list of calls', () => {
  const rows = [makeCall('c', { startedAt: 30 }), makeCall('b', { startedAt: 20 }), makeCall('a', { startedAt: 10 })]

  it('has new calls where they began: mostly on top, but one that waited long further down', () => {
    const received = [
      makeCall('e', { startedAt: 50 }),
      makeCall('late', { startedAt: 15 }),
      makeCall('d', { startedAt: 40 }),
    ]
    expect(idsOf(mergeCalls(rows, received, all))).toEqual(['e', 'd', 'c', 'b', 'late', 'a'])
  })

  it('turns a running call into its end, in whichever order both are received', () => {
    const start = makeCall('x', { seq: 4, status: 'running', startedAt: 60 })
    const end = makeCall('x', { seq: 7, status: 'error', startedAt: 60 })
    for (const received of [
      [start, end],
      [end, start],
    ]) {
      const merged = mergeCalls(rows, received, all)
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

  it('keeps the newest if the list is full', () => {
    expect(idsOf(mergeCalls(rows, [makeCall('d', { startedAt: 40 })], { ...all, most: 2 }))).toEqual(['d', 'c'])
  })
})
