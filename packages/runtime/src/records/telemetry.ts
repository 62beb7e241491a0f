import { createRequire } from 'node:module'
import type { Span, Tracer } from '@opentelemetry/api'
import { type Effect, lazyModule, messageOf } from '@tool-hub/core'
import type { MetricsSnapshot, ShadowMetrics, ToolMetrics } from './prometheus-text.ts'

const loadPrometheusText = lazyModule(() => import('./prometheus-text.ts'))

/** What one call adds to the metrics. */
interface CallMeasure {
  readonly tool: string
  readonly status: string
  readonly durationMs: number
  readonly bytes: number
}

const MAX_TOOLS = 1_000
const MAX_STATUSES = 16
/** Where the tools and statuses beyond the bound are counted. */
const OTHER = 'other'
const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]
const BYTES = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000]

/** Counts calls by tool and status, with durations and sizes, in memory that does not grow with the calls. */
export class Metrics {
  readonly #tools = new Map<string, Tally>()
  /** Calls that have started and not ended; set by the pipeline. */
  inFlight = 0
  /** How often the shadow policy decided and failed to, and how its decisions differed: `allow deny` and the like. */
  readonly shadow: ShadowMetrics = { compared: 0, failed: 0, differences: new Map() }

  record(call: CallMeasure): void {
    const tally = this.#tools.get(call.tool) ?? this.#newTally(call.tool)
    const status = tally.statuses.has(call.status) || tally.statuses.size < MAX_STATUSES ? call.status : OTHER
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
    observe(tally.duration, call.durationMs / 1_000)
    observe(tally.bytes, call.bytes)
  }

  /** Counts a call about which the shadow policy decides otherwise. */
  recordShadow(effect: Effect, shadowEffect: Effect): void {
    const { differences } = this.shadow
    const pair = `${effect} ${shadowEffect}`
    differences.set(pair, (differences.get(pair) ?? 0) + 1)
  }

  /** Returns a copy of all tallies. */
  snapshot(): MetricsSnapshot {
    return {
      inFlight: this.inFlight,
      tools: [...this.#tools].map(([tool, tally]) => copyOf(tool, tally)),
      shadow: { ...this.shadow, differences: new Map(this.shadow.differences) },
    }
  }

  /** Returns the text that Prometheus scrapes. */
  async prometheus(): Promise<string> {
    const { prometheusText } = await loadPrometheusText()
    return prometheusText(this.snapshot())
  }

  #newTally(tool: string): Tally {
    if (this.#tools.size >= MAX_TOOLS && tool !== OTHER) return this.#tools.get(OTHER) ?? this.#newTally(OTHER)
    const tally = { statuses: new Map(), duration: histogram(SECONDS), bytes: histogram(BYTES) }
    this.#tools.set(tool, tally)
    return tally
  }
}

interface Tally {
  readonly statuses: Map<string, number>
  readonly duration: Tallied
  readonly bytes: Tallied
}

interface Tallied {
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum: number
}

function histogram(bounds: readonly number[]): Tallied {
  return { bounds, counts: new Array(bounds.length + 1).fill(0), sum: 0 }
}

function observe(histogram: Tallied, value: number): void {
  // A broken clock must not turn a sum into NaN for ever.
  if (!Number.isFinite(value)) return
  let bucket = 0
  while (bucket < histogram.bounds.length && value > histogram.bounds[bucket]!) bucket++
  histogram.counts[bucket]!++
  histogram.sum += value
}

function copyOf(tool: string, { statuses, duration, bytes }: Tally): ToolMetrics {
  return {
    tool,
    statuses: Object.fromEntries(statuses),
    durationSeconds: { ...duration, counts: [...duration.counts] },
    resultBytes: { ...bytes, counts: [...bytes.counts] },
  }
}

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
