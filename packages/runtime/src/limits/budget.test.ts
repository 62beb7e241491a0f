import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { BudgetLedger, type Reservation } from './budget.ts'

const call = { run: 'r1', tool: 'notes.save', cost: 0 }

describe('BudgetLedger', () => {
  it('never lets 1,000 calls at the same time past the limit', async () => {
    const ledger = ledgerOf({ run: { calls: 100 } })
    const attempts = Array.from({ length: 1000 }, async () => {
      const reservation = ledger.reserve(call)
      await Promise.resolve()
      reservation.settle({ wallMs: 1, bytes: 1 })
    })
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
  })

  it('says which limit stopped a call, how far it was used and what to change', () => {
    const ledger = ledgerOf({ run: { calls: 1 } })
    ledger.reserve(call)
    const error = failureOf(() => ledger.reserve(call))
    expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', fix: { key: 'limits.run.calls' } })
    expect(error.message).toBe('This run has used 1 of 1 calls (limits.run.calls).')
  })

  it('names the limit that has no room, not one that has room for exactly this call', () => {
    const ledger = ledgerOf({ run: { calls: 2, cost: 5 } })
    ledger.reserve({ ...call, cost: 5 })
    expect(failureOf(() => ledger.reserve({ ...call, cost: 1 })).fix.key).toBe('limits.run.cost')
    const full = ledgerOf({ run: { cost: 5, bytes: 1 } })
    full.reserve({ ...call, cost: 4 }).settle({ wallMs: 1, bytes: 1 })
    expect(failureOf(() => full.reserve({ ...call, cost: 1 })).fix.key).toBe('limits.run.bytes')
  })

  it('counts whole calls against a limit that is none', () => {
    const ledger = ledgerOf({ run: { calls: 1.5 } })
    ledger.reserve(call)
    expect(failureOf(() => ledger.reserve(call)).message).toBe('This run has used 1 of 1.50 calls (limits.run.calls).')
  })

  it('counts runs, sessions and tools of a run apart', () => {
    const ledger = ledgerOf({ session: { calls: 3 }, tools: { 'notes.save': { calls: 1 } } })
    ledger.reserve({ ...call, session: 's' })
    expect(failureOf(() => ledger.reserve({ ...call, session: 's' })).fix.key).toBe('limits.tools["notes.save"].calls')
    ledger.reserve({ ...call, session: 's', tool: 'other' })
    ledger.reserve({ ...call, session: 's', run: 'r2' })
    expect(failureOf(() => ledger.reserve({ ...call, session: 's', run: 'r3' })).fix.key).toBe('limits.session.calls')
  })

  it('takes the run for the session of a call that has none', () => {
    const ledger = ledgerOf({ session: { calls: 1 } })
    ledger.reserve(call)
    expect(() => ledger.reserve(call)).toThrow('This session has used 1 of 1 calls')
    ledger.reserve({ ...call, run: 'r2' })
  })

  it('counts a refused call in no scope', () => {
    const ledger = ledgerOf({ run: { calls: 1 }, tools: { 'notes.save': { calls: 0 } } })
    expect(() => ledger.reserve(call)).toThrow(ToolError)
    ledger.reserve({ ...call, tool: 'other' })
  })

  it('refunds a call that never ran, once', () => {
    const ledger = ledgerOf({ run: { calls: 1, wallMs: 9, bytes: 9, cost: 5 } })
    const reservation = ledger.reserve({ ...call, cost: 5 })
    reservation.release()
    reservation.release()
    expect(reservation.settle({ wallMs: 9, bytes: 9 })).toEqual([])
    expect(ledger.reserve({ ...call, cost: 5 }).wallMs).toBe(9)
    expect(() => ledger.reserve(call)).toThrow('This run has used 1 of 1 calls')
  })

  it('refuses a call that would pass the cost limit', () => {
    const ledger = ledgerOf({ run: { cost: 1 } })
    ledger.reserve({ ...call, cost: 0.75 })
    expect(() => ledger.reserve({ ...call, cost: 0.5 })).toThrow(
      'This run has used 0.75 of 1 cost units, and this call costs 0.50 (limits.run.cost).',
    )
  })

  it('hands out the time that is left, and none once it is used up', () => {
    const ledger = ledgerOf({ run: { wallMs: 100 }, session: { wallMs: 1000 } })
    const first = ledger.reserve(call)
    expect(first.wallMs).toBe(100)
    first.settle({ wallMs: 60, bytes: 0 })
    const second = ledger.reserve(call)
    expect(second.wallMs).toBe(40)
    second.settle({ wallMs: 45, bytes: 0 })
    expect(failureOf(() => ledger.reserve(call)).fix.key).toBe('limits.run.time')
  })

  it('stops at the bytes that came back', () => {
    const ledger = ledgerOf({ run: { bytes: 10 } })
    ledger.reserve(call).settle({ wallMs: 0, bytes: 11 })
    expect(failureOf(() => ledger.reserve(call)).fix.key).toBe('limits.run.bytes')
  })

  it('tells once when three quarters of a limit are used', () => {
    const ledger = ledgerOf({ run: { calls: 4, bytes: 100 } })
    expect(ledger.reserve(call).notices).toEqual([])
    const second = ledger.reserve(call)
    expect(second.settle({ wallMs: 0, bytes: 80 })).toEqual(['This run has used 80 of 100 bytes (limits.run.bytes).'])
    expect(ledger.reserve(call).notices).toEqual(['This run has used 3 of 4 calls (limits.run.calls).'])
    expect(ledger.reserve(call).notices).toEqual([])
  })

  const used = { wallMs: 10, bytes: 10 }
  it.each([
    ['time', { wallMs: 10 }, 'This run has used 10 of 10 ms of tool time (limits.run.time).'],
    ['bytes', { bytes: 10 }, 'This run has used 10 of 10 bytes (limits.run.bytes).'],
  ] as const)('has no room for a call once exactly all %s is used', (_, run, message) => {
    const ledger = ledgerOf({ run })
    expect(ledger.reserve(call).settle(used)).toEqual([message])
    expect(failureOf(() => ledger.reserve(call)).message).toBe(message)
  })

  it('has room for a call that costs exactly what is left', () => {
    const ledger = ledgerOf({ run: { cost: 1 } })
    ledger.reserve({ ...call, cost: 0.75 })
    ledger.reserve({ ...call, cost: 0.25 })
    expect(failureOf(() => ledger.reserve({ ...call, cost: 0.01 })).details).toEqual({
      unit: 'cost',
      used: 1,
      limit: 1,
    })
  })

  it('says nothing below three quarters, and nothing about a limit of which nothing is used', () => {
    const ledger = ledgerOf({ run: { calls: 100, bytes: 100, cost: 0 } })
    expect(ledger.reserve(call).settle({ wallMs: 0, bytes: 74 })).toEqual([])
    expect(ledger.reserve(call).settle({ wallMs: 0, bytes: 1 })).toEqual([
      'This run has used 75 of 100 bytes (limits.run.bytes).',
    ])
  })

  it('is the same object for every call when nothing is limited', () => {
    const ledger = ledgerOf({ tools: { other: { calls: 1 }, 'notes.save': {} } })
    expect(ledger.reserve(call)).toBe(ledgerOf({}).reserve(call))
    expect(ledger.reserve(call).wallMs).toBe(Number.POSITIVE_INFINITY)
  })

  it('begins anew after the run has ended', async () => {
    const ledger = ledgerOf({ run: { calls: 1 } })
    ledger.reserve(call)
    await ledger.endRun('r1')
    ledger.reserve(call)
  })

  it('fails closed on numbers that are none, and gives nothing back for negative ones', () => {
    const ledger = ledgerOf({ run: { cost: 1, wallMs: 10 } })
    expect(() => ledger.reserve({ ...call, cost: Number.NaN })).toThrow(ToolError)
    ledger.reserve({ ...call, cost: -5 }).settle({ wallMs: 0, bytes: -1 })
    expect(() => ledger.reserve({ ...call, cost: 2 })).toThrow('This run has used 0 of 1 cost units')
    ledger.reserve(call).settle({ wallMs: Number.NaN, bytes: 0 })
    expect(failureOf(() => ledger.reserve(call)).fix.key).toBe('limits.run.time')
    expect(() => ledgerOf({ run: { calls: Number.NaN } }).reserve(call)).toThrow(ToolError)
  })

  it('counts a principal anew each day, or for ever', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1, 23))
    const all = new BudgetLedger({}, createMemoryStore().budgets, clock)
    const daily = all.forPrincipal({ name: 'token:ci', limits: { calls: 1 } })
    const once = all.forPrincipal({ name: 'token:ci', limits: { calls: 1 }, lasts: 'ever' })
    for (const ledger of [daily, once]) await ledger.reserve(call)
    expect(failureOf(() => daily.reserve(call)).message).toBe('token:ci today has used 1 of 1 calls (budget.calls).')
    expect(failureOf(() => once.reserve(call)).message).toBe('token:ci has used 1 of 1 calls (budget.calls).')
    await clock.advance(3_600_000)
    await daily.reserve(call)
    expect(() => once.reserve(call)).toThrow('token:ci has used 1 of 1 calls')
  })

  it('counts a run that ends only with the process by the day, and what it began with it', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 1, 23))
    const all = new BudgetLedger({ run: { calls: 2 } }, createMemoryStore().budgets, clock)
    const agent = all.forPrincipal({ name: 'token:ci', openRun: 'r1' })
    const begun = all.forPrincipal({ name: 'token:ci/s1', chargedRuns: ['r1'], isWithin: true })
    await agent.reserve(call)
    await begun.reserve({ ...call, run: 'r2' })
    const message = 'This run today has used 2 of 2 calls (limits.run.calls).'
    expect(failureOf(() => agent.reserve(call)).message).toBe(message)
    await clock.advance(3_600_000)
    await agent.reserve(call)
    for (let count = 0; count < 2; count++) await agent.reserve({ ...call, run: 'named' })
    expect(() => agent.reserve({ ...call, run: 'named' })).toThrow('This run has used 2 of 2 calls')
  })

  it('names the key as the config writes it', () => {
    const ledger = ledgerOf({ run: { calls: 1, wallMs: 10 }, shortKeys: ['calls'] })
    ledger.reserve(call).settle({ wallMs: 0, bytes: 0 })
    expect(failureOf(() => ledger.reserve(call)).fix.key).toBe('limits.calls')
    expect(ledger.reserve({ ...call, run: 'r2' }).settle({ wallMs: 10, bytes: 0 })).toEqual([
      'This run has used 10 of 10 ms of tool time (limits.run.time).',
    ])
  })

  it('takes a call from the run that began this one, too', async () => {
    const all = new BudgetLedger({ run: { calls: 2 } }, createMemoryStore().budgets, fakeClock())
    const begun = all.forPrincipal({ name: 'owner/s1', chargedRuns: ['r1', 'r1'], isWithin: true })
    await begun.reserve({ ...call, run: 'r2' })
    await all.reserve(call)
    expect(failureOf(() => begun.reserve({ ...call, run: 'r2' })).message).toBe(
      'The run r1, which began this one, has used 2 of 2 calls (limits.run.calls).',
    )
  })

  it('takes names of tools that objects have by birth', () => {
    const ledger = ledgerOf({ tools: { x: { calls: 1 } } })
    expect(ledger.reserve({ ...call, tool: 'constructor' }).notices).toEqual([])
  })
})

/** In memory nothing has to wait. */
interface InMemory extends Omit<Reservation, 'settle'> {
  settle(used: { wallMs: number; bytes: number }): readonly string[]
}

function ledgerOf(limits: ConstructorParameters<typeof BudgetLedger>[0]) {
  const ledger = new BudgetLedger(limits, createMemoryStore().budgets, fakeClock())
  return {
    reserve: (call: Parameters<BudgetLedger['reserve']>[0]) => ledger.reserve(call) as InMemory,
    endRun: (run: string) => ledger.endRun(run),
  }
}

function failureOf(work: () => unknown): ToolError {
  try {
    work()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  throw new Error('no ToolError was thrown')
}
