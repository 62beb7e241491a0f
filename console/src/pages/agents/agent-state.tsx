import { LoaderCircle } from 'lucide-react'
import type { AgentEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'

/** Whether it goes on, has come to its end, or has failed. */
export function AgentState({ state }: { state: AgentEntry['state'] }) {
  if (state === 'running') {
    return (
      <Badge tone="info" icon={LoaderCircle}>
        running
      </Badge>
    )
  }
  return <Badge tone={state === 'failed' ? 'bad' : 'ok'}>{state}</Badge>
}
