import { type Span, type Tracer, trace } from '@opentelemetry/api'
import { afterEach, expect, it } from 'vitest'
import { testHub } from '../packages/testing/src/tool-contract.ts'

afterEach(() => trace.disable())

/** Stands for the SDK of a host. */
function register(startSpan: (name: string) => Partial<Span>): void {
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer })
}

it('every execution is a span that ends with the call', async () => {
  const seen: string[] = []
  register((name) => ({
    end: () => void seen.push(name),
    setAttribute: () => ({}) as Span,
    setStatus: () => ({}) as Span,
  }))
  const hub = testHub()
  await hub.call('core/util.time.now', {})
  await hub.call('core/util.time.now', { timezone: 'Nowhere/Else' })
  await hub.close()
  expect(seen).toEqual(['execute_tool core/util.time.now', 'execute_tool core/util.time.now'])
})

it('a broken SDK costs its spans, never a call', async () => {
  const broken = () => {
    throw new Error('no exporter')
  }
  for (const sdk of [broken, () => ({ end: broken })]) {
    register(sdk)
    const hub = testHub()
    expect((await hub.call('core/util.time.now', {})).ok).toBe(true)
    await hub.close()
    trace.disable()
  }
})
