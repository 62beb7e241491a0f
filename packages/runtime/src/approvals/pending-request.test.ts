import { expect, it } from 'vitest'
import { request as approval, never, newQueue } from '../../../../test/support/approval-queue.ts'
import type { ApprovalRequest } from '../../../core/src/events.ts'
import { RequestQuota } from './pending-request.ts'
import { encodeRequest, isStoredInPart } from './stored-approvals.ts'

const request = (text: string) => ({
  id: 'approval-1',
  callId: 'call-1',
  run: 'run-1',
  tool: 'notes.save',
  caller: 'test',
  reason: 'it writes',
  input: { text },
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:00:01.000Z',
})
const room = 1_000_000 - JSON.stringify(request('')).length

it('stores a request of 1,000,000 characters whole, and of one more both ends of its arguments', () => {
  const whole = request('x'.repeat(room))
  expect(encodeRequest(whole)).toBe(JSON.stringify(whole))
  expect(isStoredInPart(whole)).toBe(false)
  const longer = request('x'.repeat(room + 1))
  expect(JSON.parse(encodeRequest(longer)).reason).toMatch(/^it writes WARNING: the arguments have \d+ characters/)
  expect(isStoredInPart(longer)).toBe(true)
})

const inputOf = (chars: number) => 'x'.repeat(chars - '""'.length)

it.each([
  ['of 200,000 characters whole', 200_000, undefined],
  ['of one more without the one in the middle', 200_001, 1],
])('stores arguments %s when the request is too long for other reasons', (_, chars, left) => {
  const long = { ...request(''), input: `${inputOf(chars - 1)}z`, reason: 'r'.repeat(1_000_000) }
  const { input, reason } = JSON.parse(encodeRequest(long))
  if (left === undefined) {
    expect({ input, reason }).toEqual({ input: long.input, reason: long.reason })
    return
  }
  const json = JSON.stringify(long.input)
  expect(input).toBe(
    `${json.slice(0, 100_000)} … 1 characters in between are not shown … ${json.slice(json.length - 100_000)}`,
  )
  expect(reason).toBe(
    `${long.reason} WARNING: the arguments have ${chars} characters, and 1 in the middle of them are not shown.`,
  )
})

it('stores a long request without arguments whole, and warns even if it has no reason yet', () => {
  const { input: _, reason: __, ...names } = request('')
  const question = { ...names, question: 'q'.repeat(1_000_001) }
  expect(encodeRequest(question)).toBe(JSON.stringify(question))
  const nothing = { ...question, input: undefined }
  expect(encodeRequest(nothing)).toBe(JSON.stringify(nothing))
  const bare = { ...names, input: inputOf(1_000_001) }
  expect(JSON.parse(encodeRequest(bare)).reason).toMatch(/^WARNING: the arguments have 1000001 characters, and 800001 /)
})

const MAX_COUNT = 20_000_000

it('has room for 20,000,000 characters of each principal, and for one request of any size', () => {
  const quota = new RequestQuota()
  const release = [quota.reserve('ada', MAX_COUNT - 1), quota.reserve('ada', 1), quota.reserve('bob', MAX_COUNT + 1)]
  const refused = (who: string, chars: number) =>
    expect.objectContaining({
      code: 'RATE_LIMITED',
      message: `The pending requests of ${who} would have ${chars} characters; the limit is 20000000.`,
      fix: { hint: 'Wait until people have answered some of it, or make calls with smaller arguments.' },
      retryable: true,
    })
  expect(() => quota.reserve('ada', 1)).toThrow(refused('ada', MAX_COUNT + 1))
  expect(() => quota.reserve('bob', 1)).toThrow(refused('bob', MAX_COUNT + 2))
  release[0]!()
  expect(() => quota.reserve('ada', MAX_COUNT)).toThrow(refused('ada', MAX_COUNT + 1))
  quota.reserve('ada', MAX_COUNT - 1)()
  release[1]!()
  release[2]!()
  for (const who of ['ada', 'bob']) quota.reserve(who, MAX_COUNT + 1)
})

it('names a principal on one line, in 200 characters at most', () => {
  const quota = new RequestQuota()
  for (const who of [`a\n${'x'.repeat(197)}`, `a\n${'x'.repeat(198)}`]) {
    quota.reserve(who, MAX_COUNT)
    expect(() => quota.reserve(who, 1)).toThrow(`The pending requests of a\\n${'x'.repeat(197)} would`)
  }
})

const TEXT = 'x'.repeat(9_000_000)

function largeRequest(id: string, principal?: string): ApprovalRequest {
  return { ...approval, id, input: TEXT, targets: [], hash: id, ...(principal !== undefined && { principal }) }
}

it('limits the memory for large requests of one principal, and has room again when some are over', async () => {
  const { queue, store } = newQueue({ waitsInStore: true })
  const leave = (id: string, principal?: string) => queue.leave(largeRequest(id, principal), { hash: id })
  await leave('first', 'token:ci')
  await leave('second', 'token:ci')
  const refusal = {
    code: 'RATE_LIMITED',
    message: expect.stringMatching(
      /^The pending requests of token:ci would have 2700\d{4} characters; the limit is 20000000\.$/,
    ),
  }
  await expect(leave('third', 'token:ci')).rejects.toMatchObject(refusal)
  const third = largeRequest('third', 'token:ci')
  await expect(queue.ask(third, never, { hash: 'third' })).rejects.toMatchObject(refusal)
  expect(await store.approvals.find('third')).toBeUndefined()
  await leave('of another', 'token:ada')
  await leave('of the owner')
  await queue.answer('first', { decision: 'deny', by: 'ada' })
  await leave('third', 'token:ci')
  expect(queue.list().map(({ id }) => id)).toEqual(['second', 'of another', 'of the owner', 'third'])
  await queue.close()
})
