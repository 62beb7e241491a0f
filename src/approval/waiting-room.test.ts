import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../result.ts'
import { createMemoryStore } from '../store/memory/create-memory-store.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { AskBoard } from './ask-board.ts'
import { ApprovalDesk } from './desk.ts'
import { WaitingRoom } from './waiting-room.ts'

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

const MOST = 20_000_000

it('has room for 20,000,000 characters of each principal, and for one request of any size', () => {
  const room = new WaitingRoom()
  const leave = [room.take('ada', MOST - 1), room.take('ada', 1), room.take('bob', MOST + 1)]
  const refused = (who: string, chars: number) =>
    expect.objectContaining({
      code: 'RATE_LIMITED',
      message: `What ${who} asks for has ${chars} characters, and at most 20000000 may wait.`,
      fix: { hint: 'Wait until people have answered some of it, or make calls with smaller arguments.' },
      retryable: true,
    })
  expect(() => room.take('ada', 1)).toThrow(refused('ada', MOST + 1))
  expect(() => room.take('bob', 1)).toThrow(refused('bob', MOST + 2))
  leave[0]!()
  expect(() => room.take('ada', MOST)).toThrow(refused('ada', MOST + 1))
  room.take('ada', MOST - 1)()
  leave[1]!()
  leave[2]!()
  for (const who of ['ada', 'bob']) room.take(who, MOST + 1)
})

it('names a principal on one line, in 200 characters at most', () => {
  const room = new WaitingRoom()
  for (const who of [`a\n${'x'.repeat(197)}`, `a\n${'x'.repeat(198)}`]) {
    room.take(who, MOST)
    expect(() => room.take(who, 1)).toThrow(`What a\\n${'x'.repeat(197)} asks for`)
  }
})
