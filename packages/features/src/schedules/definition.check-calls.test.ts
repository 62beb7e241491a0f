import type { CallPort } from '@tool-hub/core/feature'
import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../core/src/principal.ts'
import { checkCalls } from './definition.ts'
import { presentRights } from './execute-calls.ts'

/** Tries calls whose second one fails with a code. */
async function trying(
  code: string,
  calls: unknown = [{ tool: 'a' }, { tool: 'b', input: 7 }, { tool: 'c' }],
  run?: string,
) {
  const asked: unknown[] = []
  const call = async (...given: unknown[]) => {
    asked.push(given)
    const error = { code, message: 'No.', fix: { key: 'k', hint: 'h' } }
    return asked.length === 2 ? { ok: false, error } : { ok: true }
  }
  const outcome = await checkCalls(calls, { call } as unknown as CallPort, run).catch((error: unknown) => error)
  return { asked, outcome }
}

describe('the calls of a new schedule', () => {
  it.each(['TOOL_NOT_FOUND', 'TOOL_DISABLED', 'INPUT_SCHEMA_INVALID', 'POLICY_DENIED'])(
    'are refused when one would always fail with %s',
    async (code) => {
      const { asked, outcome } = await trying(code)
      expect(outcome).toMatchObject({ code, message: 'Call 2 would fail: No.', fix: { key: 'k', hint: 'h' } })
      expect(asked).toHaveLength(2)
    },
  )

  it.each(['UPSTREAM_ERROR', 'APPROVAL_UNAVAILABLE', 'RATE_LIMITED', 'BUDGET_EXCEEDED'])(
    'may fail with %s now, and not then',
    async (code) => {
      const { asked, outcome } = await trying(code)
      expect(outcome).toBeUndefined()
      expect(asked).toEqual([
        ['a', {}, { dryRun: true }],
        ['b', 7, { dryRun: true }],
        ['c', {}, { dryRun: true }],
      ])
    },
  )

  it('are tried in the run of the call, and other checks report what is not a list of calls', async () => {
    expect((await trying('X', [{ tool: 'a' }], 'r1')).asked).toEqual([['a', {}, { dryRun: true, run: 'r1' }]])
    expect((await trying('X', 'calls')).asked).toEqual([])
  })
})

describe('rights that were captured', () => {
  const then: Principal = { name: 'token:ci', policy: [{ ask: 'far' }], budget: { calls: 3 } }
  const look = (principal: Principal | undefined, now?: Principal) =>
    presentRights({ caller: 'me', ...(principal && { principal }) }, { principalNow: () => now })

  it('are those of the owner where nobody else has them', async () => {
    expect(await look(undefined)).toEqual({ ok: true, rights: { caller: 'me' } })
  })

  it('are what they were where nothing has changed', async () => {
    expect(await look(then, { ...then })).toEqual({ ok: true, rights: { caller: 'me', principal: then } })
  })

  it('are what holds now, within what held then, and counted once', async () => {
    const now: Principal = { name: 'token:ci', budget: { calls: 9 } }
    const outer: Principal = { name: 'token:outer', policy: [] }
    const captured: Principal = {
      ...then,
      rate: { perSecond: 1 },
      budgetFor: 'ever',
      chargedRuns: ['r'],
      within: { ...outer, budget: { calls: 1 } },
    }
    const held = { name: 'token:ci', policy: [{ ask: 'far' }], within: outer }
    expect(await look(captured, now)).toEqual({
      ok: true,
      rights: { caller: 'me', principal: { ...now, within: held } },
    })
    expect(await look(captured, { ...now, within: outer })).toEqual({
      ok: true,
      rights: { caller: 'me', principal: { ...now, within: { ...outer, within: held } } },
    })
  })

  it('are none when the principal is gone, or has other folders', async () => {
    expect(await look(then)).toEqual({
      ok: false,
      why: 'token:ci, who owns the schedule, no longer exists or may no longer make calls.',
      isForGood: true,
    })
    expect(await look(then, { ...then, roots: [{ path: '/srv', mode: 'read' }] })).toEqual({
      ok: false,
      why: 'The folders of token:ci have changed since the schedule was created. Create it again.',
      isForGood: false,
    })
  })
})
