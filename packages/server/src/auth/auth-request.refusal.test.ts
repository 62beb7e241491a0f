import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { forbidden, refusalOf, tooOften, unauthenticated } from './auth-request.ts'

it('401 asks for a token, and says whether one came that opens nothing', () => {
  expect(unauthenticated('No token came.')).toMatchObject({
    ok: false,
    status: 401,
    error: { code: 'UNAUTHENTICATED', message: 'No token came.' },
    headers: { 'www-authenticate': 'Bearer realm="tool-hub"' },
  })
  expect(unauthenticated('Unknown.', { invalid: true, hint: 'Make a new one.' })).toMatchObject({
    error: { fix: { hint: 'Make a new one.' } },
    headers: { 'www-authenticate': 'Bearer realm="tool-hub", error="invalid_token"' },
  })
})

it('403 has a hint and no further header', () => {
  expect(forbidden('Not here.', 'Go there.')).toMatchObject({
    ok: false,
    status: 403,
    error: { code: 'FORBIDDEN', message: 'Not here.', fix: { hint: 'Go there.' } },
    headers: {},
  })
})

it.each([
  [1, '1'],
  [1_000, '1'],
  [1_001, '2'],
  [1_001_000, '1001'],
])('429 after which %i ms are to wait says so in whole seconds: %s', (waitMs, seconds) => {
  expect(tooOften('Too many', waitMs)).toMatchObject({
    ok: false,
    status: 429,
    error: { code: 'RATE_LIMITED', message: `Too many; wait ${waitMs} ms.`, details: { retryAfterMs: waitMs } },
    headers: { 'retry-after': seconds },
  })
})

it('an error is a refusal when a check said no or could not run, and a defect otherwise', () => {
  const no = new ToolError('FORBIDDEN', 'No.')
  expect(refusalOf(no)).toEqual({ ok: false, status: 403, error: no, headers: {} })
  const later = new ToolError('UPSTREAM_ERROR', 'Not now.')
  expect(refusalOf(later)).toEqual({ ok: false, status: 503, error: later, headers: { 'retry-after': '5' } })
  const others = [new ToolError('NOT_FOUND', 'x'), Object.assign(new Error('x'), { code: 'FORBIDDEN' }), 'FORBIDDEN']
  for (const defect of [...others, Object.assign(new Error('x'), { code: 'UPSTREAM_ERROR' })]) {
    let thrown: unknown
    try {
      refusalOf(defect)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBe(defect)
  }
})
