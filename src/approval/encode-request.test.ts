import { expect, it } from 'vitest'
import { encodeRequest, isFiledInPart } from './encode-request.ts'

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

it('files a request of 1,000,000 characters whole, and of one more both ends of its arguments', () => {
  const whole = request('x'.repeat(room))
  expect(encodeRequest(whole)).toBe(JSON.stringify(whole))
  expect(isFiledInPart(whole)).toBe(false)
  const longer = request('x'.repeat(room + 1))
  expect(JSON.parse(encodeRequest(longer)).reason).toMatch(/^it writes WARNING: the arguments have \d+ characters/)
  expect(isFiledInPart(longer)).toBe(true)
})

const inputOf = (chars: number) => 'x'.repeat(chars - '""'.length)

it.each([
  ['of 200,000 characters whole', 200_000, undefined],
  ['of one more without the one in the middle', 200_001, 1],
])('files arguments %s when the request is too long for other reasons', (_, chars, left) => {
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

it('files a long request whole that has no arguments, and warns also where there is no reason yet', () => {
  const { input: _, reason: __, ...names } = request('')
  const question = { ...names, question: 'q'.repeat(1_000_001) }
  expect(encodeRequest(question)).toBe(JSON.stringify(question))
  const nothing = { ...question, input: undefined }
  expect(encodeRequest(nothing)).toBe(JSON.stringify(nothing))
  const bare = { ...names, input: inputOf(1_000_001) }
  expect(JSON.parse(encodeRequest(bare)).reason).toMatch(/^WARNING: the arguments have 1000001 characters, and 800001 /)
})
