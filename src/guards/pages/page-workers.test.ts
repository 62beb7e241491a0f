import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../errors.ts'
import type { PageJob } from './extract-page.ts'
import { createPageWorkers } from './page-workers.ts'

const never = new AbortController().signal

const page = (html: string): PageJob => ({ html, url: 'https://example.com/page', as: 'markdown' })

/** Takes minutes to read: the parser looks through all attributes for each of them. */
const ENDLESS = page(`<div ${Array.from({ length: 500_000 }, (_, index) => `a${index}`).join(' ')}>x`)

describe('page workers', () => {
  it('read one page after another in the same worker', async () => {
    const workers = createPageWorkers({ maxWorkers: 1 })
    const read = (text: string) => workers.read(page(`<p>${text}`), { signal: never, timeoutMs: 20_000 })
    const pages = await Promise.all(['one', 'two', 'three'].map(read))
    expect(pages.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
  })

  it('end a page that takes too long, with an error that is not to be repeated', async () => {
    const workers = createPageWorkers()
    const error = await workers.read(ENDLESS, { signal: never, timeoutMs: 300 }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'UPSTREAM_ERROR', retryable: false })
    expect(error.message).toContain('longer than 300 ms')
    expect(error.fix.hint).toContain('core/http.fetchText')
  })

  it('end a page that takes too much memory, and read the next in a new worker', async () => {
    const workers = createPageWorkers({ maxWorkers: 1, maxHeapMb: 48 })
    const limits = { signal: never, timeoutMs: 20_000 }
    await expect(workers.read(page('<b></b>'.repeat(500_000)), limits)).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: expect.stringContaining('more memory'),
    })
    expect((await workers.read(page('<p>next'), limits)).text).toBe('next')
  })

  it('stop at once when the call is stopped, and go on with the next', async () => {
    const workers = createPageWorkers({ maxWorkers: 1 })
    const controller = new AbortController()
    const stopped = workers.read(ENDLESS, { signal: controller.signal, timeoutMs: 60_000 })
    const next = workers.read(page('<p>next'), { signal: never, timeoutMs: 20_000 })
    const reason = new ToolError('TIMEOUT', 'The call is over.')
    setImmediate(() => controller.abort(reason))
    await expect(stopped).rejects.toBe(reason)
    expect((await next).text).toBe('next')
  })

  it('do not begin with a page whose call was stopped while it waited', async () => {
    const workers = createPageWorkers({ maxWorkers: 1 })
    const [first, second] = [new AbortController(), new AbortController()]
    const running = workers.read(ENDLESS, { signal: first.signal, timeoutMs: 60_000 })
    const waiting = workers.read(page('<p>x'), { signal: second.signal, timeoutMs: 60_000 })
    second.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
    first.abort()
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('say why a page cannot be read, and keep the worker', async () => {
    const workers = createPageWorkers({ maxWorkers: 1 })
    const limits = { signal: never, timeoutMs: 20_000 }
    await expect(workers.read(page('<p style>'.repeat(9) + '<div style>'.repeat(5_000)), limits)).rejects.toMatchObject(
      {
        code: 'UPSTREAM_ERROR',
        message: 'The page https://example.com/page cannot be read: its elements are nested too deep.',
      },
    )
    expect((await workers.read(page('<p>next'), limits)).text).toBe('next')
  })

  it('leave no listeners on the signal of the caller', async () => {
    const workers = createPageWorkers({ maxWorkers: 1 })
    const { signal } = new AbortController()
    await Promise.all(['a', 'b'].map((text) => workers.read(page(text), { signal, timeoutMs: 20_000 })))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
