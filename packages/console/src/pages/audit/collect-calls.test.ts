import { expect, it } from 'vitest'
import type { CallEntry } from '../../api/types.ts'
import { collectCalls } from './collect-calls.ts'

const call = (number: number): CallEntry => ({
  ...{ callId: `c${number}`, run: 'r', seq: 1, tool: 't', caller: 'c', status: 'ok', startedAt: number },
  ...(number % 2 === 0 && { approvedBy: 'ada' }),
})
/** So many calls, newest first. */
const pagesOf = (total: number) => {
  const asked: (number | undefined)[] = []
  const load = async ({ limit, before = total + 1 }: { limit: number; before?: number }) => {
    asked.push(before)
    const calls = Array.from({ length: Math.min(limit, before - 1) }, (_, index) => call(before - 1 - index))
    const last = calls.at(-1)?.startedAt ?? 1
    return { calls, ...(last > 1 && { next: last }) }
  }
  return { load, asked }
}

it('goes through all pages, and leaves out what does not fit', async () => {
  const { load } = pagesOf(1_200)
  const { calls, isCut } = await collectCalls(load, { since: 0, fits: ({ approvedBy }) => approvedBy !== undefined })
  expect([calls.length, calls[0]?.callId, calls.at(-1)?.callId, isCut]).toEqual([600, 'c1200', 'c2', false])
})

it('asks for no page beyond the span of time', async () => {
  const { load, asked } = pagesOf(5_000)
  const { calls, isCut } = await collectCalls(load, { since: 4_400, fits: () => true })
  expect([calls.length, asked.length, isCut]).toEqual([601, 2, false])
})

it('stops at 10,000 calls, and says so', async () => {
  const { calls, isCut } = await collectCalls(pagesOf(12_000).load, { since: 0, fits: () => true })
  expect([calls.length, isCut]).toEqual([10_000, true])
})
