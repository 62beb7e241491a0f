import type { RecordLine } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './call-details.module.css'
import { textOf } from './read-call.ts'

const UNANSWERED = new Map([
  ['timeout', 'nobody answered in time'],
  ['aborted', 'the caller stopped waiting'],
  ['unavailable', 'nobody could be asked'],
])

/** One line of what was asked and answered. */
export function CallAsk({ line }: { line: RecordLine }) {
  const reason = textOf(line, 'reason')
  return (
    <p className={styles.line}>
      <Said line={line} />
      <span className={styles.quiet}>
        <Time at={line.time} />
      </span>
      {reason !== undefined && <VisibleText text={reason} />}
    </p>
  )
}

function Said({ line }: { line: RecordLine }) {
  if (line.type === 'approval-requested') return <Badge tone="warn">a person was asked</Badge>
  const by = textOf(line, 'by') ?? 'nobody'
  if (line.type === 'answer-refused') {
    return (
      <Badge>
        late answer of <VisibleText text={by} />
      </Badge>
    )
  }
  const decision = textOf(line, 'decision') ?? ''
  const unanswered = UNANSWERED.get(decision)
  if (unanswered !== undefined) return <Badge>{unanswered}</Badge>
  const via = textOf(line, 'via')
  const remember = textOf(line, 'remember')
  const words = [
    `${decision === 'allow' ? 'allowed' : 'denied'} by ${by}`,
    via !== undefined && `via ${via}`,
    line.changed === true && 'with changed arguments',
    remember !== undefined && remember !== 'once' && `remembered: ${remember}`,
  ]
  return (
    <Badge tone={decision === 'allow' ? 'ok' : 'bad'}>
      <VisibleText text={words.filter(Boolean).join(', ')} />
    </Badge>
  )
}
