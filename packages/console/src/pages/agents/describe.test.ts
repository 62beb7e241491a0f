import { describe, expect, it } from 'vitest'
import type { AgentEntry, PrincipalEntry } from '../../api/types.ts'
import { describeBudget, describeRights, describeUse, orderAsTree } from './describe.ts'

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
      'no commands or destructive calls',
      '2 own rules',
      '5 requests per second',
    ])
  })

  it('say when commands are allowed, and when a token opens nothing any more', () => {
    const may = describeRights(principal({ scopes: ['call'], limits: { allowDanger: true } }))
    expect(may).toEqual(['calls tools', 'commands and destructive calls as the rules allow'])
    expect(describeRights(principal({ scopes: ['read'] }))).toEqual(['reads everything'])
    expect(describeRights(principal({ state: 'expired', scopes: ['read'] }))[0]).toContain('expired')
    expect(describeRights(principal({ state: 'gone' }))).toEqual(['nothing: the token was revoked'])
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

describe('the budget of an agent', () => {
  it('says what was used of what there is', () => {
    const used = { calls: 3, wallMs: 90_000, cost: 0.5 }
    expect(describeBudget({ used, limits: { calls: 50, wallMs: 3_600_000, cost: 2 } })).toBe(
      '3 of 50 calls, 1 min 30 s of 1 h, cost 0.5 of 2',
    )
  })

  it('leaves out what has no limit, and costs where nothing has one', () => {
    expect(describeBudget({ used: { calls: 1, wallMs: 0, cost: 0 }, limits: {} })).toBe('1 call, 0 ms')
  })
})

const agent = (id: string, parent?: string): AgentEntry => ({
  id,
  root: 'a',
  state: 'running',
  createdAt: '2026-11-16T10:00:00Z',
  isTainted: false,
  ...(parent !== undefined && { parent }),
})
const draw = (agents: readonly AgentEntry[]) =>
  orderAsTree(agents).map((row) => `${'-'.repeat(row.depth)}${row.agent.id}`)

describe('the tree of agents', () => {
  it('has each below the one that began it, in the order given', () => {
    expect(draw([agent('d', 'b'), agent('c'), agent('b', 'a'), agent('e', 'a'), agent('a')])).toEqual([
      'c',
      'a',
      '-b',
      '--d',
      '-e',
    ])
  })

  it('lets one stand by itself whose parent is not shown, or is itself', () => {
    expect(draw([agent('b', 'elsewhere'), agent('c', 'c')])).toEqual(['b', 'c'])
  })

  it('leaves nobody out where two would have begun each other', () => {
    expect(draw([agent('a', 'b'), agent('b', 'a')])).toEqual(['a', 'b'])
  })
})
