import { Counter, Gauge, Histogram as PrometheusHistogram, Registry } from 'prom-client'

/** All tallies at one time. */
export interface MetricsSnapshot {
  readonly inFlight: number
  readonly tools: readonly ToolMetrics[]
  readonly shadow: ShadowMetrics
}

/** How often the shadow policy decided and failed to, and how its decisions differed: `allow deny` and the like. */
export interface ShadowMetrics {
  compared: number
  failed: number
  readonly differences: Map<string, number>
}

/** Counts per bucket, the last one for what is above every bound, and the sum of all. */
export interface Histogram {
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly sum: number
}

/** The tallies of one tool. */
export interface ToolMetrics {
  readonly tool: string
  readonly statuses: Readonly<Record<string, number>>
  readonly durationSeconds: Histogram
  readonly resultBytes: Histogram
}

/** Writes a snapshot of metrics in the text format of Prometheus. */
export function prometheusText({ inFlight, tools, shadow }: MetricsSnapshot): Promise<string> {
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
  if (shadow.compared + shadow.failed > 0) addShadow(shadow, registers)
  const seconds = tools.map((tool) => [tool, tool.durationSeconds] as const)
  registry.registerMetric(new FilledHistogram('tool_hub_call_duration_seconds', 'Duration of calls.', seconds))
  const bytes = tools.map((tool) => [tool, tool.resultBytes] as const)
  registry.registerMetric(new FilledHistogram('tool_hub_result_bytes', 'Size of results.', bytes))
  return registry.metrics()
}

/** Only for hubs that have, or had, a shadow policy. */
function addShadow({ compared, failed, differences }: ShadowMetrics, registers: Registry[]): void {
  const count = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `tool_hub_shadow_${name}_total`, help, labelNames, registers })
  count('decisions', 'Decisions of the shadow policy.').inc(compared)
  count('failures', 'Decisions that the shadow policy failed to make.').inc(failed)
  const differing = count('differences', 'Calls that the shadow policy decides otherwise.', ['decision', 'shadow'])
  for (const [pair, value] of differences) {
    const [decision = '', shadow = ''] = pair.split(' ')
    differing.inc({ decision, shadow }, value)
  }
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
