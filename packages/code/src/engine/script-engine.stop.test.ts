import type { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it } from 'vitest'
import { runScript } from '../../../../test/support/run-script.ts'
import { type ScriptAnswer, type ScriptCall, ScriptEngine } from './index.ts'

const engine = new ScriptEngine()
afterAll(() => engine.close())

const run = (source: string, options?: Parameters<typeof runScript>[2]) => runScript(engine, source, options)
const notFound: ScriptAnswer = { ok: false, error: { code: 'NOT_FOUND', message: 'No item 7.', hint: 'List them.' } }

describe('a script that is stopped', () => {
  it.each([
    [
      'while it computes',
      'await tools.core.echo({}); for (;;) {}',
      async ({ input }: ScriptCall) => ({ ok: true, value: input }) as const,
    ],
    [
      'in an operation without interrupts',
      'await tools.core.echo({}); new Array(1e9) + ""',
      async () => ({ ok: true, value: 1 }) as const,
    ],
    ['while it waits', 'await tools.core.echo({})', undefined],
  ])('%s ends as ABORTED', { timeout: 30_000 }, async (_, source, answer) => {
    const stop = new AbortController()
    let signalOfCall: AbortSignal | undefined
    const { outcome } = await run(source, {
      signal: stop.signal,
      limits: { cpuMs: 60_000 },
      call: (call, { signal }) => {
        signalOfCall = signal
        setImmediate(() => stop.abort())
        return answer ? answer(call) : untilAborted(signal)
      },
    })
    expect(outcome).toMatchObject({ status: 'failed', kind: 'ABORTED', usage: { calls: 1 } })
    if (!answer) expect(signalOfCall?.aborted).toBe(true)
  })

  it('before it starts never runs', async () => {
    const { outcome, calls } = await run('await tools.core.echo({})', { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ status: 'failed', kind: 'ABORTED', usage: { calls: 0 } })
    expect(calls).toEqual([])
  })

  it('has the calls aborted that do not end by themselves', async () => {
    let isAborted = false
    const { outcome } = await run('tools.core.echo({}); for (;;) {}', {
      limits: { cpuMs: 100 },
      call: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            isAborted = true
          })
        }),
    })
    expect(outcome).toMatchObject({ kind: 'CPU_LIMIT' })
    expect(isAborted).toBe(true)
  })
})

describe('the wall time', () => {
  it('does not pass while the clock is paused', async () => {
    const limits = { wallMs: 2_000 }
    const { outcome } = await run('await tools.core.echo({}); 1', {
      limits,
      call: async (_, control) => {
        const resume = control.pauseClock()
        const other = await run('await tools.core.echo({})', { limits, call: (_, { signal }) => untilAborted(signal) })
        expect(other.outcome).toMatchObject({ kind: 'TIMEOUT' })
        resume()
        resume()
        return { ok: true, value: 1 }
      },
    })
    expect(outcome).toMatchObject({ status: 'completed', value: 1 })
  })

  it('stops waiting for people when the script has failed, and lets other calls finish', async () => {
    const { promise: isWaiting, resolve: onWaiting } = resolvable()
    let isFinished = false
    const { outcome } = await run(
      "tools.core.echo({ who: 'person' }); tools.core.echo({ who: 'file' }); await tools.mcp.shop.get_item({})",
      {
        call: async ({ tool, input }, control) => {
          if (tool === 'mcp/shop.get_item') {
            await isWaiting
            return notFound
          }
          if ((input as { who: string }).who === 'person') {
            control.pauseClock()
            onWaiting()
            return untilAborted(control.signal)
          }
          await isWaiting
          await new Promise((resolve) => setImmediate(resolve))
          expect(control.signal.aborted).toBe(false)
          isFinished = true
          return { ok: true, value: 1 }
        },
      },
    )
    expect(outcome).toMatchObject({ status: 'failed', code: 'NOT_FOUND' })
    expect(isFinished).toBe(true)
  })
})

describe('the engine', () => {
  it('reports a worker that dies as ENGINE_CRASH and continues', async () => {
    const crashing = new ScriptEngine()
    let thread: Worker | undefined
    process.once('worker', (worker) => {
      thread = worker
    })
    const { outcome, calls } = await runScript(crashing, 'await tools.core.echo({})', {
      call: async (_, { signal }) => {
        void thread?.terminate()
        return untilAborted(signal)
      },
    })
    expect(outcome).toMatchObject({ status: 'failed', kind: 'ENGINE_CRASH', usage: { calls: 1 } })
    expect(calls).toHaveLength(1)
    expect((await runScript(crashing, '1 + 1')).outcome).toMatchObject({ value: 2 })
    await crashing.close()
  })

  it('delivers more large answers than the heap of a worker has room for', { timeout: 60_000 }, async () => {
    const small = new ScriptEngine({ heapMb: 48 })
    const text = '€'.repeat(2_500_000)
    const { outcome } = await runScript(
      small,
      'let sum = 0; await Promise.all(Array.from({ length: 12 }, () => tools.core.echo({}).then((t) => { sum += t.length }))); sum',
      { call: async () => ({ ok: true, value: text }), limits: { cpuMs: 60_000 } },
    )
    expect(outcome).toMatchObject({ value: 30_000_000 })
    await small.close()
  })

  it('sends more large inputs than the heap of a worker has room for', { timeout: 60_000 }, async () => {
    const small = new ScriptEngine({ heapMb: 24 })
    const { outcome } = await runScript(
      small,
      'const text = "€".repeat(300_000); for (let i = 0; i < 32; i++) tools.core.echo({ text }); 1',
      { call: async () => ({ ok: true, value: 1 }), limits: { cpuMs: 60_000 } },
    )
    expect(outcome).toMatchObject({ value: 1, usage: { calls: 32 } })
    await small.close()
  })

  it('stops its scripts when it is closed, and runs no more', async () => {
    const closing = new ScriptEngine()
    const { outcome } = await runScript(closing, 'await tools.core.echo({}); for (;;) {}', {
      limits: { cpuMs: 60_000 },
      call: async () => {
        setImmediate(() => void closing.close())
        return { ok: true, value: 1 }
      },
    })
    expect(outcome).toMatchObject({ status: 'failed', kind: 'ABORTED' })
    expect((await runScript(closing, '1')).outcome).toMatchObject({ status: 'failed', kind: 'ABORTED' })
  })

  it('streams logs while a script runs', async () => {
    const seen: number[] = []
    const report = await run('console.log("one", { a: [1, "x"] }); await tools.core.echo({}); console.error("two")', {
      call: async () => ({ ok: true, value: seen.push(1) }),
    })
    expect(report.logs).toEqual([
      { level: 'log', text: 'one {"a":[1,"x"]}' },
      { level: 'error', text: 'two' },
    ])
  })

  it('survives a host that does not answer with JSON', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const { outcome } = await run('try { await tools.core.echo({}) } catch (error) { error.code }', {
      call: async () => ({ ok: true, value: cyclic }),
    })
    expect(outcome).toMatchObject({ value: 'INTERNAL' })
    expect((await run('1', { input: cyclic })).outcome).toMatchObject({ kind: 'SCRIPT_ERROR' })
  })
})

function resolvable(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}
