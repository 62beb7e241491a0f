import type { CallEntry } from '../../api/types.ts'
import { Badge } from '../../components/badge.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Duration } from '../../components/duration.tsx'
import { Facts } from '../../components/facts.tsx'
import { StatusBadge } from '../../components/status-badge.tsx'
import { Time } from '../../components/time.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import styles from './call-facts.module.css'
import type { CallRecord } from './read-call-record.ts'

interface CallFactsProps {
  readonly call: CallEntry
  readonly record: CallRecord
  readonly onSelect: (callId: string) => void
}

/** Who called, when, how it ended. */
export function CallFacts({ call, record, onSelect }: CallFactsProps) {
  const { callId, status, startedAt, durationMs, caller, principal, parent } = call
  return (
    <>
      <div className={styles.badges}>
        <StatusBadge status={status} />
        {record.isDryRun && <Badge tone="info">dry run</Badge>}
        {record.isCached && <Badge tone="info">result of an earlier call</Badge>}
        {record.isAbandoned && <Badge tone="warn">left behind</Badge>}
        {record.labels.map((label) => (
          <Badge key={label} tone="warn">
            {label}
          </Badge>
        ))}
      </div>
      <Facts
        facts={[
          ['Started', <Time key="started" at={startedAt} />],
          ['Took', <Duration key="took" ms={status === 'running' ? undefined : durationMs} />],
          ['Caller', <VisibleText key="caller" text={principal ?? caller} />],
          ['Says it is', principal !== undefined && principal !== caller && <VisibleText key="says" text={caller} />],
          ['Purpose', record.purpose && <VisibleText key="purpose" text={record.purpose} />],
          ['Session', record.session && <VisibleText key="session" text={record.session} />],
          ['Made by', parent && <ParentLink key="parent" parent={parent} onSelect={onSelect} />],
          [
            'Call',
            <span key="call" className={styles.id}>
              <code>{callId}</code> <CopyButton text={callId} label="Copy the id of the call" />
            </span>,
          ],
        ]}
      />
    </>
  )
}

function ParentLink({ parent, onSelect }: { parent: string; onSelect: (callId: string) => void }) {
  return (
    <button type="button" className={styles.link} onClick={() => onSelect(parent)}>
      {parent}
    </button>
  )
}
