import type { PastCallPage } from '@tool-hub/core/feature'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { readHistory } from './session-history.ts'
import type { HistoryWish } from './types.ts'

/** A session with calls and messages at these times, in milliseconds. */
async function world(callTimes: readonly (number | string)[], mailTimes: readonly number[]) {
  const store = createMemoryStore()
  for (const [n, sentAt] of mailTimes.entries())
    await store.mail.put(
      { id: `m${n}`, inbox: 's', sender: 'other', text: `mail ${sentAt}`, isTainted: false, sentAt },
      { maxUnread: 999 },
    )
  const calls = callTimes.map((at, index) => ({
    ...{ seq: index + 1, time: typeof at === 'number' ? new Date(at).toISOString() : at, callId: `c${index}` },
    ...{ tool: 't', status: 'ok', summary: `call ${at}`, isUntrusted: false },
  }))
  const pastCalls = async (_: string, { after, before = Number.MAX_SAFE_INTEGER, limit }: PastCallPage) =>
    after === undefined
      ? calls.filter(({ seq }) => seq < before).slice(-limit)
      : calls.filter(({ seq }) => seq > after).slice(0, limit)
  const host = { store, pastCalls, redact: (text: string) => text.replaceAll('hunter2', '[redacted]') }
  return async (wish: HistoryWish = {}) => {
    const { entries, earlier, later, session } = await readHistory(host, 's', wish)
    const told = entries.map((entry) => (entry.type === 'call' ? entry.summary : entry.message.text))
    return { told, earlier, later, session, entries }
  }
}

describe('a history', () => {
  it('is in the order of time; a call comes after a message of the same moment', async () => {
    const read = await world([1, 3, 5], [3, 4])
    const told = ['call 1', 'mail 3', 'call 3', 'mail 4', 'call 5']
    expect(await read()).toMatchObject({ told, earlier: undefined, later: '3.2', session: 's' })
    expect((await read({ after: '0.0' })).told).toEqual(told)
  })

  it('has entries with all that is known of them, without secrets', async () => {
    const { entries } = await (await world(['hunter2'], []))()
    expect(entries).toEqual([
      {
        ...{ type: 'call', at: 'hunter2', callId: 'c0', tool: 't', status: 'ok', summary: 'call [redacted]' },
        isUntrusted: false,
      },
    ])
  })

  it('takes a time that cannot be read for the earliest', async () => {
    expect((await (await world(['never'], [5]))()).told).toEqual(['call never', 'mail 5'])
  })

  it('shows 50 entries without a limit, 200 at most and 1 at least', async () => {
    const read = await world(
      Array.from({ length: 201 }, (_, n) => n),
      [],
    )
    const count = async (wish: HistoryWish) => (await read(wish)).told.length
    expect(await count({})).toBe(50)
    expect(await count({ limit: 200 })).toBe(200)
    expect(await count({ limit: 201 })).toBe(200)
    for (const limit of [0, -5, Number.NaN, 1.9]) expect(await count({ limit })).toBe(1)
  })

  it('is read backwards and forwards in pages that meet', async () => {
    const read = await world([1, 2, 6], [3, 4, 5])
    const last = await read({ limit: 2 })
    expect(last).toMatchObject({ told: ['mail 5', 'call 6'], earlier: '3.3', later: '3.3' })
    const middle = await read({ limit: 2, before: last.earlier })
    expect(middle).toMatchObject({ told: ['mail 3', 'mail 4'], earlier: '3.1', later: '2.2' })
    const first = await read({ limit: 2, before: middle.earlier })
    expect(first).toMatchObject({ told: ['call 1', 'call 2'], earlier: undefined })
    const on = await read({ limit: 2, after: '0.0' })
    expect(on).toMatchObject({ told: ['call 1', 'call 2'], earlier: '1.1', later: '2.0' })
    expect(await read({ limit: 3, after: on.later })).toMatchObject({
      told: ['mail 3', 'mail 4', 'mail 5'],
      later: '2.3',
    })
    expect((await read({ after: '3.3' })).told).toEqual([])
  })

  it('of nothing is empty', async () => {
    expect(await (await world([], []))()).toMatchObject({ told: [], earlier: undefined, later: '0.0' })
  })

  it.each(['', 'x1.2', '1.2x', '1', '1.2.3', `${'1'.repeat(17)}.1`, `1.${'1'.repeat(17)}`])(
    'has no place %j',
    async (place) => {
      const read = await world([1], [])
      for (const wish of [{ before: place }, { after: place }])
        await expect(read(wish)).rejects.toMatchObject({
          code: 'INPUT_SCHEMA_INVALID',
          message: 'before and after are places that an earlier page gave.',
          fix: { hint: 'Leave them out for the newest part, then use its earlier and later.' },
        })
    },
  )

  it('is before or after a place', async () => {
    await expect((await world([], []))({ before: '1.1', after: '1.1' })).rejects.toThrow(
      'A part of a history is before or after a place, not both.',
    )
    const sixteen = '1'.repeat(16)
    expect((await (await world([1], [2]))({ before: `${sixteen}.${sixteen}` })).told).toEqual(['call 1', 'mail 2'])
  })
})
