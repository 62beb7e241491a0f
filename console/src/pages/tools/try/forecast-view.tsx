import { Badge } from '../../../components/badge.tsx'
import { EffectBadge } from '../../../components/effect-badge.tsx'
import { Facts } from '../../../components/facts.tsx'
import { Section } from '../../../components/section.tsx'
import { VisibleText } from '../../../components/visible-text.tsx'
import styles from './forecast-view.module.css'
import type { Forecast } from './use-forecast.ts'
import { useScrollIntoView } from './use-scroll-into-view.ts'

/** What a dry run and policy say of a call that was not made. */
export function ForecastView({ forecast, isOld }: { forecast: Forecast; isOld: boolean }) {
  const { dryRun, explanation } = forecast
  const place = useScrollIntoView<HTMLDivElement>(forecast)
  const { effect, rule, reason, source, targets, fix } = explanation
  const isInvalid = dryRun.status === 'error'
  return (
    <div ref={place}>
      <Section
        title="What would happen"
        actions={
          isOld ? <Badge tone="warn">of an earlier input</Badge> : <Badge tone="quiet">nothing was executed</Badge>
        }
      >
        <p role="status" className={styles.summary}>
          <VisibleText text={isInvalid || dryRun.status === 'denied' ? dryRun.summary : sentenceFor(effect)} />
        </p>
        <Facts
          facts={[
            ['Policy', isInvalid ? undefined : <EffectBadge key="effect" effect={effect} />],
            ['Rule', <Mono key="rule" text={rule} />],
            ['From', rule.includes(source) ? undefined : <VisibleText key="source" text={source} />],
            ['Reason', <VisibleText key="reason" text={reason} />],
            [
              'Touches',
              targets.length > 0 && (
                <ul key="targets" className={styles.targets}>
                  {targets.map(({ capability, value }) => (
                    <li key={`${capability} ${value}`}>
                      <Mono text={`${capability} ${value}`} />
                    </li>
                  ))}
                </ul>
              ),
            ],
            ['What helps', !dryRun.ok && <VisibleText key="fix" text={fix ?? dryRun.error.fix.hint} />],
          ]}
        />
      </Section>
    </div>
  )
}

function sentenceFor(effect: 'allow' | 'ask' | 'deny'): string {
  if (effect === 'allow') return 'It would run at once.'
  if (effect === 'ask') return 'It would wait until somebody else approves it: nobody approves their own call.'
  return 'It would be refused.'
}

function Mono({ text }: { text: string }) {
  return (
    <code>
      <VisibleText text={text} />
    </code>
  )
}
