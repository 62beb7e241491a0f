import { Badge } from '../../components/badge.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import type { Ask } from './ask.ts'

/** What became of an ask: the decision where there was one. */
export function AskState({ ask }: { ask: Ask }) {
  const decision = ask.answered?.decision
  if (ask.state !== 'answered' || decision === undefined) return <StatusBadge status={ask.state} />
  if (decision === 'allow') return <Badge tone="ok">allowed</Badge>
  return <Badge tone="bad">{decision === 'deny' ? 'denied' : decision}</Badge>
}
