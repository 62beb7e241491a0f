import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import type { BudgetAccountLimits, BudgetStore } from '../../../core/src/store.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { BudgetLedger, principalAccount } from './budget.ts'

const call = { run: 'r1', tool: 'notes.save', cost: 0 }
const NOW = Date.UTC(2026, 0, 1, 23)
const DAY_MS = 86_400_000

type Limits = ConstructorParameters<typeof BudgetLedger>[0]

/** A ledger over a store that notes which accounts it reserves and forgets. */
function newLedger(limits: Limits, { isAsync = false } = {}) {
  const budgets = createMemoryStore({ maxEntries: 20_000 }).budgets
  const reserved: BudgetAccountLimits[] = []
  const forgotten: string[] = []
  const store = {
    reserve: (accounts, cost) => {
      reserved.push(...accounts)
      const outcome = budgets.reserve(accounts, cost)
      return isAsync ? Promise.resolve(outcome) : outcome
    },
    settle: (accounts, used) => {
      const all = budgets.settle(accounts, used)
      return isAsync ? Promise.resolve(all) : all
    },
    release: (accounts, cost) => budgets.release(accounts, cost),
    forget: (account) => {
      forgotten.push(account)
      return budgets.forget(account)
    },
  } as BudgetStore
  const clock = fakeClock(NOW)
  return { clock, reserved, forgotten, ledger: new BudgetLedger(limits, store, clock) }
}

async function refusalOf(work: () => unknown): Promise<ToolError> {
  try {
    await work()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  throw new Error('no ToolError was thrown')
}

describe('accounts', () => {
  it('are named by what they count, and kept for 30 days', async () => {
    const limits = { run: { calls: 9 }, session: { calls: 9 }, tools: { 'notes.save': { calls: 9 } } }
    const { ledger, reserved } = newLedger(limits)
    const daily = ledger.forPrincipal({ name: 'token:ci', limits: { calls: 9 } })
    await daily.forPrincipal({ name: 'once', limits: { calls: 9 }, lasts: 'ever' }).reserve({ ...call, session: 's1' })
    expect(reserved.map(({ account }) => account)).toEqual([
      'run:r1',
      'tool:r1:notes.save',
      'session:["token:ci","s1"]',
      'principal:2026-01-01:token:ci',
      'principal:ever:once',
    ])
    expect(reserved.map(({ expiresAt }) => expiresAt)).toEqual(Array(5).fill(NOW + 30 * DAY_MS))
    expect(principalAccount('token:ci', NOW + 3_600_000)).toBe('principal:2026-01-02:token:ci')
  })

  it('of a session belong to the principal that began it, and to no other', async () => {
    const { ledger } = newLedger({ session: { calls: 2 } })
    const mine = { ...call, session: 's1' }
    const ci = ledger.forPrincipal({ name: 'token:ci' })
    await ci.reserve(mine)
    await ledger.forPrincipal({ name: 'token:ada' }).reserve(mine)
    await ci.forPrincipal({ name: 'token:ci/s2', isWithin: true }).reserve(mine)
    const refusal = await refusalOf(() => ci.reserve(mine))
    expect(refusal.message).toBe('This session has used 2 of 2 calls (limits.session.calls).')
    await ledger.forPrincipal({ name: 'token:ada' }).reserve(mine)
  })

  it('of a tool say which tool it is, today where its run has no end', async () => {
    const { ledger } = newLedger({ tools: { 'notes.save': { calls: 1 } } })
    await ledger.reserve(call)
    expect((await refusalOf(() => ledger.reserve(call))).message).toBe(
      'notes.save in this run has used 1 of 1 calls (limits.tools["notes.save"].calls).',
    )
    const agent = ledger.forPrincipal({ name: 'token:ci', openRun: 'open' })
    await agent.reserve({ ...call, run: 'open' })
    expect((await refusalOf(() => agent.reserve({ ...call, run: 'open' }))).message).toMatch(
      /^notes\.save in this run today has used 1 of 1 calls/,
    )
  })

  it('of a run that has ended are forgotten, also of its days', async () => {
    const { ledger, forgotten } = newLedger({ run: { calls: 1 }, tools: { x: { calls: 1 } } })
    await ledger.endRun('r1')
    expect(forgotten).toEqual(['run:r1', 'tool:r1:x'])
    const agent = ledger.forPrincipal({ name: 'token:ci', openRun: 'open' })
    await agent.endRun('open')
    const ofOpen = ['run:open', 'tool:open:x', 'run:open:2026-01-01', 'tool:open:2026-01-01:x']
    expect(forgotten.slice(2)).toEqual(ofOpen)
    const none = newLedger({})
    await none.ledger.endRun('r1')
    expect(none.forgotten).toEqual([])
  })

  it('charge the run that began this one for all its days, and for today', async () => {
    const { ledger, reserved } = newLedger({ run: { calls: 9 } })
    const agent = ledger.forPrincipal({ name: 'token:ci', openRun: 'open' })
    await agent.forPrincipal({ name: 'token:ci/s1', chargedRuns: ['open'] }).reserve(call)
    expect(reserved.map(({ account }) => account)).toEqual(['run:r1', 'run:open', 'run:open:2026-01-01'])
  })
})

describe('limits', () => {
  const amounts = { calls: 1, wallMs: 10, bytes: 10, cost: 5 }
  it.each([
    ['calls', 'calls', '1 of 1 calls'],
    ['wallMs', 'time', '10 of 10 ms of tool time'],
    ['bytes', 'bytes', '10 of 10 bytes'],
    ['cost', 'cost', '5 of 5 cost units, and this call costs 5'],
  ] as const)('of a tool may be about its %s alone', async (unit, key, used) => {
    const { ledger } = newLedger({ tools: { 'notes.save': { [unit]: amounts[unit] } } })
    const reservation = await ledger.reserve({ ...call, cost: 5 })
    await reservation.settle({ wallMs: 10, bytes: 10 })
    const refusal = await refusalOf(() => ledger.reserve({ ...call, cost: 5 }))
    const path = `limits.tools["notes.save"].${key}`
    expect(refusal).toMatchObject({
      code: 'BUDGET_EXCEEDED',
      message: `notes.save in this run has used ${used} (${path}).`,
      fix: { key: path, hint: `Finish with what there is, or have the owner raise ${path}.` },
      details: { unit, used: amounts[unit], limit: amounts[unit] },
    })
  })

  it('of a principal alone count, and those of nobody are the same for all calls', async () => {
    const { ledger } = newLedger({})
    const free = await ledger.forPrincipal({ name: 'token:ci' }).reserve(call)
    expect(free).toBe(await ledger.reserve(call))
    expect([free.notices, await free.settle({ wallMs: 1, bytes: 1 }), await free.release()]).toEqual([
      [],
      [],
      undefined,
    ])
    const limited = ledger.forPrincipal({ name: 'token:ci', limits: { wallMs: 50 } })
    expect((await limited.reserve(call)).wallMs).toBe(50)
  })

  it('hold also where the store takes its time', async () => {
    const { ledger } = newLedger({ run: { calls: 1, wallMs: 8 } }, { isAsync: true })
    const reserving = ledger.reserve(call)
    expect(reserving).toBeInstanceOf(Promise)
    const reservation = await reserving
    expect(reservation.notices).toEqual(['This run has used 1 of 1 calls (limits.run.calls).'])
    const settling = reservation.settle({ wallMs: 6, bytes: 0 })
    expect(settling).toBeInstanceOf(Promise)
    expect(await settling).toEqual(['This run has used 6 of 8 ms of tool time (limits.run.time).'])
    expect(await reservation.settle({ wallMs: 6, bytes: 0 })).toEqual([])
    expect((await refusalOf(() => ledger.reserve(call))).code).toBe('BUDGET_EXCEEDED')
  })
})

describe('notices', () => {
  it('come again when the run has ended and begins anew', async () => {
    const { ledger } = newLedger({ run: { calls: 1 } })
    const notices = ['This run has used 1 of 1 calls (limits.run.calls).']
    expect((await ledger.reserve(call)).notices).toEqual(notices)
    await ledger.endRun('r1')
    expect((await ledger.reserve(call)).notices).toEqual(notices)
  })

  it('come once for the 10,000 runs that were used last', async () => {
    const { ledger } = newLedger({ run: { calls: 4 } })
    const reserve = async (run: string) => (await ledger.reserve({ ...call, run })).notices
    const notice = (used: number) => [`This run has used ${used} of 4 calls (limits.run.calls).`]
    for (const run of ['a', 'b']) {
      for (let index = 0; index < 2; index++) await reserve(run)
      expect(await reserve(run)).toEqual(notice(3))
    }
    for (let index = 0; index < 9_999; index++) await reserve(`r${index}`)
    expect(await reserve('b')).toEqual([])
    expect(await reserve('a')).toEqual(notice(4))
  })
})
