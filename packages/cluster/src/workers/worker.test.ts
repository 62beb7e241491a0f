import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AnyTool,
  type BaseContext,
  type CallEvent,
  defineTool,
  type HubOptions,
  type Store,
  ToolError,
} from '@tool-hub/core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createBareHub } from '../../../../test/support/create-bare-hub.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { sharedMemoryStore } from '../../../../test/support/local-queue.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { Hub } from '../../../runtime/src/hub/hub.ts'
import type { WorkerLogEntry, WorkerOptions } from './worker-options.ts'

const folder = temporaryFolder('worker')
const opened: Hub[] = []
let counter = 0
afterEach(async () => {
  await Promise.all(opened.splice(0).map((hub) => hub.close({ abort: true })))
})

function hubOf(store: Store, tools: readonly AnyTool[], options: HubOptions = {}) {
  const runs = join(folder, `runs-${++counter}`)
  const hub = createBareHub({ store, tools: [...tools], runs, data: join(folder, `data-${counter}`), ...options })
  opened.push(hub)
  return { hub, runs }
}

async function workerOf(store: Store, tools: readonly AnyTool[], options: WorkerOptions & { hub?: HubOptions } = {}) {
  const log: WorkerLogEntry[] = []
  const { hub } = hubOf(store, tools, options.hub)
  const worker = await hub.work({ labels: ['gpu'], onLog: (entry) => log.push(entry), ...options })
  return { hub, worker, log }
}

function echo(change: Partial<Parameters<typeof defineTool>[0]> = {}) {
  return defineTool({
    name: 'test.echo',
    description: 'Return the text.',
    input: z.strictObject({ text: z.string() }),
    where: 'worker:gpu',
    execute: ({ text }: { text: string }) => ({ text }),
    ...change,
  } as never) as AnyTool
}

const linesOf = (runs: string, run: string) =>
  readFileSync(join(runs, run, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** The same store, of which the first answer of each of these methods is lost after it has done its work. */
function forgetful(store: Store, methods: readonly string[] = Object.keys(store.workerCalls)): Store {
  const calls = Object.entries(store.workerCalls).map(([name, method]) => {
    let isLost = methods.includes(name)
    const once = async (...values: unknown[]) => {
      const answer = await (method as (...values: unknown[]) => unknown)(...values)
      if (!isLost) return answer
      isLost = false
      throw new Error('The connection was lost.')
    }
    return [name, once]
  })
  return { ...store, workerCalls: Object.fromEntries(calls) }
}

/** The same store, whose queue takes each job and never says so, once that is so. */
function sendingTo(store: Store, isTime: () => boolean): Store {
  return {
    ...store,
    async openQueue() {
      const queue = await store.openQueue!()
      const send: typeof queue.send = async (name, job) => {
        await queue.send(name, job)
        await eventually(() => expect(isTime()).toBe(true))
        throw new Error('The connection was lost.')
      }
      return Object.assign(Object.create(queue), { send })
    },
  }
}

describe('a call for a worker', () => {
  it('is executed there, and its end is recorded here with the name of the worker', async () => {
    const { store, queue } = sharedMemoryStore()
    let here = 0
    const { hub, runs } = hubOf(store, [echo({ execute: () => ++here })])
    const { worker } = await workerOf(store, [
      echo({ execute: ({ text }: { text: string }) => ({ text: `${text}!` }) }),
    ])
    const result = await hub.callDynamic('test.echo', { text: 'hi' }, { run: 'r' })
    expect(result).toMatchObject({ ok: true, data: { text: 'hi!' }, meta: { attempts: 1 } })
    expect(here).toBe(0)
    await hub.endRun('r')
    const ended = linesOf(runs, 'r').find(({ type }) => type === 'call-ended')
    expect(ended).toMatchObject({ worker: worker.id, status: 'ok' })
    expect(queue.jobs).toEqual([])
    expect((await hub.workers()).queues).toEqual([])
  })

  it('takes its labels from the tool and the rule, and is executed only where all of them are', async () => {
    const { store } = sharedMemoryStore()
    const tool = echo()
    const { hub } = hubOf(store, [tool], {
      policy: [{ allow: 'test.echo', limit: { runOn: 'worker:eu', timeoutMs: 10_000 } }],
    })
    const calling = hub.callDynamic('test.echo', { text: 'hi' })
    await workerOf(store, [tool], { labels: ['gpu'] })
    await eventually(async () =>
      expect((await hub.workers()).queues).toMatchObject([{ queue: 'worker:eu,gpu', waiting: 1, running: 0 }]),
    )
    const { worker } = await workerOf(store, [tool], { labels: ['gpu', 'eu', 'large'] })
    expect(await calling).toMatchObject({ ok: true })
    const { workers } = await hub.workers()
    expect(workers.map(({ id, labels }) => [id, labels])).toContainEqual([worker.id, ['eu', 'gpu', 'large']])
  })

  it('says which setting is missing if the files of its run are on another machine', async () => {
    const { store } = sharedMemoryStore()
    const execute = (_: unknown, { fs }: { fs: { readText(path: string): unknown } }) => fs.readText('a')
    const tool = echo({ capabilities: ['read:fs'], execute } as never)
    const { hub } = hubOf(store, [tool], { policy: [{ allow: 'test.echo' }] })
    await workerOf(store, [tool])
    expect(await hub.callDynamic('test.echo', { text: 'hi' })).toMatchObject({
      error: {
        code: 'SANDBOX_UNAVAILABLE',
        fix: { key: 'sandbox.workspaces', hint: expect.stringContaining('share') },
      },
    })
  })

  it('is refused without workers, and never executed here', async () => {
    let executed = 0
    const tool = echo({ execute: () => ++executed })
    const { hub } = hubOf(undefined as never, [tool])
    const result = await hub.callDynamic('test.echo', { text: 'hi' })
    expect(result).toMatchObject({ ok: false, error: { code: 'NO_WORKER', retryable: false, fix: { key: 'store' } } })
    const { hub: byRule } = hubOf(undefined as never, [echo({ where: undefined, execute: () => ++executed })], {
      policy: [{ allow: 'test.echo', limit: { runOn: 'worker' } }],
    })
    expect(await byRule.callDynamic('test.echo', { text: 'hi' })).toMatchObject({ error: { code: 'NO_WORKER' } })
    expect(executed).toBe(0)
  })

  it('ends before its time is over if no worker takes it, was not executed, and may be repeated with its key', async () => {
    const { store, queue } = sharedMemoryStore()
    const tool = echo({ timeoutMs: 300, capabilities: ['send'] })
    const policy = [{ allow: 'test.echo' }] as const
    const { hub } = hubOf(store, [tool], { policy })
    const call = () => hub.callDynamic('test.echo', { text: 'hi' }, { idempotencyKey: 'k' })
    expect(await call()).toMatchObject({ error: { code: 'NO_WORKER', retryable: true }, meta: { attempts: 0 } })
    expect(queue.jobs).toEqual([])
    await workerOf(store, [tool], { hub: { policy } })
    expect(await call()).toMatchObject({ ok: true })
  })

  it('ends in its time although the store cannot say whether a worker has it', async () => {
    const { store } = sharedMemoryStore()
    const { hub } = hubOf(
      {
        ...store,
        workerCalls: {
          ...store.workerCalls,
          look: () => Promise.reject(new ToolError('RECORDS_UNAVAILABLE', 'The store is away.')),
        },
      },
      [echo({ timeoutMs: 1_000 })],
    )
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    expect(await hub.callDynamic('test.echo', { text: 'hi' })).toMatchObject({ error: { code: 'TIMEOUT' } })
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('carries its error, evidence, notices, artifacts and progress back', async () => {
    const { store } = sharedMemoryStore()
    const tool = echo({
      execute: async ({ text }: { text: string }, ctx: BaseContext) => {
        ctx.progress('half')
        ctx.evidence({ type: 'text', ref: 'r', summary: 's' })
        ctx.notice('careful')
        const artifact = await ctx.artifact('content', { name: 'a.txt' })
        if (text === 'fail') throw new ToolError('NOT_FOUND', 'no such thing', { hint: 'look', data: { a: 1 } })
        return { ref: artifact.ref }
      },
    })
    const { hub } = hubOf(store, [tool])
    await workerOf(store, [tool])
    const events: CallEvent[] = []
    const onEvent = (event: CallEvent) => void events.push(event)
    const result = await hub.callDynamic('test.echo', { text: 'ok' }, { onEvent })
    expect(result).toMatchObject({ ok: true, evidence: [{ ref: 'r' }], meta: { notices: ['careful'] } })
    const ref = result.artifacts[0]!.ref
    expect(new TextDecoder().decode(await hub.artifact(ref))).toBe('content')
    expect(events.map(({ type }) => type)).toEqual(['call-started', 'call-progressed', 'call-ended'])
    const failed = await hub.callDynamic('test.echo', { text: 'fail' })
    expect(failed).toMatchObject({
      error: { code: 'NOT_FOUND', message: 'no such thing', fix: { hint: 'look' } },
      data: { a: 1 },
    })
    expect(failed.artifacts).toHaveLength(1)
  })

  it('returns a large result whole', async () => {
    const { store } = sharedMemoryStore()
    const tool = echo({ execute: () => 'é'.repeat(2_000_000) })
    const { hub } = hubOf(store, [tool])
    await workerOf(store, [tool])
    const result = await hub.callDynamic('test.echo', { text: 'x' })
    expect(result.ok && result.data === 'é'.repeat(2_000_000)).toBe(true)
  })

  it('taints its run if the tool reads content from outside', async () => {
    const { store } = sharedMemoryStore()
    const tool = echo({ results: 'outside' })
    const { hub } = hubOf(store, [tool])
    await workerOf(store, [tool])
    const result = await hub.callDynamic('test.echo', { text: 'x' }, { run: 'r' })
    expect(result.meta.labels).toEqual(['untrusted'])
  })

  it('cannot ask a person or call other tools', async () => {
    const { store } = sharedMemoryStore()
    const asks = echo({
      execute: (_: unknown, ctx: BaseContext) => ctx.ask({ question: '?' }),
    })
    const { hub } = hubOf(store, [asks], { onQuestion: async () => 'yes' })
    await workerOf(store, [asks], { hub: { onQuestion: async () => 'yes' } })
    const result = await hub.callDynamic('test.echo', { text: 'x' })
    expect(result).toMatchObject({ error: { code: 'TOOL_FAILED', message: expect.stringContaining('ask a person') } })
  })

  it('is executed with the rights of its principal', async () => {
    const { store } = sharedMemoryStore()
    const tool = echo()
    const { hub } = hubOf(store, [tool])
    let exists = true
    await workerOf(store, [tool], { hub: { principals: async (known) => (exists ? known : undefined) } })
    const ada = hub.as({ name: 'ada' })
    expect(await ada.callDynamic('test.echo', { text: 'x' })).toMatchObject({ ok: true })
    exists = false
    expect(await ada.callDynamic('test.echo', { text: 'x' })).toMatchObject({ error: { code: 'FORBIDDEN' } })
  })
})

describe('a worker', () => {
  it('refuses a tool that is defined differently, and executes nothing', async () => {
    const { store } = sharedMemoryStore()
    let executed = 0
    const { hub } = hubOf(store, [echo()])
    await workerOf(store, [echo({ version: '2', execute: () => ++executed })])
    const result = await hub.callDynamic('test.echo', { text: 'x' })
    expect(result).toMatchObject({ error: { code: 'CONFIG_INVALID', message: expect.stringContaining('differently') } })
    expect(executed).toBe(0)
  })

  it('refuses a job that is not signed, changed or in the queue of another place', async () => {
    const { store, queue } = sharedMemoryStore()
    let executed = 0
    const tool = echo({ timeoutMs: 5_000, execute: () => ++executed })
    const { hub } = hubOf(store, [tool])
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(queue.jobs).toHaveLength(1))
    const [job] = await queue.take('worker:gpu', 1)
    const { body, mac } = JSON.parse(job!.body)
    for (const forged of [
      'not JSON',
      JSON.stringify({ body, mac: 'AAAA' }),
      JSON.stringify({ body: body.replace('"x"', '"y"'), mac }),
      JSON.stringify({ body }),
    ])
      await queue.send('worker:gpu', { id: crypto.randomUUID(), body: forged })
    await queue.send('worker', { ...job!, id: crypto.randomUUID() })
    const [{ log }, { log: other }] = [await workerOf(store, [tool]), await workerOf(store, [tool], { labels: [] })]
    await eventually(() => expect([...log, ...other].filter(({ level }) => level === 'warn')).toHaveLength(5))
    expect(executed).toBe(0)
    await queue.send('worker:gpu', job!)
    expect(await calling).toMatchObject({ ok: true })
  })

  it('executes a job once that is delivered twice', async () => {
    const { store, queue } = sharedMemoryStore()
    let executed = 0
    const tool = echo({ execute: () => ++executed })
    const { hub } = hubOf(store, [tool])
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(queue.jobs).toHaveLength(1))
    const [job] = queue.jobs
    await queue.send('worker:gpu', { ...job!, id: crypto.randomUUID() })
    await Promise.all([workerOf(store, [tool]), workerOf(store, [tool])])
    expect(await calling).toMatchObject({ ok: true, data: 1 })
    await eventually(() => expect(queue.jobs).toEqual([]))
    expect(executed).toBe(1)
  })

  it('stops a call that its caller stops, and tells why', async () => {
    const { store } = sharedMemoryStore()
    let reason = ''
    const tool = echo({
      execute: (_: unknown, ctx: BaseContext) =>
        new Promise((_resolve, reject) => {
          const { signal } = ctx
          signal.addEventListener('abort', () => {
            reason = String(signal.reason.message)
            reject(signal.reason)
          })
        }),
    })
    const { hub } = hubOf(store, [tool])
    const { worker } = await workerOf(store, [tool])
    const controller = new AbortController()
    const calling = hub.callDynamic('test.echo', { text: 'x' }, { signal: controller.signal })
    await eventually(() => expect(worker.running).toBe(1))
    controller.abort()
    expect(await calling).toMatchObject({ error: { code: 'ABORTED' } })
    await eventually(() => expect(worker.running).toBe(0))
    expect(reason).toContain('stopped by the process of its run')
  })

  it('executes at most as many calls concurrently as it says', async () => {
    const { store } = sharedMemoryStore()
    const gates: (() => void)[] = []
    const tool = echo({ execute: () => new Promise((resolve) => gates.push(() => resolve(gates.length))) })
    const { hub } = hubOf(store, [tool])
    const { worker } = await workerOf(store, [tool], { concurrency: 2 })
    const calls = Array.from({ length: 5 }, () => hub.callDynamic('test.echo', { text: 'x' }))
    await eventually(() => expect(gates).toHaveLength(2))
    await eventually(async () =>
      expect((await hub.workers()).queues).toMatchObject([{ queue: 'worker:gpu', waiting: 3, running: 2 }]),
    )
    expect(worker.running).toBe(2)
    for (let opened = 0; opened < 5; opened++) {
      await eventually(() => expect(gates.length).toBeGreaterThan(opened))
      gates[opened]!()
    }
    expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true)
  })

  it('that drains finishes what it executes, takes nothing new, and stops what takes too long', async () => {
    const { store } = sharedMemoryStore()
    const gates: (() => void)[] = []
    const tool = echo({ execute: () => new Promise<string>((resolve) => gates.push(() => resolve('done'))) })
    const { hub } = hubOf(store, [tool])
    const { worker } = await workerOf(store, [tool])
    const first = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(gates).toHaveLength(1))
    const draining = worker.drain({ timeoutMs: 60_000 })
    const second = hub.callDynamic('test.echo', { text: 'y' })
    await eventually(async () =>
      expect((await hub.workers()).workers).toMatchObject([{ id: worker.id, isDraining: true, running: 1 }]),
    )
    gates[0]!()
    expect(await first).toMatchObject({ ok: true, data: 'done' })
    expect(await draining).toBe(true)
    const { worker: other } = await workerOf(store, [tool])
    await eventually(() => expect(gates).toHaveLength(2))
    expect(await other.drain({ timeoutMs: 50 })).toBe(false)
    // The caller has not stopped it, and may call again: the tool has no effect.
    expect(await second).toMatchObject({
      error: { code: 'WORKER_LOST', retryable: true, message: expect.stringMatching(/stopped by its worker/) },
    })
  })

  it('that is gone ends its calls as lost; only tools that say so are repeated', async () => {
    const { store } = sharedMemoryStore()
    let executed = 0
    const hang = () => new Promise(() => executed++)
    const tool = echo({ execute: hang, capabilities: ['send'] })
    const policy = [{ allow: 'send' }] as const
    const { hub } = hubOf(store, [tool], { policy })
    const { worker, hub: gone } = await workerOf(store, [tool], { hub: { policy } })
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(executed).toBe(1))
    // As if it had been killed: its row stays, and no heartbeat follows.
    void gone.cluster!.close()
    const result = await calling
    expect(result).toMatchObject({ error: { code: 'WORKER_LOST', retryable: false } })
    expect(result.error?.message).toContain(worker.id)
    expect(executed).toBe(1)
  })

  it('executes a call once and its result arrives, although answers of the store are lost', async () => {
    const { store } = sharedMemoryStore()
    let executed = 0
    const tool = echo({ execute: () => ++executed })
    const { hub } = hubOf(
      forgetful(
        store,
        Object.keys(store.workerCalls).filter((name) => name !== 'add'),
      ),
      [tool],
    )
    const { worker } = await workerOf(forgetful(store), [tool])
    expect(await hub.callDynamic('test.echo', { text: 'x' })).toMatchObject({ ok: true, data: 1 })
    expect(await worker.drain()).toBe(true)
    expect(executed).toBe(1)
    expect(await store.workerCalls.queues()).toEqual([])
  })

  it('continues with a call that a worker has although its queue did not acknowledge it', async () => {
    const { store } = sharedMemoryStore()
    const gates: (() => void)[] = []
    const tool = echo({ execute: () => new Promise((resolve) => gates.push(() => resolve('done'))) })
    const { hub } = hubOf(
      sendingTo(store, () => gates.length > 0),
      [tool],
    )
    await workerOf(store, [tool])
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(gates).toHaveLength(1))
    gates[0]!()
    expect(await calling).toMatchObject({ ok: true, data: 'done' })
  })

  it('ends a call that no worker has once the store is back, if its queue did not take it; it may be repeated', async () => {
    const { store } = sharedMemoryStore()
    let isAway = true
    const look: Store['workerCalls']['look'] = async (ids) => {
      if (isAway) throw new Error('The database is away.')
      return store.workerCalls.look(ids)
    }
    const sending = sendingTo({ ...store, workerCalls: { ...store.workerCalls, look } }, () => true)
    const { hub } = hubOf(sending, [echo()])
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    isAway = false
    expect(await calling).toMatchObject({ error: { code: 'NO_WORKER', retryable: true } })
  })

  it('leaves nothing behind of a call whose beginning was not acknowledged', async () => {
    const { store } = sharedMemoryStore()
    const { hub } = hubOf(forgetful(store, ['add']), [echo()])
    expect(await hub.callDynamic('test.echo', { text: 'x' })).toMatchObject({ error: { code: 'NO_WORKER' } })
    await eventually(async () => expect((await hub.workers()).queues).toEqual([]))
  })

  it('that is gone ends its calls as lost, although the answer of the store is lost', async () => {
    const { store } = sharedMemoryStore()
    let executed = 0
    const tool = echo({ execute: () => new Promise(() => executed++), capabilities: ['send'] })
    const policy = [{ allow: 'send' }] as const
    const { hub } = hubOf(forgetful(store, ['abandon']), [tool], { policy })
    const { hub: gone } = await workerOf(store, [tool], { hub: { policy } })
    const calling = hub.callDynamic('test.echo', { text: 'x' })
    await eventually(() => expect(executed).toBe(1))
    void gone.cluster!.close()
    expect(await calling).toMatchObject({ error: { code: 'WORKER_LOST', retryable: false } })
  })

  it('is not missed by a call whose time ends while the store is away', async () => {
    const { store } = sharedMemoryStore()
    const away = () => Promise.reject(new Error('The database is away.'))
    const calls: Store['workerCalls'] = { ...store.workerCalls, look: away, stop: away }
    const { hub } = hubOf({ ...store, workerCalls: calls }, [echo({ timeoutMs: 200 })])
    expect(await hub.callDynamic('test.echo', { text: 'x' })).toMatchObject({ error: { code: 'TIMEOUT' } })
  })

  it('is refused with invalid labels, without a shared store, and twice', async () => {
    const { store } = sharedMemoryStore()
    const { hub } = hubOf(store, [])
    await expect(hub.work({ labels: ['GPU'] })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(hub.work({ concurrency: 0 })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await hub.work()
    await expect(hub.work()).rejects.toMatchObject({ code: 'CONFLICT' })
    const { hub: alone } = hubOf(undefined as never, [])
    await expect(alone.work()).rejects.toMatchObject({ code: 'CONFIG_INVALID', fix: { key: 'store' } })
  })
})

it('a tool that names no worker is refused', () => {
  for (const where of ['gpu', 'worker:', 'worker:GPU', 'worker:a,', 'worker:a_b', 7])
    expect(() => hubOf(undefined as never, [echo({ where: where as string })])).toThrow('names no worker')
})
