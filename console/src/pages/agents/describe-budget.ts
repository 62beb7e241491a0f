import type { AgentStatus } from '../../api/types.ts'
import { formatDuration } from '../../components/format-duration.ts'

/** What was used of what there is, in words; what has no limit is told without one. */
export function describeBudget({ used, limits }: NonNullable<AgentStatus['budget']>): string {
  const of = (limit: number | undefined, write: (value: number) => string) =>
    limit === undefined ? '' : ` of ${write(limit)}`
  const count = (value: number) => value.toLocaleString('en')
  return [
    `${count(used.calls)}${of(limits.calls, count)} ${(limits.calls ?? used.calls) === 1 ? 'call' : 'calls'}`,
    `${formatDuration(used.wallMs)}${of(limits.wallMs, formatDuration)}`,
    ...(used.cost > 0 || limits.cost !== undefined ? [`cost ${count(used.cost)}${of(limits.cost, count)}`] : []),
  ].join(', ')
}
