import { likeness } from '@tool-hub/core/lib'
import { compareIds, pageSize } from '@tool-hub/core/sql'
import { MAX_VECTORS, scopeIsFull } from '@tool-hub/features/memory/store'
import { duplicateSchedule, tooManySchedules } from '@tool-hub/features/schedules/store'
import { describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../../core/src/store/shared.ts'
import type { IndexedCall } from '../../../../core/src/store.ts'
import { APPROVAL_AGE_MS, assertFewWaiting } from './approvals.ts'
import { foldText, foldWords, MAX_SLICES, searchedText, sliceLength } from './calls.ts'
import { EVENT_AGE_MS, EventWatchers } from './events.ts'
import { amountOf, hasRoom, NOTHING_USED } from './limits.ts'

const invalid = (message: string, hint: string) =>
  expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', message, fix: { hint } })

it.each([
  [undefined, 10_000],
  [Number.NaN, 10_000],
  [-1, 0],
  [2.9, 2],
  [10_000, 10_000],
  [10_001, 10_000],
  [Number.POSITIVE_INFINITY, 10_000],
])('a list asked for %s entries has at most %d', (limit, size) => {
  expect(pageSize(limit)).toBe(size)
})

it('keeps events for an hour, and approval requests for 30 days', () => {
  expect([EVENT_AGE_MS, APPROVAL_AGE_MS]).toEqual([3_600_000, 2_592_000_000])
})

it.each([
  ['a', 'b', -1],
  ['b', 'a', 1],
  ['a', 'a', 0],
  ['Z', 'a', -1],
])('orders the ids %s and %s', (a, b, order) => {
  expect(compareIds(a, b)).toBe(order)
})

describe('a search for text', () => {
  it('takes up to 32 words of up to 200 characters, without case, NUL and empty ones', () => {
    expect(foldWords(['ÄB', '', 'a\0b'])).toEqual(['äb', 'a\ufffdb'])
    expect(foldWords(Array<string>(32).fill('x'.repeat(200)))).toHaveLength(32)
    expect(foldWords([])).toEqual([])
  })

  it.each([
    [Array<string>(33).fill('x'), 'A search has at most 32 words, not 33.'],
    [['x', 'y'.repeat(201)], 'A word to look for has at most 200 characters, not 201.'],
  ])('is refused beyond that (%#)', (words, message) => {
    expect(() => foldWords(words)).toThrow(invalid(message, 'Look for less.'))
  })

  it('looks at the tool, the caller, the purpose, the summary, the targets and the request of a call, 4,000 characters in all', () => {
    const call: IndexedCall = { callId: 'c', run: 'r', seq: 1, tool: 'T', caller: 'C', status: 'ok', startedAt: 1 }
    expect(searchedText(call)).toBe('t\nc\n\n')
    expect(searchedText({ ...call, purpose: 'For', summary: 'Sum', targets: ['/A', '/B'], request: 'Ask' })).toBe(
      't\nc\nfor\nsum\n/a\n/b\nask',
    )
    expect(searchedText({ ...call, targets: ['x'.repeat(5_000)] })).toBe(`t\nc\n\n\n${'x'.repeat(3_994)}`)
    expect(foldText('A\0')).toBe('a\ufffd')
  })
})

describe('a slice of time', () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d ms is refused', (sliceMs) => {
    expect(() => sliceLength(sliceMs)).toThrow(
      invalid(`A slice of time has a whole number of milliseconds, not ${sliceMs}.`, 'Use 60000 for a minute.'),
    )
  })

  it('has one millisecond or more, and there are at most 10,000', () => {
    expect([sliceLength(1), MAX_SLICES]).toEqual([1, 10_000])
  })
})

describe('a budget', () => {
  const used = { calls: 3, wallMs: 50, bytes: 20, cost: 2 }
  it.each([
    [{}, true],
    [{ calls: 4 }, true],
    [{ calls: 3 }, false],
    [{ calls: Number.NaN }, false],
    [{ cost: 2.5 }, true],
    [{ cost: 2.4 }, false],
    [{ cost: Number.NaN }, false],
    [{ wallMs: 51 }, true],
    [{ wallMs: 50 }, false],
    [{ wallMs: Number.NaN }, false],
    [{ bytes: 21 }, true],
    [{ bytes: 20 }, false],
    [{ bytes: Number.NaN }, false],
    [{ calls: 4, cost: 2.5, wallMs: 51, bytes: 20 }, false],
  ])('of %j has room for one more call: %s', (limits, has) => {
    expect(hasRoom(limits, used, 0.5)).toBe(has)
  })

  it.each([
    [1.5, 1.5],
    [0, 0],
    [-3, 0],
    [Number.NaN, Number.MAX_SAFE_INTEGER],
    [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
  ])('counts %d as %d', (value, amount) => {
    expect(amountOf(value)).toBe(amount)
  })

  it('begins with nothing used', () => {
    expect(NOTHING_USED).toEqual({ calls: 0, wallMs: 0, bytes: 0, cost: 0 })
  })
})

describe('vectors', () => {
  const vector = (...numbers: number[]) => Float32Array.from(numbers)
  it.each([
    [vector(1, 0), vector(1, 0), 1],
    [vector(0.5, 0.5), vector(0.5, -1), -0.25],
    [vector(2, 4), vector(8, 0.5), 18],
    [vector(1), vector(1, 0), 0],
    [vector(), vector(), 0],
  ])('are alike by the sum of their products (%#)', (a, b, sum) => {
    expect(likeness(a, b)).toBe(sum)
  })

  it('are compared for the last 5,000 notes of a scope', () => {
    expect(MAX_VECTORS).toBe(5_000)
  })
})

describe('one more approval request of a caller', () => {
  it('is allowed below the limit', () => {
    expect(() => assertFewWaiting({ caller: 'agent' }, 1, { maxWaiting: 2 })).not.toThrow()
  })

  it('is refused at the limit, with the first 200 characters of its name on one line', () => {
    const caller = `a\n${'b'.repeat(300)}`
    expect(() => assertFewWaiting({ caller }, 2, { maxWaiting: 2 })).toThrow(
      expect.objectContaining({
        code: 'RATE_LIMITED',
        retryable: true,
        message: `2 approval requests of a\\n${'b'.repeat(197)} are waiting for an answer already.`,
        fix: { hint: 'Wait until people have answered some of them, then make the call again.' },
      }),
    )
  })
})

describe('refusals say what to do', () => {
  it.each([
    [
      duplicateSchedule('nightly'),
      'CONFLICT',
      'A schedule named nightly already exists.',
      { hint: 'Change it with update, or choose another name.' },
    ],
    [
      tooManySchedules(3, 2),
      'BUDGET_EXCEEDED',
      'There are already 3 schedules; the limit is 2.',
      { key: 'schedules.most', hint: 'Remove one that nobody needs any more, or ask the owner to raise the limit.' },
    ],
    [
      scopeIsFull('agent:"x"', 5),
      'BUDGET_EXCEEDED',
      'The scope "agent:\\"x\\"" holds 5 notes, which is the limit.',
      {
        key: 'memory.limits.notes',
        hint: 'Forget notes that are no longer needed, or ask the owner to raise the limit.',
      },
    ],
  ])('%#', (error, code, message, fix) => {
    expect(error).toMatchObject({ code, message })
    expect(error.fix).toEqual(fix)
  })
})

it('emits events to those who watch, each from its own beginning, until it stops', () => {
  const watchers = new EventWatchers()
  const seen: string[] = []
  const event = (seq: number): StoredEvent => ({ seq, topic: 't', body: '', at: 0 })
  const first = watchers.add(({ seq }) => seen.push(`a${seq}`), 1)
  watchers.add(({ seq }) => seen.push(`b${seq}`), 2)
  for (const seq of [1, 2, 3]) watchers.emit(event(seq))
  expect(watchers.size).toBe(2)
  watchers.remove(first)
  watchers.emit(event(4))
  watchers.clear()
  watchers.emit(event(5))
  expect(seen).toEqual(['a2', 'a3', 'b3', 'b4'])
  expect(watchers.size).toBe(0)
})
