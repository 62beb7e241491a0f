import { describe, expect, it } from 'vitest'
import { isUnknown, LOOK_THERE, refusedBy } from './send-errors.ts'

const redact = (text: string) => text.replaceAll('hunter2', '[redacted]')
const refusal = (
  answer: { status?: number; headers?: Record<string, string>; text?: string },
  said: Partial<Parameters<typeof refusedBy>[1]> = {},
) => {
  const { status = 429, headers = {}, text = '' } = answer
  return refusedBy({ status, headers: new Headers(headers), text }, { channel: 'ops', redact, ...said })
}
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT'

describe('how long a channel wants to be left alone', () => {
  it.each([
    ['30', {}, 30_000],
    ['0', {}, 0],
    ['0.0015', {}, 2],
    ['9999999', {}, 86_400_000],
    ['86400', {}, 86_400_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', { date: DATE }, 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', { date: DATE }, 0],
  ])('retry-after: %s is %j, %i ms', (value, headers, retryAfterMs) => {
    const error = refusal({ headers: { ...headers, 'retry-after': value } })
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      message: `The channel ops takes no more messages for now (429); wait ${retryAfterMs} ms.`,
      retryable: true,
      details: { retryAfterMs, words: '' },
    })
  })

  it.each(['', 'soon', '30s', 'x30', '12345678', '1.1234567', 'Thu, 01 Jan 2026 00:01:00 GMT'])(
    'is not said by retry-after: %j alone',
    (value) => {
      const error = refusal({ headers: { 'retry-after': value } })
      expect(error.message).toBe('The channel ops takes no more messages for now (429); wait a while.')
      expect(error.details).toEqual({ retryAfterMs: undefined, words: '' })
    },
  )

  it('is what it says in its own words first', () => {
    const error = refusal({ headers: { 'retry-after': '30' } }, { retryAfterSeconds: 1.5, words: 'Slow down' })
    expect(error.message).toBe('The channel ops takes no more messages for now (429); wait 1500 ms: Slow down.')
  })
})

describe('what a channel says instead of taking a message', () => {
  it('is reported without secrets and on one line', () => {
    const error = refusal({ status: 403, text: ' no\nhunter2 ' })
    expect(error).toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'The channel ops refused it (403): no\\n[redacted].',
      retryable: false,
      fix: { hint: 'Nothing was delivered. Follow its message, or ask the owner to check the channel.' },
      details: { status: 403, words: 'no\\n[redacted]', isUnknown: false },
    })
  })

  it('is cut after 300 characters', () => {
    expect(refusal({ status: 403, text: 'x'.repeat(301) }).details?.words).toBe('x'.repeat(300))
    // A secret that is cut in the middle could not be found any more.
    expect(refusal({ status: 403, text: `${'hunter2'.repeat(40)}${'x'.repeat(920)}y` }).details?.words).toHaveLength(
      300,
    )
    expect(refusal({ status: 403, text: `${' '.repeat(1_199)}ab` }).details?.words).toBe('a')
  })

  it('may have another status than its answer', () => {
    const error = refusal({ status: 200, text: 'all' }, { status: 400, words: 'chat not found' })
    expect(error.message).toBe('The channel ops refused it (400): chat not found.')
  })

  it.each([
    [200, true],
    [299, true],
    [300, false],
    [404, false],
    [499, false],
    [500, true],
    [503, true],
  ])('leaves it open with %i whether the message arrived: %s', (status, isOpen) => {
    const error = refusal({ status })
    expect(isUnknown(error)).toBe(isOpen)
    expect(error.fix.hint === LOOK_THERE).toBe(isOpen)
  })
})
