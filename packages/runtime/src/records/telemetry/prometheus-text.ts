import { family, histogram } from '@tool-hub/core/lib'
import type { Histogram, Metrics, ToolMetrics } from './telemetry.ts'

/** Writes a snapshot of metrics in the text format of Prometheus. */
export function prometheusText({ inFlight, tools, shadow }: ReturnType<Metrics['snapshot']>): string {
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
function shadowFamilies({ compared, failed, differences }: Metrics['shadow']): string[] {
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
