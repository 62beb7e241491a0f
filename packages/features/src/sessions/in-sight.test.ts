import { createMemoryStore } from '@tool-hub/library/stores'
import { describe, expect, it } from 'vitest'
import { describeSession } from './describe-session.ts'
import type { SessionRuntime } from './live-sessions.ts'
import { inSight } from './session-handle.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { StoredSession } from './store-types.ts'
import type { HistoryEntry } from './types.ts'

const call = (tool: string) =>
  ({ type: 'call', tool, summary: 'told', at: '', callId: 'c', status: 'ok', isUntrusted: false }) as const
const mail = (from: string, to: string) =>
  ({ type: 'message', at: '', message: { from, to, text: 'x' } }) as unknown as HistoryEntry

describe('what a session is shown of a history', () => {
  const registry = {
    seen: async (_: unknown, names: readonly string[]) => new Set(names.filter((name) => name !== 'sibling')),
  } as unknown as SessionRegistry
  const entries: HistoryEntry[] = [
    ...[call('core/session.list'), call('core/fs.readText'), mail('me', 'root'), mail('owner', 'root')],
    ...[mail('sibling', 'root'), mail('root', 'sibling'), mail('root', 'owner')],
  ]
  const look = (own: number, of: number) =>
    inSight(registry, { depth: own } as StoredSession, { depth: of } as StoredSession, entries)

  it('is all of its own, and of those below it', async () => {
    expect(await look(1, 1)).toBe(entries)
    expect(await look(1, 2)).toBe(entries)
  })

  it('of one above it is nothing of those beside it', async () => {
    expect(await look(2, 1)).toEqual([
      { ...call('core/session.list'), summary: '' },
      call('core/fs.readText'),
      ...[mail('me', 'root'), mail('owner', 'root'), mail('root', 'owner')],
    ])
  })
})

describe('how a session is', () => {
  const row = {
    id: 's1',
    root: 's1',
    depth: 0,
    rootPrincipal: 'owner',
    principal: 'owner/s1',
    createdAt: 0,
    state: 'running',
  } as StoredSession
  async function look(limits: string | undefined, used: { calls: number }) {
    const asked: string[] = []
    const host = {
      store: {
        ...createMemoryStore(),
        budgets: {
          used: async (account: string) => {
            asked.push(account)
            return { wallMs: 1, cost: 2, ...used }
          },
        },
        mail: { unread: async () => 3 },
      },
    }
    const children = Array.from({ length: 51 }, (_, n) => ({ ...row, id: `c${n}` }))
    const registry = { children: async () => children, isTainted: () => true }
    const parts = { host, registry } as unknown as SessionRuntime
    const status = await describeSession(parts, { ...row, ...(limits !== undefined && { limits }) })
    return { status, asked }
  }

  it('is shown with 50 children and its unread messages', async () => {
    const { status } = await look(undefined, { calls: 0 })
    expect(status).toMatchObject({ session: { id: 's1', isTainted: true }, messages: [], unread: 3 })
    expect(status.children).toHaveLength(50)
    expect(status).not.toHaveProperty('budget')
  })

  it.each([
    [undefined, 1, 'run:s1', {}],
    ['{}', 1, 'run:s1', {}],
    ['broken', 1, 'run:s1', {}],
    ['{"calls":5}', 0, 'principal:ever:owner/s1', { calls: 5 }],
    ['{"wallMs":7,"cost":1,"other":2}', 0, 'principal:ever:owner/s1', { wallMs: 7, cost: 1 }],
  ])('with the limits %s and %i calls counts them by %s', async (text, calls, account, limits) => {
    const { status, asked } = await look(text, { calls })
    expect(asked).toEqual([account])
    expect(status.budget).toEqual({ used: { calls, wallMs: 1, cost: 2 }, limits })
  })
})
