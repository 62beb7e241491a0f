import { ToolError } from '@tool-hub/core/errors'
import { expect, it, vi } from 'vitest'
import { useLoopback } from '../../../../../test/support/loopback.ts'
import { type FakeClock, fakeClock } from '../../../../testing/src/fake-clock.ts'
import { isPassingFailure, isPassingStatus, maxRetries, waitBeforeRetryMs } from './guarded-request.ts'

const local = useLoopback()

/** Answers with one of these after the other, the last one for ever. */
function answers(...statuses: (number | 'reset' | 'break')[]) {
  const asked: string[] = []
  local.answer = (request, response) => {
    const status = statuses[Math.min(asked.length, statuses.length - 1)]!
    asked.push(`${request.method} ${request.headers['idempotency-key'] ?? ''}`.trim())
    if (status === 'reset') return void response.socket!.resetAndDestroy()
    if (status === 'break')
      return void response.writeHead(200, { 'content-length': 9 }).write('part', () => response.destroy())
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end(`said ${status}`)
  }
  return asked
}
let retryAfter: string | undefined

/** Lets time pass whenever the request pauses, until it is over; gives the pauses. */
async function passing<T>(clock: FakeClock, request: Promise<T>): Promise<{ result: T; pausedMs: number }> {
  const start = clock.now()
  let isOver = false
  const over = () => {
    isOver = true
  }
  request.then(over, over)
  while (!isOver) {
    // One timer is the deadline, the second a pause.
    await new Promise(setImmediate)
    if (clock.waiting > 1) await clock.advance(50)
  }
  return { result: await request, pausedMs: clock.now() - start }
}

const setUp = (call = {}) => {
  retryAfter = undefined
  const clock = fakeClock()
  const onRetry = vi.fn()
  const fetch = local.fetchWith({ clock, timeoutMs: 10_000 }, { onRetry, ...call })
  return { clock, onRetry, fetch }
}

it('repeats what failed for a passing reason: no connection, a reset, a broken body, a busy server', async () => {
  const { clock, fetch, onRetry } = setUp()
  const asked = answers('reset', 'break', 503, 200)
  const { result, pausedMs } = await passing(clock, fetch('http://a.example/', { retries: 3 }))
  expect(await result.text()).toBe('said 200')
  expect([asked.length, onRetry.mock.calls.length]).toEqual([4, 3])
  // 100-200, 200-400 and 400-800 ms.
  expect(pausedMs).toBeGreaterThanOrEqual(700)
  expect(pausedMs).toBeLessThanOrEqual(1550)
})

it('gives up after so many, with what the server said last', async () => {
  const { clock, fetch } = setUp()
  const asked = answers(503, 429)
  const { result } = await passing(clock, fetch('http://a.example/', { retries: 2 }))
  expect([result.status, asked.length]).toEqual([429, 3])
  answers('reset')
  await expect(passing(clock, fetch('http://a.example/', { retries: 1 }))).rejects.toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR' }),
  )
})

it('repeats nothing unasked, and nothing that would be the same again', async () => {
  const { clock, fetch } = setUp()
  expect((await fetch('http://a.example/')).status).toBe(200)
  const asked = answers(503)
  expect((await fetch('http://a.example/')).status).toBe(503)
  expect(asked.length).toBe(1)
  for (const status of [400, 404, 500, 501]) {
    const once = answers(status)
    expect((await fetch('http://a.example/', { retries: 2 })).status).toBe(status)
    expect(once.length).toBe(1)
  }
  expect(clock.waiting).toBeLessThan(2)
})

it('waits as long as the server asks, in seconds or until a date, but never past the deadline', async () => {
  for (const value of [() => '3', (clock: FakeClock) => new Date(clock.now() + 3000).toUTCString()]) {
    const { clock, fetch } = setUp()
    retryAfter = value(clock)
    answers(429, 200)
    const { result, pausedMs } = await passing(clock, fetch('http://a.example/', { retries: 1 }))
    expect(result.status).toBe(200)
    expect(pausedMs).toBeGreaterThanOrEqual(2950)
    expect(pausedMs).toBeLessThanOrEqual(3100)
  }
  const { clock, fetch } = setUp()
  retryAfter = '11'
  const asked = answers(429, 200)
  const { result, pausedMs } = await passing(clock, fetch('http://a.example/', { retries: 1 }))
  expect([result.status, asked.length, pausedMs]).toEqual([429, 1, 0])
})

it('repeats a POST only with its key and the owner, and tells the server', async () => {
  const post = { method: 'POST', body: 'x', retries: 2 }
  for (const call of [{}, { idempotencyKey: 'k1' }, { postRetries: 2 }]) {
    const { fetch } = setUp(call)
    const asked = answers(503)
    expect((await fetch('http://a.example/', post)).status).toBe(503)
    expect(asked).toEqual(['POST'])
  }
  const { clock, fetch } = setUp({ idempotencyKey: 'k1', postRetries: 2 })
  const asked = answers(503, 200)
  const { result } = await passing(clock, fetch('http://a.example/', post))
  expect([result.status, asked]).toEqual([200, ['POST k1', 'POST k1']])
  const put = answers(503)
  await fetch('http://a.example/', { ...post, method: 'PUT' })
  expect(put).toEqual(['PUT'])
})

it('never waits the same for everybody, nor longer than it says', () => {
  const waits = new Set(Array.from({ length: 50 }, () => waitBeforeRetryMs(1, undefined, 0)))
  expect(waits.size).toBeGreaterThan(10)
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(200)
  expect(Math.max(...waits)).toBeLessThanOrEqual(400)
  expect(waitBeforeRetryMs(0, 'soon', 0)).toBeLessThanOrEqual(200)
  expect(waitBeforeRetryMs(0, 'Thu, 01 Jan 1970 00:00:00 GMT', 1e12)).toBeGreaterThanOrEqual(100)
})

it('reads whole seconds as seconds and everything else as a date', () => {
  expect(waitBeforeRetryMs(0, '5', 0)).toBe(5_000)
  expect(waitBeforeRetryMs(0, '2 Jan 1970 00:00:00 GMT', 0)).toBe(86_400_000)
  // As a date it is long over.
  expect(waitBeforeRetryMs(0, '1.5', 1e13)).toBeLessThanOrEqual(200)
  expect(waitBeforeRetryMs(0, '', 0)).toBeLessThanOrEqual(200)
})

it('repeats by method, key and the word of the owner', () => {
  const signal = () => new AbortController().signal
  const most = (method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE', call: object = {}) =>
    maxRetries(method, { retries: 2 }, { signal, ...call })
  expect([most('GET'), most('HEAD'), most('PUT'), most('DELETE'), most('POST')]).toEqual([2, 2, 0, 0, 0])
  const both = { idempotencyKey: 'k', postRetries: 3 }
  expect([most('POST', both), most('PUT', both), most('GET', both)]).toEqual([3, 0, 2])
  expect([most('POST', { idempotencyKey: 'k' }), most('POST', { postRetries: 3 })]).toEqual([0, 0])
  expect(maxRetries('GET', {}, { signal })).toBe(0)
})

it('knows what may be gone in a moment', () => {
  expect([200, 408, 429, 430, 500, 501, 502, 503, 504, 505].filter(isPassingStatus)).toEqual([429, 502, 503, 504])
  expect(isPassingFailure(new ToolError('UPSTREAM_ERROR', 'x'))).toBe(true)
  expect(isPassingFailure(new ToolError('UPSTREAM_ERROR', 'x', { retryable: false }))).toBe(false)
  expect(isPassingFailure(new ToolError('HTTP_TIMEOUT', 'x'))).toBe(false)
  expect(isPassingFailure(new Error('x'))).toBe(false)
})
