import type { CallEntry } from '../../api/types.ts'
import { EffectBadge } from '../../components/effect-badge.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { CallAsk } from './call-ask.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'
import { type CallStory, textOf } from './read-call.ts'

/** What policy said by which rule, and what people said. */
export function CallDecision({ call, story: { facts, asks } }: { call: CallEntry; story: CallStory }) {
  const { effect, rule, targets = [] } = call
  const sandbox = textOf(facts, 'sandbox')
  if (effect === undefined && rule === undefined && asks.length === 0) return null
  return (
    <DetailBlock title="Decision">
      <p className={styles.line}>
        {effect && <EffectBadge effect={effect} />}
        {rule !== undefined && (
          <code>
            <VisibleText text={rule} />
          </code>
        )}
        {sandbox !== undefined && <span className={styles.quiet}>sandbox: {sandbox}</span>}
      </p>
      {targets.length > 0 && (
        <ul className={styles.list} aria-label="Targets">
          {targets.map((target) => (
            <li key={target}>
              <code>
                <VisibleText text={target} />
              </code>
            </li>
          ))}
        </ul>
      )}
      {asks.map((line) => (
        <CallAsk key={line.seq} line={line} />
      ))}
    </DetailBlock>
  )
}
