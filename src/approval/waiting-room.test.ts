import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard } from './ask-board.ts'
import { ApprovalDesk } from './desk.ts'

const TEXT = 'x'.repeat(9_000_000)

function requestOf(id: string, principal?: string): ApprovalRequest {
  return {
    id,
    callId: 'call-1',
    run: 'run-1',
    tool: 'notes.save',
    input: TEXT,
    targets: [],
    rule: 'ask write:fs',
    reason: 'it writes',
    caller: 'test',
    ...(principal !== undefined && { principal }),
    requests: [],
    labels: [],
    views: [],
    history: [],
    coverage: { exact: 'this very call' },
    hash: id,
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-01T00:00:01.000Z',
  }
}

it('lets the large asks of one principal not fill the memory, and has room again when some are over', async () => {
  const clock = fakeClock()
  const store = createMemoryStore({ now: clock.now })
  const desk = new ApprovalDesk({ timeoutMs: 1000, clock, board: new AskBoard(store, clock), waitsInStore: true })
  const leave = (id: string, principal?: string) => desk.leave(requestOf(id, principal), { hash: id })
  await leave('first', 'token:ci')
  await leave('second', 'token:ci')
  const refusal = {
    code: 'RATE_LIMITED',
    message: expect.stringMatching(
      /^What token:ci asks for has 2700\d{4} characters, and at most 20000000 may wait\.$/,
    ),
  }
  await expect(leave('third', 'token:ci')).rejects.toMatchObject(refusal)
  const third = requestOf('third', 'token:ci')
  const never = new AbortController().signal
  await expect(desk.ask(third, never, { hash: 'third' })).rejects.toMatchObject(refusal)
  expect(await store.asks.find('third')).toBeUndefined()
  await leave('of another', 'token:ada')
  await leave('of the owner')
  await desk.answer('first', { decision: 'deny', by: 'ada' })
  await leave('third', 'token:ci')
  expect(desk.list().map(({ id }) => id)).toEqual(['second', 'of another', 'of the owner', 'third'])
  await desk.close()
})
