import type { CallEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { ArtifactList } from './artifact-list.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'
import { type CallStory, numberOf, textsOf } from './read-call.ts'
import { RecordedFailure } from './recorded-failure.tsx'

/** What came of it: summary, failure, evidence, artifacts. Records keep no whole outputs. */
export function CallOutput({ call, story: { end } }: { call: CallEntry; story: CallStory }) {
  if (end === undefined) {
    const words = call.status === 'running' ? 'It runs; this fills in when it ends.' : 'No end of it is on record.'
    return (
      <DetailBlock title="Output">
        <p className={styles.quiet}>{words}</p>
      </DetailBlock>
    )
  }
  const evidence = textsOf(end, 'evidence')
  const notices = textsOf(end, 'notices')
  const bytes = numberOf(end, 'bytes')
  return (
    <>
      <DetailBlock title="Output">
        <RecordedFailure error={end.error} />
        {call.summary !== undefined && end.error === undefined && (
          <p className={styles.words}>
            <VisibleText text={call.summary} />
          </p>
        )}
        <p className={styles.line}>
          <span className={styles.quiet}>{(bytes ?? 0).toLocaleString('en')} bytes for the model</span>
          {textsOf(end, 'labels').map((label) => (
            <Badge key={label} tone="warn">
              <VisibleText text={label} />
            </Badge>
          ))}
          {end.abandoned === true && <Badge tone="warn">left behind: it ignored its end</Badge>}
        </p>
        {notices.map((notice) => (
          <p key={notice}>
            <VisibleText text={notice} />
          </p>
        ))}
      </DetailBlock>
      {evidence.length > 0 && (
        <DetailBlock title="Evidence">
          <ul className={styles.list}>
            {evidence.map((piece) => (
              <li key={piece}>
                <code>
                  <VisibleText text={piece} />
                </code>
              </li>
            ))}
          </ul>
        </DetailBlock>
      )}
      <ArtifactList artifacts={textsOf(end, 'artifacts')} run={call.run} />
    </>
  )
}
