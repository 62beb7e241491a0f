import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CallEntry } from '../../api/types.ts'
import { makeCall } from '../../calls/make-call.ts'
import { createLiveList } from './create-live-list.ts'

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
    list.hear(makeCall('c', { startedAt: 30 }))
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
    list.hear(makeCall('c', { startedAt: 30, status: 'running' }))
    list.hear(makeCall('c', { startedAt: 30, seq: 3 }))
    list.hear(makeCall('a', { startedAt: 10, seq: 2, status: 'error' }))
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
