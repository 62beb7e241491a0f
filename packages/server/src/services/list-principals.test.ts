import { createMemoryStore } from '@tool-hub/library/stores'
import { expect, it } from 'vitest'
import type { TokenEntry } from '../../../core/src/protocol/service.ts'
import type { IndexedCall } from '../../../core/src/store.ts'
import { principalAccount } from '../../../runtime/src/limits/budget.ts'
import { listPrincipals } from './list-principals.ts'

const NOW = Date.parse('2026-11-16T12:00:00Z')
const call = (callId: string, run: string, more: Partial<IndexedCall>): IndexedCall => ({
  ...{ callId, run, seq: 1, tool: 't', caller: 'c', status: 'ok', startedAt: NOW - 1_000 },
  ...more,
})
const token = (name: string, more: Partial<TokenEntry> = {}): TokenEntry => ({
  ...{ id: `token-${name}`, name, scopes: ['call'], createdAt: 1 },
  ...more,
})

async function worldOfPrincipals() {
  const store = createMemoryStore()
  await store.calls.put({
    calls: [
      call('a', 'run-1', { caller: 'token:coder', principal: 'token:coder' }),
      call('b', 'run-2', { caller: 'mcp:claude-code', principal: 'token:coder' }),
      call('c', 'run-3', { caller: 'session:reader', principal: 'token:coder/run-3', startedAt: NOW }),
      call('d', 'run-4', { caller: 'cli:anna' }),
      call('e', 'run-5', { caller: 'token:old', principal: 'token:old', startedAt: NOW - 9_000 }),
      call('f', 'cron-1', { caller: 'config' }),
    ],
    runs: [],
  })
  const ask = { kind: 'approval', callId: 'a', run: 'run-1', tool: 't', hash: 'h', request: '{}', owner: 'o' } as const
  await store.approvals.file({ ...ask, id: '1', caller: 'token:coder', askedAt: NOW, expiresAt: NOW + 9 })
  await store.approvals.file({ ...ask, id: '2', caller: 'token:coder/run-3', askedAt: NOW, expiresAt: NOW + 9 })
  await store.approvals.file({ ...ask, id: '3', caller: 'token:coder', askedAt: 1, expiresAt: 2 })
  await store.sessions.add({
    ...{ id: 'run-3', root: 'run-1', depth: 1, rootPrincipal: 'token:coder', runner: 'r', isTainted: false },
    ...{ createdAt: NOW, owner: 'o' },
  })
  return store
}

it('has one entry for each principal: its rights, budget, runs, clients and what waits', async () => {
  const store = await worldOfPrincipals()
  const account = principalAccount('token:coder', NOW)
  await store.budgets.reserve([{ account, limits: { calls: 10 } }], 0)
  const limits = { profile: 'coding', budget: { calls: 10 }, roots: [{ path: '/srv', mode: 'read' }] } as const
  const coder = token('coder', { ...limits, roots: [...limits.roots], policy: [{ deny: 'exec' }], usedAt: NOW - 5 })
  const found = await listPrincipals({ store, tokens: [coder], now: NOW })
  expect(found.find(({ name }) => name === 'token:coder')).toEqual({
    name: 'token:coder',
    kind: 'token',
    state: 'active',
    scopes: ['call'],
    limits: { profile: 'coding', roots: [{ path: '/srv', mode: 'read' }], rate: undefined, allowDanger: undefined },
    rules: 1,
    budgets: [{ unit: 'calls', used: 1, limit: 10 }],
    lastAt: NOW,
    runs: 3,
    calls: 3,
    callers: ['mcp:claude-code'],
    waiting: 2,
    sessions: 1,
    schedules: 0,
  })
  expect(JSON.stringify(found)).not.toContain('token-coder')
})

it('lists the owner, tokens that were never used, revoked and expired ones, and callers without a principal', async () => {
  const store = await worldOfPrincipals()
  const tokens = [token('coder'), token('idle'), token('late', { expiresAt: NOW })]
  const found = await listPrincipals({ store, tokens, now: NOW })
  expect(found.map(({ name, kind, state, runs }) => `${name} ${kind} ${state} ${runs}`)).toEqual([
    'token:coder token active 3',
    'cli:anna cli active 1',
    'config config active 1',
    'token:old token gone 1',
    'owner owner active 0',
    'token:idle token active 0',
    'token:late token expired 0',
  ])
})
