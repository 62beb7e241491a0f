import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Store } from '@tool-hub/core'
import { openPostgresStore } from '@tool-hub/library/stores'
import type { Hub } from '@tool-hub/runtime/hub'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBareHub } from './support/create-bare-hub.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { type WorkerProcessOptions, workerTools } from './support/worker-process.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, 'support/load-typescript.mjs')).href
const PROGRAM = join(import.meta.dirname, 'support/worker-process.ts')

let server: TestPostgres
const children: ChildProcess[] = []
const opened: { readonly hub: Hub; readonly store: Store }[] = []
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const { hub, store } of opened) {
    await hub.close({ abort: true })
    await store.close()
  }
  await server.close()
})

/** A hub in this process, and workers in processes of their own, on one schema. */
function cluster() {
  const schema = `w_${randomBytes(6).toString('hex')}`
  const folder = join(temporaryFolder('workers'), schema)
  mkdirSync(folder, { recursive: true })
  const store = openPostgresStore(server.url, { schema })
  const own = { runs: join(folder, 'runs'), data: join(folder, 'data') }
  const hub = createBareHub({ store, tools: workerTools(folder), policy: [{ allow: 'send' }], ...own })
  opened.push({ hub, store })
  const linesOf = (name: string) => {
    try {
      return readFileSync(join(folder, name), 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  return {
    hub,
    store,
    call: (tool: string, name: string, ms: number) => hub.callDynamic(tool, { name, ms }),
    /** Every execution that was begun, on any process. */
    executed: () => linesOf('executed'),
    stopped: () => linesOf('stopped'),
    async start(options: Partial<WorkerProcessOptions> = {}) {
      const given = JSON.stringify({ url: server.url, schema, folder, ...options })
      const child = spawn(process.execPath, ['--import', LOADER, PROGRAM, given], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.push(child)
      const lines: unknown[] = []
      createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
      await expect.poll(() => lines[0]).toBe('ready')
      return { child, lines, ended: once(child, 'exit') }
    },
  }
}

describe('a worker that is killed', () => {
  it('ends the calls that it executed as lost in time, and none is executed twice', async () => {
    const { call, executed, start } = cluster()
    const { child } = await start()
    const calling = call('test.once', 'a', 60_000)
    await expect.poll(executed).toEqual(['a'])
    child.kill('SIGKILL')
    const since = Date.now()
    expect(await calling).toMatchObject({ error: { code: 'WORKER_LOST', retryable: false } })
    // Heartbeats end after 10 s; the rest is for a busy machine.
    expect(Date.now() - since).toBeLessThan(40_000)
    const other = await start()
    expect(await call('test.once', 'b', 1)).toMatchObject({ ok: true, data: { pid: other.child.pid } })
    expect(executed()).toEqual(['a', 'b'])
  })

  it('has its calls repeated elsewhere if the tool says that this is safe', async () => {
    const { call, executed, start } = cluster()
    const { child } = await start()
    const calling = call('test.repeat', 'a', 5_000)
    await expect.poll(executed).toEqual(['a'])
    child.kill('SIGKILL')
    const other = await start()
    expect(await calling).toMatchObject({ ok: true, data: { pid: other.child.pid }, meta: { attempts: 2 } })
    expect(executed()).toEqual(['a', 'a'])
  })

  it('before it claimed a call leaves it to another, which executes it once', async () => {
    const { call, executed, start } = cluster()
    const dying = await start({ diesBeforeClaim: true })
    const calling = call('test.once', 'a', 1)
    await dying.ended
    const other = await start()
    expect(await calling).toMatchObject({ ok: true, data: { pid: other.child.pid } })
    expect(executed()).toEqual(['a'])
  })
})

it('a process of runs that is killed has its calls stopped, and those that wait are not executed', async () => {
  const { hub, executed, stopped, start, call } = cluster()
  const worker = await start({ concurrency: 1 })
  const calls = ['a', 'b'].map((name) => ({ tool: 'test.once', input: { name, ms: 100_000 } }))
  const owner = await start({ calls })
  await expect.poll(executed).toHaveLength(1)
  await expect
    .poll(async () => (await hub.workers()).queues)
    .toMatchObject([{ queue: 'worker:gpu', waiting: 1, running: 1 }])
  owner.child.kill('SIGKILL')
  await expect.poll(stopped).toEqual(executed())
  expect(await call('test.once', 'c', 1)).toMatchObject({ ok: true, data: { pid: worker.child.pid } })
  expect(executed()).toHaveLength(2)
  expect((await hub.workers()).queues).toEqual([])
})

it('SIGTERM drains a worker: what runs ends, what waits goes to another', async () => {
  const { hub, call, executed, start } = cluster()
  const first = await start({ concurrency: 1 })
  const running = call('test.once', 'a', 3_000)
  await expect.poll(executed).toEqual(['a'])
  first.child.kill('SIGTERM')
  await expect.poll(async () => (await hub.workers()).workers).toMatchObject([{ isDraining: true, running: 1 }])
  const waiting = call('test.once', 'b', 1)
  const second = await start()
  expect(await running).toMatchObject({ ok: true, data: { pid: first.child.pid } })
  expect(await waiting).toMatchObject({ ok: true, data: { pid: second.child.pid } })
  expect(await first.ended).toEqual([0, null])
  expect(first.lines).toContainEqual({ drained: true })
})

it('calls continue after PostgreSQL was away for a moment', async () => {
  const { call, executed, start } = cluster()
  await start()
  expect(await call('test.once', 'a', 1)).toMatchObject({ ok: true })
  const calling = call('test.once', 'b', 2_000)
  await expect.poll(executed).toEqual(['a', 'b'])
  await server.stop('immediate')
  await server.start()
  expect(await calling).toMatchObject({ ok: true })
  expect(await call('test.once', 'c', 1)).toMatchObject({ ok: true })
  expect(executed()).toEqual(['a', 'b', 'c'])
})
