import { Counter, Gauge, Histogram as PrometheusHistogram, Registry } from 'prom-client'
import type { Histogram, Metrics, ToolMetrics } from './telemetry.ts'

/** Writes a snapshot of metrics in the text format of Prometheus. */
export function prometheusText({ inFlight, tools }: ReturnType<Metrics['snapshot']>): Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const calls = new Counter({
    name: 'tool_hub_calls_total',
    help: 'Calls that ended, by tool and status.',
    labelNames: ['tool', 'status'],
    registers,
  })
  for (const { tool, statuses } of tools)
    for (const [status, count] of Object.entries(statuses)) calls.inc({ tool, status }, count)
  new Gauge({
    name: 'tool_hub_calls_in_flight',
    help: 'Calls that have begun and not ended.',
    registers,
  }).set(inFlight)
  const seconds = tools.map((tool) => [tool, tool.durationSeconds] as const)
  registry.registerMetric(new FilledHistogram('tool_hub_call_duration_seconds', 'Duration of calls.', seconds))
  const bytes = tools.map((tool) => [tool, tool.resultBytes] as const)
  registry.registerMetric(new FilledHistogram('tool_hub_result_bytes', 'Size of results.', bytes))
  return registry.metrics()
}

/** A histogram that was counted elsewhere: the library can only observe values one by one. */
class FilledHistogram extends PrometheusHistogram {
  readonly #text: { readonly name: string; readonly help: string; readonly values: readonly object[] }

  constructor(name: string, help: string, tools: readonly (readonly [ToolMetrics, Histogram])[]) {
    super({ name, help, registers: [] })
    this.#text = { name, help, values: tools.flatMap(([{ tool }, histogram]) => valuesOf(name, tool, histogram)) }
  }

  /** What the registry prints of it. */
  getForPromString(): object {
    return { ...this.#text, type: 'histogram' }
  }
}

/** Prometheus counts a bucket with all those below it. */
function valuesOf(name: string, tool: string, { bounds, counts, sum }: Histogram): object[] {
  let total = 0
  const buckets = counts.map((count, index) => {
    total += count
    return { metricName: `${name}_bucket`, value: total, labels: { le: bounds[index] ?? '+Inf', tool } }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, value: sum, labels: { tool } },
    { metricName: `${name}_count`, value: total, labels: { tool } },
  ]
}
