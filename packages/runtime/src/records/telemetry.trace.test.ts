import { type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api'
import { afterEach, describe, expect, it } from 'vitest'
import { startSpan } from './telemetry.ts'

interface Seen {
  readonly name: string
  readonly attributes: Record<string, unknown>
  status?: unknown
  ended: boolean
}

/** Stands for the SDK of a host. */
function register(): Seen[] {
  const spans: Seen[] = []
  const startSpan = (name: string, options?: SpanOptions): Span => {
    const seen: Seen = { name, attributes: { ...options?.attributes }, ended: false }
    spans.push(seen)
    return {
      setAttribute: (key: string, value: unknown) => {
        seen.attributes[key] = value
      },
      setStatus: (status: unknown) => {
        seen.status = status
      },
      end: () => {
        seen.ended = true
      },
    } as unknown as Span
  }
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as unknown as Tracer })
  return spans
}

afterEach(() => trace.disable())

describe('startSpan', () => {
  it('does nothing without an SDK', () => {
    expect(startSpan({ tool: 'notes.save', callId: 'c1' })).toBeUndefined()
  })

  it('makes a span of the GenAI conventions for a tool that worked', () => {
    const spans = register()
    startSpan({ tool: 'notes.save', callId: 'c1', description: 'Save a note.' })?.end({ ok: true })
    expect(spans).toEqual([
      {
        name: 'execute_tool notes.save',
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'notes.save',
          'gen_ai.tool.call.id': 'c1',
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.description': 'Save a note.',
        },
        ended: true,
      },
    ])
  })

  it('marks a failure with its code', () => {
    const spans = register()
    startSpan({ tool: 'notes.save', callId: 'c1' })?.end({ ok: false, code: 'TIMEOUT' })
    expect(spans[0]).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'TIMEOUT' }, ended: true })
  })

  it('follows the host to another SDK, and to none', () => {
    const first = register()
    startSpan({ tool: 'a', callId: 'c1' })?.end({ ok: true })
    trace.disable()
    expect(startSpan({ tool: 'a', callId: 'c2' })).toBeUndefined()
    const second = register()
    startSpan({ tool: 'a', callId: 'c3' })?.end({ ok: true })
    expect([first.length, second.length]).toEqual([1, 1])
  })

  it('marks a failure without a code, and leaves the status of others alone', () => {
    const spans = register()
    startSpan({ tool: 'a', callId: 'c1' })?.end({ ok: false })
    startSpan({ tool: 'a', callId: 'c2' })?.end({ ok: true, code: 'X' })
    expect(spans).toMatchObject([{ attributes: { 'error.type': '_OTHER' } }, { ended: true }])
    expect(spans[1]).not.toHaveProperty('status')
    expect(spans[1]!.attributes).not.toHaveProperty('error.type')
    expect(spans[1]!.attributes).not.toHaveProperty('gen_ai.tool.description')
  })

  it('warns of an SDK that fails, and the call continues', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    const broken = () => {
      throw new Error('no exporter')
    }
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: broken }) as unknown as Tracer })
    expect(startSpan({ tool: 'a', callId: 'c1' })).toBeUndefined()
    trace.disable()
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => ({ end: broken }) }) as unknown as Tracer })
    startSpan({ tool: 'a', callId: 'c2' })!.end({ ok: true })
    await new Promise(setImmediate)
    process.off('warning', onWarning)
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      'ToolHubWarning: The tracing SDK failed: no exporter',
      'ToolHubWarning: The tracing SDK failed: no exporter',
    ])
  })
})
