import { Ban, Check, Hand } from 'lucide-react'
import { Badge } from './badge.tsx'

/** What policy says to a call: allow, ask or deny. */
export function EffectBadge({ effect }: { effect: 'allow' | 'ask' | 'deny' }) {
  if (effect === 'allow')
    return (
      <Badge tone="ok" icon={Check}>
        allow
      </Badge>
    )
  if (effect === 'ask')
    return (
      <Badge tone="warn" icon={Hand}>
        ask
      </Badge>
    )
  return (
    <Badge tone="bad" icon={Ban}>
      deny
    </Badge>
  )
}
