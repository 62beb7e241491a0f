import { SEVERE_RISKS } from '@tool-hub/core/protocol/severe-risks'
import { Badge, type Tone } from '../../components/badge.tsx'
import { VisibleText } from '../../components/text.tsx'

const MAX_RISKS = 3

/** The tone of a risk: red for what no rule should allow, such as code from the network or what cannot be undone. */
export function toneOfRisk(risk: string): Tone {
  const words = risk.charAt(0).toLowerCase() + risk.slice(1)
  return SEVERE_RISKS.some((severe) => words.startsWith(severe)) ? 'bad' : 'warn'
}

/** The severe risks of a request, else its first one. */
export function RiskBadges({ risks }: { risks: readonly string[] }) {
  const severe = risks.filter((risk) => toneOfRisk(risk) === 'bad')
  return (severe.length > 0 ? severe.slice(0, MAX_RISKS) : risks.slice(0, 1)).map((risk) => (
    <Badge key={risk} tone={toneOfRisk(risk)} wraps>
      <VisibleText text={risk} />
    </Badge>
  ))
}
