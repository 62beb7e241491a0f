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
