import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownModule } from '../../own-file.ts'
import { startWorker } from './start-worker.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-hub-worker-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function start(source: string, options = {}): Promise<Worker> {
  const file = join(folder, `${crypto.randomUUID()}.ts`)
  await writeFile(file, `import { parentPort, workerData } from 'node:worker_threads'\n${source}`)
  return startWorker({ file: pathToFileURL(file), flags: ownModule('').flags }, options)
}

describe('startWorker', () => {
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
