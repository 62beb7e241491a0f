import { getEventListeners, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { ToolError } from '@tool-hub/core/errors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownModule } from '../system/own-file.ts'
import type { PageJob } from './extract-page.ts'
import { createPageWorkers, startPageWorker, Turns } from './page-workers.ts'

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

  it('stop immediately when the call is stopped, and continue with the next', async () => {
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

const neverAborted = new AbortController().signal

describe('turns', () => {
  it('go to those who wait, in their order', async () => {
    const turns = new Turns(1)
    const order: number[] = []
    await turns.take(neverAborted)
    const waiting = [1, 2, 3].map(async (number) => {
      await turns.take(neverAborted)
      order.push(number)
      turns.end()
    })
    turns.end()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
  })

  it('are used by so many callers concurrently, and by no more', async () => {
    const turns = new Turns(2)
    let inside = 0
    let most = 0
    const work = async () => {
      await turns.take(neverAborted)
      most = Math.max(most, ++inside)
      await new Promise(setImmediate)
      inside--
      turns.end()
    }
    await Promise.all([work(), work(), work(), work(), work()])
    expect(most).toBe(2)
  })

  it('skip a stopped caller immediately', async () => {
    const turns = new Turns(1)
    await turns.take(neverAborted)
    const controller = new AbortController()
    const stopped = turns.take(controller.signal)
    const patient = turns.take(neverAborted)
    controller.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
    turns.end()
    await patient
  })

  it('are not lost by one who is stopped in the moment it gets its turn', async () => {
    const turns = new Turns(1)
    await turns.take(neverAborted)
    const controller = new AbortController()
    const stopped = turns.take(controller.signal)
    turns.end()
    controller.abort()
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' })
    await turns.take(neverAborted)
  })

  it('are not given to one who comes stopped', async () => {
    const turns = new Turns(1)
    await expect(turns.take(AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    await turns.take(neverAborted)
  })
})

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-worker-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function start(source: string, options = {}): Promise<Worker> {
  const file = join(folder, `${crypto.randomUUID()}.ts`)
  await writeFile(file, `import { parentPort, workerData } from 'node:worker_threads'\n${source}`)
  return startPageWorker({ file: pathToFileURL(file), flags: ownModule('').flags }, options)
}

describe('startPageWorker', () => {
  it('runs a TypeScript module of the sources', async () => {
    const worker = await start('const words: readonly string[] = workerData\nparentPort!.postMessage(words.join())', {
      workerData: ['a', 'b'],
    })
    expect(await once(worker, 'message')).toEqual(['a,b'])
    await worker.terminate()
  })

  it('gives the worker nothing of the environment', async () => {
    process.env.TOOL_HUB_WORKER_TEST = 'secret'
    const worker = await start('parentPort!.postMessage(process.env)')
    expect(await once(worker, 'message')).toEqual([{}])
    delete process.env.TOOL_HUB_WORKER_TEST
    await worker.terminate()
  })

  it('keeps what the worker prints from the streams of the process', async () => {
    const worker = await start(
      `console.log('x'.repeat(1_000_000)); console.error('y'); parentPort!.postMessage('done')`,
    )
    expect(worker.stdout).not.toBe(process.stdout)
    expect(await once(worker, 'message')).toEqual(['done'])
    await worker.terminate()
  })

  it('ends a worker that takes too much memory, and only it', async () => {
    const worker = await start(`const all: number[][] = []; for (;;) all.push(new Array(10_000).fill(1))`, {
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    })
    const [error] = await once(worker, 'error')
    expect(error.code).toBe('ERR_WORKER_OUT_OF_MEMORY')
  })
})
