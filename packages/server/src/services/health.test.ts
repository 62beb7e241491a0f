import { ToolError } from '@tool-hub/core/errors'
import { createMemoryStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../../../../test/support/eventually.ts'
import type { IndexedCall } from '../../../core/src/store.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { principalAccount } from '../../../runtime/src/limits/budget.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { testHub } from '../../../testing/src/tool-contract.ts'
import { describeHealth } from './health.ts'

let goOn = () => {}
const waits = defineTool({
  name: 'test.waits',
  description: 'Waits until the test continues.',
  input: z.strictObject({}),
  execute: () =>
    new Promise<string>((resolve) => {
      goOn = () => resolve('done')
    }),
})
const hub = testHub({ tools: [waits] })
afterAll(() => hub.close())
const clock = fakeClock()
const now = clock.now()
const call = (callId: string, more: Partial<IndexedCall>): IndexedCall => {
  return { callId, run: 'r', seq: 1, tool: 'a.b', caller: 'ada', status: 'ok', startedAt: now - 1_000, ...more }
}

describe('describeHealth', () => {
  it('counts the last hour by minute and by tool', async () => {
    const store = createMemoryStore()
    await store.calls.put({
      calls: [
        call('c-1', { durationMs: 10 }),
        call('c-2', { durationMs: 30, status: 'denied' }),
        call('c-3', { status: 'running' }),
        call('c-4', { tool: 'c.d', startedAt: now - 600_000, durationMs: 5 }),
        call('c-5', { tool: 'old', startedAt: now - 4_000_000, durationMs: 5 }),
      ],
      runs: [],
    })
    const health = await describeHealth({ hub, store, startedAt: now - 5_000, clock })
    expect(health.slices).toHaveLength(60)
    expect(health.slices.reduce((sum, { calls }) => sum + calls, 0)).toBe(4)
    expect(health.tools).toEqual([
      { tool: 'a.b', calls: 3, failures: 0, denials: 1, callerErrors: 0, meanMs: 20 },
      { tool: 'c.d', calls: 1, failures: 0, denials: 0, callerErrors: 0, meanMs: 5 },
    ])
    expect(health).toMatchObject({ uptimeMs: 5_000, inFlight: 0, waiting: 0, store: { ok: true } })
    expect(health.sandbox.level).toMatch(/^(full|namespaces|none)$/)
    expect(health.memoryBytes).toBeGreaterThan(1_000_000)
  })

  it('counts as failures of a tool only what shows that it does not work', async () => {
    const store = createMemoryStore()
    const ends = [
      ['error', 'INPUT_SCHEMA_INVALID'],
      ['error', 'NOT_FOUND'],
      ['error', 'CONFLICT'],
      ['aborted', 'ABORTED'],
      ['denied', 'POLICY_DENIED'],
      ['denied', 'PATH_OUTSIDE_SANDBOX'],
      ['approval_required', 'APPROVAL_TIMEOUT'],
      ['error', 'TOOL_FAILED'],
      ['error', 'INTERNAL'],
      ['timeout', 'TIMEOUT'],
      ['error', 'OUT_OF_RESOURCES'],
      ['interrupted', undefined],
    ] as const
    const calls = ends.map(([status, error], index) => call(`c-${index}`, { status, ...(error && { error }) }))
    await store.calls.put({ calls, runs: [] })
    const counts = { calls: 12, failures: 5, denials: 3, callerErrors: 4 }
    const { tools, slices } = await describeHealth({ hub, store, startedAt: now, clock })
    expect(tools).toMatchObject([{ tool: 'a.b', ...counts }])
    expect(slices.filter((slice) => slice.calls > 0)).toMatchObject([counts])
  })

  it('counts what is under way, and what waits for a person', async () => {
    const store = createMemoryStore()
    const ask = { callId: 'c', run: 'r', tool: 't', caller: 'ada', hash: 'h', request: '{}', owner: 'o' }
    await store.approvals.file({ ...ask, id: 'a-1', kind: 'approval', askedAt: now, expiresAt: now + 1_000 })
    const calling = hub.callDynamic('test.waits', {})
    await eventually(async () => {
      const { inFlight, waiting } = await describeHealth({ hub, store, startedAt: now, clock })
      expect({ inFlight, waiting }).toEqual({ inFlight: 1, waiting: 1 })
    })
    goOn()
    await calling
  })

  it('tells what principals have used of their day, and how MCP servers are', async () => {
    const store = createMemoryStore()
    const account = principalAccount('token:ci', now)
    await store.budgets.reserve([{ account, limits: { calls: 10 } }], 2)
    const { budgets, servers } = await describeHealth({
      hub,
      store,
      startedAt: now,
      clock,
      principals: () => [{ name: 'token:ci', budget: { calls: 10, cost: 5 } }, { name: 'token:free' }],
      servers: () => [
        { name: 'files', state: 'connected', tools: ['mcp/files.read'], leftOut: [], changed: ['mcp/files.read'] },
        { name: 'away', state: 'down', tools: [], leftOut: [], problem: new ToolError('TIMEOUT', 'no\u001banswer') },
      ],
    })
    expect(budgets).toEqual([
      { account: 'token:ci', unit: 'calls', used: 1, limit: 10 },
      { account: 'token:ci', unit: 'cost', used: 2, limit: 5 },
    ])
    expect(servers).toEqual([
      { name: 'files', state: 'connected', tools: 1, changed: 1 },
      { name: 'away', state: 'down', tools: 0, problem: 'no\\u{1b}answer' },
    ])
  })

  it('tells what is wrong with the store and the sandbox, and the rest all the same', async () => {
    const broken = () => {
      throw new Error('disk full')
    }
    const store = { ...createMemoryStore(), check: async () => broken() }
    store.calls.rates = broken
    store.approvals.list = broken
    const {
      store: state,
      sandbox,
      slices,
    } = await describeHealth({
      hub: { metrics: () => hub.metrics(), describeSandbox: async () => broken() },
      store,
      startedAt: now,
      clock,
    })
    expect(state).toEqual({ ok: false, problem: 'disk full' })
    expect(sandbox).toEqual({ level: 'unknown', problem: 'disk full' })
    expect(slices).toEqual([])
  })
})
