import type { PolicyExplanation } from '../../api/types.ts'
import { Code } from '../../components/code.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { EffectBadge } from '../../components/effect-badge.tsx'
import { Facts } from '../../components/facts.tsx'
import { Note } from '../../components/note.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './policy.module.css'

const MEANS = {
  allow: 'It would run.',
  ask: 'A person would be asked first.',
  deny: 'It would be refused.',
} as const

/** The decision in words: what happens, by which rule, where it is written, and what would change it. */
export function ExplainAnswer({
  answer: { effect, rule, source, reason, targets, risks = [], text, fix },
}: AnswerProps) {
  return (
    <>
      <div className={styles.row}>
        <EffectBadge effect={effect} />
        <strong>{MEANS[effect]}</strong>
      </div>
      <Facts
        facts={[
          [
            'Rule',
            <code key="rule">
              <VisibleText text={rule} />
            </code>,
          ],
          [
            'Source',
            <code key="source">
              <VisibleText text={source} />
            </code>,
          ],
          ['Reason', <VisibleText key="reason" text={reason} />],
          ['Targets', targets.length > 0 && <Targets targets={targets} />],
        ]}
      />
      {risks.length > 0 && (
        <Note tone="warn" title="What is dangerous about this call">
          {risks.map((risk) => (
            <p key={risk}>
              <VisibleText text={`${risk}.`} />
            </p>
          ))}
        </Note>
      )}
      {fix !== undefined && (
        <Note tone="info" title="What would change it">
          <div className={styles.fix}>
            <span>
              <VisibleText text={fix} />
            </span>
            <CopyButton text={fix} label="Copy the fix" />
          </div>
        </Note>
      )}
      <Code text={text} label="Explanation" />
    </>
  )
}

interface AnswerProps {
  readonly answer: PolicyExplanation
}

function Targets({ targets }: Pick<PolicyExplanation, 'targets'>) {
  return (
    <ul className={styles.list}>
      {targets.map(({ capability, value }) => (
        <li key={`${capability} ${value}`}>
          <code>
            <VisibleText text={`${capability} ${value}`} />
          </code>
        </li>
      ))}
    </ul>
  )
}
