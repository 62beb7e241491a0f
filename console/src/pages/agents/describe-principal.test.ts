import { describe, expect, it } from 'vitest'
import type { PrincipalEntry } from '../../api/types.ts'
import { describeRights, describeUse } from './describe-principal.ts'

const principal = (more: Partial<PrincipalEntry>): PrincipalEntry => ({
  ...{ name: 'token:ci', kind: 'token', state: 'active', budgets: [], runs: 0, calls: 0, callers: [] },
  ...{ waiting: 0, sessions: 0, schedules: 0 },
  ...more,
})

describe('the rights of a principal', () => {
  it('of a token are its scopes, tools, folders, rules and rate', () => {
    const limits = { profile: 'coding', roots: [{ path: '/srv', mode: 'read' }], rate: { perSecond: 5 } } as const
    const token = principal({ scopes: ['call', 'read'], limits: { ...limits, roots: [...limits.roots] }, rules: 2 })
    expect(describeRights(token)).toEqual([
      'calls tools',
      'reads everything',
      'tools of the profile coding',
      'reads /srv',
      'no commands, nothing destructive',
      '2 rules of its own',
      '5 requests per second',
    ])
  })

  it('say when commands are allowed, and when a token opens nothing any more', () => {
    const may = describeRights(principal({ scopes: ['call'], limits: { allowDanger: true } }))
    expect(may).toEqual(['calls tools', 'commands and destructive calls as the rules say'])
    expect(describeRights(principal({ scopes: ['read'] }))).toEqual(['reads everything'])
    expect(describeRights(principal({ state: 'expired', scopes: ['read'] }))[0]).toContain('expired')
    expect(describeRights(principal({ state: 'gone' }))).toEqual(['nothing any more: the token was revoked'])
  })

  it('of everybody else on the machine are those of the owner', () => {
    expect(describeRights(principal({ kind: 'owner' }))).toContain('answers approvals')
    for (const kind of ['config', 'cli', 'mcp', 'program'] as const)
      expect(describeRights(principal({ kind }))).toEqual(['everything that the rules allow, as the owner of the hub'])
  })
})

it('says how much of a budget is used', () => {
  expect(describeUse({ unit: 'calls', used: 1_200, limit: 2_000 })).toBe('1,200 of 2,000 calls')
  expect(describeUse({ unit: 'wallMs', used: 90_000, limit: 600_000 })).toBe('1 min 30 s of 10 min of tool time')
})
