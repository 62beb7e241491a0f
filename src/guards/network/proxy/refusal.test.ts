import { describe, expect, it } from 'vitest'
import { ToolError } from '../../../errors.ts'
import { isRefusal, toRefusal } from './refusal.ts'

describe('what a client is told', () => {
  it.each([
    ['INPUT_SCHEMA_INVALID', 400, true],
    ['HTTP_DISALLOWED_HOST', 403, true],
    ['POLICY_DENIED', 403, true],
    ['HTTP_TOO_LARGE', 403, true],
    ['UPSTREAM_ERROR', 502, false],
    ['ABORTED', 502, false],
    ['HTTP_TIMEOUT', 504, false],
  ] as const)('has for %s the status %d', (code, status, isNo) => {
    const error = new ToolError(code, 'a.example says no.', { hint: 'Do this.' })
    expect(toRefusal(error, 'a.example')).toEqual({
      status,
      reason: 'a.example says no.',
      text: 'tool-hub: a.example says no. Do this.',
    })
    expect(isRefusal(error)).toBe(isNo)
  })

  it('says nothing of a failure that nobody expected', () => {
    expect(toRefusal(new TypeError('secret'), 'a.example')).toEqual({
      status: 500,
      reason: 'a.example: The proxy failed.',
      text: 'tool-hub: a.example: The proxy failed.',
    })
    expect(isRefusal(new TypeError('x'))).toBe(false)
  })

  it('is one line, in ASCII and short for the status line', () => {
    const error = new ToolError('POLICY_DENIED', `no\r\n\u2028ä${'x'.repeat(300)}`, { hint: 'Ä\nb.' })
    const { reason, text } = toRefusal(error, 'no')
    expect(reason).toBe(`no ?${'x'.repeat(196)}`)
    expect(text).toBe(`tool-hub: no ä${'x'.repeat(300)} Ä b.`)
  })
})
