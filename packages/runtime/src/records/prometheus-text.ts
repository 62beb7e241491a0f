import { family, histogram } from '@tool-hub/core/lib'

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
export function prometheusText({ inFlight, tools, shadow }: MetricsSnapshot): string {
  const calls = tools.flatMap(({ tool, statuses }) =>
    Object.entries(statuses).map(([status, value]) => ({ labels: { tool, status }, value })),
  )
  return [
    family('counter', 'tool_hub_calls_total', 'Calls that ended, by tool and status.', calls),
    family('gauge', 'tool_hub_calls_in_flight', 'Calls that have begun and not ended.', [{ value: inFlight }]),
    ...shadowFamilies(shadow),
    toolHistogram('tool_hub_call_duration_seconds', 'Duration of calls.', tools, (tool) => tool.durationSeconds),
    toolHistogram('tool_hub_result_bytes', 'Size of results.', tools, (tool) => tool.resultBytes),
  ].join('\n')
}

/** Only for hubs that have, or had, a shadow policy. */
function shadowFamilies({ compared, failed, differences }: ShadowMetrics): string[] {
  if (compared + failed === 0) return []
  const differing = [...differences].map(([pair, value]) => {
    const [decision = '', shadow = ''] = pair.split(' ')
    return { labels: { decision, shadow }, value }
  })
  return [
    family('counter', 'tool_hub_shadow_decisions_total', 'Decisions of the shadow policy.', [{ value: compared }]),
    family('counter', 'tool_hub_shadow_failures_total', 'Decisions that the shadow policy failed to make.', [
      { value: failed },
    ]),
    family(
      'counter',
      'tool_hub_shadow_differences_total',
      'Calls that the shadow policy decides otherwise.',
      differing,
    ),
  ]
}

function toolHistogram(
  name: string,
  help: string,
  tools: readonly ToolMetrics[],
  histogramOf: (tool: ToolMetrics) => Histogram,
): string {
  const bounds = tools[0] ? histogramOf(tools[0]).bounds : []
  const observed = tools.map((tool) => ({ labels: { tool: tool.tool }, ...histogramOf(tool) }))
  return histogram(name, help, bounds, observed)
}
