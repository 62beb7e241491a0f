import type { RecordLine } from '../../api/types.ts'
import { JsonView } from '../../components/json-view.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './call-details.module.css'
import { DetailBlock } from './detail-block.tsx'
import { restOf } from './read-call.ts'

/** What happened on the way: files changed, hosts connected to, processes left running. */
export function CallEvents({ events }: { events: readonly RecordLine[] }) {
  if (events.length === 0) return null
  return (
    <DetailBlock title="On the way">
      {events.map((line) => (
        <div key={line.seq} className={styles.block}>
          <p className={styles.line}>
            <VisibleText text={line.type.replaceAll('-', ' ')} />
            <span className={styles.quiet}>
              <Time at={line.time} />
            </span>
          </p>
          <JsonView value={restOf(line)} label={`${line.type}, line ${line.seq}`} openDepth={1} />
        </div>
      ))}
    </DetailBlock>
  )
}
