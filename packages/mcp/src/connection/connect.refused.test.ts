import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { nameServerPlace } from './connect.ts'

const url = new URL('http://127.0.0.1:9/mcp?key=1')
const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
const failure = (cause: unknown, retryable = true) =>
  new ToolError('UPSTREAM_ERROR', 'No connection', { cause, retryable })
const wrap = (error: Error, times: number): Error =>
  times === 0 ? error : new Error('wrapped', { cause: wrap(error, times - 1) })

it('says where nobody listens, without the query', () => {
  for (const retryable of [true, false]) {
    const known = failure(refused, retryable)
    for (const thrown of [known, new TypeError('fetch failed', { cause: known })]) {
      expect(nameServerPlace(thrown, url)).toMatchObject({
        code: 'UPSTREAM_ERROR',
        message: 'No connection',
        fix: { hint: 'Is the server running at http://127.0.0.1:9/mcp? Correct the url in tool-hub.yaml.' },
        retryable,
        cause: known,
      })
    }
  }
})

it('looks for the refusal up to four causes deep', () => {
  expect(nameServerPlace(failure(wrap(refused, 3)), url)).toMatchObject({
    fix: { hint: expect.stringContaining('running at') },
  })
  const tooDeep = failure(wrap(refused, 4))
  expect(nameServerPlace(tooDeep, url)).toBe(tooDeep)
})

it('leaves every other error as it came', () => {
  const reset = failure(Object.assign(new Error('read'), { code: 'ECONNRESET' }))
  for (const thrown of [reset, failure(undefined), failure({ code: 'ECONNREFUSED' }), refused, 'text', undefined]) {
    expect(nameServerPlace(thrown, url)).toBe(thrown)
  }
})
