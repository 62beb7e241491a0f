import { ArrowRight } from 'lucide-react'
import type { CallEntry } from '../api/types.ts'
import { Badge } from '../components/badge.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Duration } from '../components/duration.tsx'
import { Facts } from '../components/facts.tsx'
import { StatusBadge } from '../components/status-badge.tsx'
import { Time } from '../components/time.tsx'
import { VisibleText } from '../components/visible-text.tsx'
import { Link } from '../router/link.tsx'
import type { CallPlace } from './call-details.tsx'
import styles from './call-facts.module.css'
import type { CallRecord } from './read-call-record.ts'
import { runPath } from './run-path.ts'

interface CallFactsProps extends CallPlace {
  readonly call: CallEntry
  readonly record: CallRecord
}

/** How a call ended, who made it, when, why and where from. */
export function CallFacts({ call, record, pathTo, isInRun }: CallFactsProps) {
  const { callId, run, status, startedAt, durationMs, caller, principal, parent } = call
  return (
    <>
      <div className={styles.head}>
        <StatusBadge status={status} />
        {record.isDryRun && <Badge tone="info">dry run</Badge>}
        {record.isCached && <Badge tone="info">result of an earlier call</Badge>}
        {record.isAbandoned && <Badge tone="warn">left behind</Badge>}
        {record.labels.map((label) => (
          <Badge key={label} tone="warn">
            <VisibleText text={label} />
          </Badge>
        ))}
        {!isInRun && (
          <Link to={runPath(run, callId)} className={styles.run}>
            Open in its run <ArrowRight size={13} aria-hidden="true" />
          </Link>
        )}
      </div>
      <Facts
        facts={[
          ['Started', <Time key="started" at={startedAt} />],
          ['Took', <Duration key="took" ms={status === 'running' ? undefined : durationMs} />],
          ['Caller', <VisibleText key="caller" text={principal ?? caller} />],
          ['Says it is', principal !== undefined && principal !== caller && <VisibleText key="says" text={caller} />],
          ['Purpose', record.purpose && <VisibleText key="purpose" text={record.purpose} />],
          ['Called as', record.wire && <VisibleText key="wire" text={record.wire} />],
          ['Session', record.session && <VisibleText key="session" text={record.session} />],
          ['Came by', record.via && <VisibleText key="via" text={record.via} />],
          ['Run', !isInRun && <RunLink key="run" run={run} />],
          ['Made by', parent && <CallLink key="parent" callId={parent} to={pathTo(parent)} />],
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

function RunLink({ run }: { run: string }) {
  return (
    <Link to={runPath(run)}>
      <VisibleText text={run} />
    </Link>
  )
}

function CallLink({ callId, to }: { callId: string; to: string }) {
  return (
    <Link to={to}>
      <code>{callId}</code>
    </Link>
  )
}
