import { type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { Histogram, Metrics, ToolMetrics } from './metrics.ts'

/** Writes a snapshot of metrics in the text format of Prometheus. */
export function prometheusText({ inFlight, tools }: ReturnType<Metrics['snapshot']>): Promise<string> {
  const registry = new Registry()
  const add = (type: string, name: string, help: string, values: readonly Value[]) =>
    // The registry uses only `name` and `get` of a metric; its types do not say so, hence the cast.
    registry.registerMetric({
      name,
      get: async () => ({ name, help, type, values, aggregator: 'sum' }),
    } as unknown as Metric)

  add('counter', 'tool_hub_calls_total', 'Calls that ended, by tool and status.', tools.flatMap(statusValues))
  add('gauge', 'tool_hub_calls_in_flight', 'Calls that have begun and not ended.', [{ value: inFlight, labels: {} }])
  const seconds = 'tool_hub_call_duration_seconds'
  add(
    'histogram',
    seconds,
    'Duration of calls.',
    tools.flatMap((tool) => histogramValues(seconds, tool, tool.durationSeconds)),
  )
  const bytes = 'tool_hub_result_bytes'
  add(
    'histogram',
    bytes,
    'Size of results.',
    tools.flatMap((tool) => histogramValues(bytes, tool, tool.resultBytes)),
  )
  return registry.metrics()
}

type Value = MetricObjectWithValues<MetricValue<string>>['values'][number] & { readonly metricName?: string }

function statusValues({ tool, statuses }: ToolMetrics): Value[] {
  return Object.entries(statuses).map(([status, value]) => ({ value, labels: { tool, status } }))
}

/** Prometheus counts a bucket with all those below it. */
function histogramValues(name: string, { tool }: ToolMetrics, { bounds, counts, sum }: Histogram): Value[] {
  let total = 0
  const buckets = counts.map((count, index): Value => {
    total += count
    return { metricName: `${name}_bucket`, value: total, labels: { le: bounds[index] ?? '+Inf', tool } }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, value: sum, labels: { tool } },
    { metricName: `${name}_count`, value: total, labels: { tool } },
  ]
}
