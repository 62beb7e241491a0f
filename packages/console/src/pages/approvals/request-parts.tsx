import { Timer } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { Link } from 'wouter'
import type { Approval } from '../../api/types.ts'
import { runPath } from '../../calls/call.ts'
import { Badge, StatusBadge } from '../../components/badge.tsx'
import { VisibleText } from '../../components/text.tsx'
import { now, Time } from '../../components/time.tsx'
import { formatDate, formatDuration } from '../../lib/format.ts'
import { useValue } from '../../lib/watched-value.ts'
import styles from './approvals.module.css'
import type { HumanRequest } from './human-request.ts'

/** A titled part of a request. */
export function DetailBlock({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={styles.block} aria-labelledby={id}>
      <h3 id={id}>{title}</h3>
      {children}
    </section>
  )
}

/** A titled list of texts; nothing if it is empty. */
export function TextList({
  title,
  texts,
  isCode = false,
}: {
  title: string
  texts: readonly string[]
  isCode?: boolean
}) {
  if (texts.length === 0) return null
  return (
    <DetailBlock title={title}>
      <ul className={styles.list}>
        {texts.map((text) => (
          <li key={text}>
            {isCode ? (
              <code>
                <VisibleText text={text} />
              </code>
            ) : (
              <VisibleText text={text} />
            )}
          </li>
        ))}
      </ul>
    </DetailBlock>
  )
}

/** The tool, the caller, the time and the deadline. */
export function RequestHeading({ request, isOver }: { request: HumanRequest; isOver: boolean }) {
  return (
    <header>
      <div className={styles.heading}>
        <h2>
          <VisibleText text={request.tool} />
        </h2>
        {isOver ? <RequestState request={request} /> : <Deadline at={request.expiresAt} />}
      </div>
      <p className={styles.who}>
        <VisibleText text={request.caller} /> asked <Time at={request.askedAt} /> in{' '}
        <Link to={`/runs/${encodeURIComponent(request.run)}`}>{request.run}</Link>
      </p>
    </header>
  )
}

/** The calls of the run so far, newest first. */
export function RunHistory({ history, run }: Pick<Approval, 'history' | 'run'>) {
  return (
    <DetailBlock title="The run so far">
      {history.length === 0 && <p className={styles.quiet}>This is the first call of its run.</p>}
      <ol className={styles.list} aria-label="Calls before this one">
        {history.map(({ callId, tool, status, summary }) => (
          <li key={callId} className={styles.call}>
            <StatusBadge status={status} />
            <Link to={runPath(run, callId)}>
              <VisibleText text={tool} />
            </Link>
            {summary !== undefined && (
              <span className={styles.summary}>
                <VisibleText text={summary} />
              </span>
            )}
          </li>
        ))}
      </ol>
    </DetailBlock>
  )
}

/** The decision of a request, or its state. */
export function RequestState({ request }: { request: HumanRequest }) {
  const decision = request.answered?.decision
  if (request.state !== 'answered' || decision === undefined) return <StatusBadge status={request.state} />
  if (decision === 'allow') return <Badge tone="ok">allowed</Badge>
  return <Badge tone="bad">{decision === 'deny' ? 'denied' : decision}</Badge>
}

const SOON_MS = 120_000

/** The time that is left to answer; highlighted if it is short. */
export function Deadline({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useValue(now)
  const title = `Answer before ${formatDate(new Date(at))}`
  if (leftMs <= 0) return <span className={styles.deadline}>expired</span>
  if (leftMs > SOON_MS) {
    return (
      <span className={styles.deadline} title={title}>
        {formatDuration(Math.round(leftMs / 60_000) * 60_000)} left
      </span>
    )
  }
  return (
    <span className={styles.soon} title={title}>
      <Timer size={12} aria-hidden="true" />
      {formatDuration(Math.ceil(leftMs / 1_000) * 1_000)} left
    </span>
  )
}
