import { createRequire } from 'node:module'
import type { Span, Tracer } from '@opentelemetry/api'
import { messageOf } from '../../core/index.ts'

/** What a span records about a call. */
interface TracedCall {
  readonly tool: string
  readonly callId: string
  readonly description?: string
}

/** A span that was started and must be ended once. */
export interface CallSpan {
  end(result: { readonly ok: boolean; readonly code?: string }): void
}

/** Where every copy of `@opentelemetry/api` 1.x keeps what an SDK registered. */
const API = Symbol.for('opentelemetry.js.api.1')
const ERROR_STATUS = 2

/**
 * Starts the span of a tool's execution, with the attributes of the GenAI conventions. Returns `undefined`, at the cost
 * of two property reads and without loading anything, if the host has registered no tracing SDK.
 */
export function startSpan(call: TracedCall): CallSpan | undefined {
  const registered = (globalThis as { [API]?: { readonly trace?: unknown } })[API]?.trace
  if (registered === undefined) return undefined
  const span = unlessBroken(() => beginSpan(registered, call))
  return span && { end: (result) => unlessBroken(() => endSpan(span, result)) }
}

/** A broken SDK costs its spans, never a call. */
function unlessBroken<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    process.emitWarning(`The tracing SDK failed: ${messageOf(error)}`, { type: 'ToolHubWarning' })
    return undefined
  }
}

function beginSpan(provider: unknown, { tool, callId, description }: TracedCall): Span {
  return tracerOf(provider).startSpan(`execute_tool ${tool}`, {
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      ...(description !== undefined && { 'gen_ai.tool.description': description }),
    },
  })
}

function endSpan(span: Span, { ok, code }: { readonly ok: boolean; readonly code?: string }): void {
  if (!ok) {
    span.setAttribute('error.type', code ?? '_OTHER')
    span.setStatus({ code: ERROR_STATUS })
  }
  span.end()
}

let last: { readonly provider: unknown; readonly tracer: Tracer } | undefined

/** The tracer of a provider; read again when the host registers another one. */
function tracerOf(provider: unknown): Tracer {
  if (last?.provider !== provider) {
    // Required, not imported: a span must begin now, and a hub without an SDK must not load the package.
    const api = createRequire(import.meta.url)('@opentelemetry/api') as typeof import('@opentelemetry/api')
    last = { provider, tracer: api.trace.getTracer('tool-hub') }
  }
  return last!.tracer
}
