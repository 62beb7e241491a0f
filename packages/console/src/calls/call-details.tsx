import { ArrowRight } from 'lucide-react'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { CallDetail, CallEntry, RecordLine } from '../api/types.ts'
import { ArtifactList } from '../components/artifact-list.tsx'
import { Badge, StatusBadge } from '../components/badge.tsx'
import { CopyButton } from '../components/button.tsx'
import { DetailPart, Facts, TextLines } from '../components/details.tsx'
import { JsonView } from '../components/json-view.tsx'
import { SourceView } from '../components/source-view.tsx'
import { Code, VisibleText } from '../components/text.tsx'
import { Duration, Time } from '../components/time.tsx'
import { formatBytes } from '../lib/format.ts'
import { runPath } from './call.ts'
import { CallDecision, CallError } from './call-decision.tsx'
import styles from './calls.module.css'
import { type CallRecord, readCallRecord } from './read-call-record.ts'

/** Where the details of a call are shown. */
export interface CallPlace {
  /** The address of another call in the same view, for its parent and its children. */
  readonly pathTo: (callId: string) => string
  /** On the page of its run, which needs no link to the run. */
  readonly isInRun?: boolean
}

/** Everything in the record of a call. */
export function CallDetails({ detail, pathTo, isInRun = false }: CallPlace & { detail: CallDetail }) {
  const { call, lines, children } = detail
  const record = useMemo(() => readCallRecord(lines), [lines])
  return (
    <>
      <CallFacts call={call} record={record} pathTo={pathTo} isInRun={isInRun} />
      {record.error && <CallError call={call} error={record.error} args={record.args} />}
      <DetailPart title="Input">
        <CallInput tool={call.tool} record={record} hasLines={lines.length > 0} />
      </DetailPart>
      <DetailPart title="Decision">
        <CallDecision call={call} record={record} />
      </DetailPart>
      <DetailPart title="Output">
        <CallOutput call={call} record={record} />
      </DetailPart>
      {record.artifacts.length > 0 && (
        <DetailPart title="Artifacts">
          <ArtifactList run={call.run} artifacts={record.artifacts.map((ref) => ({ ref }))} />
        </DetailPart>
      )}
      {record.events.length > 0 && (
        <DetailPart title="Events">
          <CallEvents events={record.events} />
        </DetailPart>
      )}
      {children.length > 0 && (
        <DetailPart title={`Child calls (${children.length})`}>
          <CallChildren calls={children} pathTo={pathTo} />
        </DetailPart>
      )}
      <DetailPart title={`Record (${lines.length} ${lines.length === 1 ? 'line' : 'lines'})`} isClosed>
        <RecordLines lines={lines} />
      </DetailPart>
    </>
  )
}

interface CallFactsProps extends CallPlace {
  readonly call: CallEntry
  readonly record: CallRecord
}

/** The status of a call, its caller, time, purpose and transport. */
function CallFacts({ call, record, pathTo, isInRun }: CallFactsProps) {
  const { callId, run, status, startedAt, durationMs, caller, principal, parent } = call
  return (
    <>
      <div className={styles.head}>
        <StatusBadge status={status} />
        {record.isDryRun && <Badge tone="info">dry run</Badge>}
        {record.isCached && <Badge tone="info">result of an earlier call</Badge>}
        {record.isAbandoned && <Badge tone="warn">abandoned</Badge>}
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
          ['Calls itself', principal !== undefined && principal !== caller && <VisibleText key="says" text={caller} />],
          ['Purpose', record.purpose && <VisibleText key="purpose" text={record.purpose} />],
          ['Called as', record.wire && <VisibleText key="wire" text={record.wire} />],
          ['Session', record.session && <VisibleText key="session" text={record.session} />],
          ['Transport', record.via && <VisibleText key="via" text={record.via} />],
          ['Run', !isInRun && <RunLink key="run" run={run} />],
          ['Script', record.script && <ScriptPlace key="script" script={record.script} pathTo={pathTo} />],
          ['Parent call', parent && <CallLink key="parent" callId={parent} to={pathTo(parent)} />],
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

interface ScriptPlaceProps {
  readonly script: NonNullable<CallRecord['script']>
  readonly pathTo: CallPlace['pathTo']
}

/** The script that made the call, with a link to the call that started it. */
function ScriptPlace({ script: { id, line }, pathTo }: ScriptPlaceProps) {
  return (
    <>
      {line !== undefined && `line ${line} of `}
      <CallLink callId={id} to={pathTo(id)} />
    </>
  )
}

/** The source of a script and its input. */
function ScriptInput({ code, rest }: { code: string; rest: Record<string, unknown> }) {
  return (
    <>
      <SourceView text={code} label="Script" marks={NO_MARKS} />
      {Object.keys(rest).length > 0 && <JsonView value={rest} label="input" />}
    </>
  )
}

const NO_MARKS: ReadonlyMap<number, string> = new Map()

interface CallInputProps {
  readonly tool: string
  readonly record: CallRecord
  readonly hasLines: boolean
}

/** The recorded arguments, or why there are none. */
function CallInput({ tool, record: { args, argsBytes }, hasLines }: CallInputProps) {
  const { code, ...rest } = (args ?? {}) as Record<string, unknown>
  if (tool === 'core/code.run' && typeof code === 'string') return <ScriptInput code={code} rest={rest} />
  if (args !== undefined) return <JsonView value={args} label="input" />
  if (argsBytes !== undefined)
    return <p>{argsBytes.toLocaleString('en')} bytes: over 2 KB, so only the size and the hash are recorded.</p>
  return (
    <p>
      {hasLines ? 'It was not recorded.' : 'The record of this run no longer exists; only the index has this call.'}
    </p>
  )
}

/** The result of a call as far as it is recorded: output, summary, size, evidence. */
function CallOutput({ call, record }: { call: CallEntry; record: CallRecord }) {
  if (call.status === 'running') return <p>The call is still running; its output appears when it ends.</p>
  const { bytes, output, attempts, evidence, notices, changedPaths, error } = record
  return (
    <>
      {output !== undefined && <Code text={output} label="Output" />}
      {!error && <p>{call.summary ? <VisibleText text={call.summary} /> : 'No summary.'}</p>}
      <Facts
        facts={[
          ['Size', bytes === undefined ? undefined : formatBytes(bytes)],
          ['Attempts', attempts !== undefined && attempts > 1 ? String(attempts) : undefined],
          ['Evidence', evidence.length > 0 && <TextLines key="evidence" lines={evidence} isCode />],
          ['Notices', notices.length > 0 && <TextLines key="notices" lines={notices} />],
          [
            'Changed',
            changedPaths.length > 0 && (
              <Link key="changed" to={`${runPath(call.run, call.callId)}?tab=changes`}>
                {changedPaths.length} {changedPaths.length === 1 ? 'file' : 'files'}: see the changes
              </Link>
            ),
          ],
        ]}
      />
    </>
  )
}

const ON_EVERY_LINE = new Set(['seq', 'time', 'type', 'callId', 'tool', 'prev', 'hash'])

/** Events during the call: connections, processes left running, hooks that failed. */
function CallEvents({ events }: { events: readonly RecordLine[] }) {
  return events.map((line) => (
    <div key={line.seq}>
      <p>
        <VisibleText text={line.type.replaceAll('-', ' ')} />, <Time at={line.time} />
      </p>
      <JsonView value={restOf(line)} label={`${line.type}, line ${line.seq}`} openDepth={1} />
    </div>
  ))
}

function restOf(line: RecordLine): Record<string, unknown> {
  return Object.fromEntries(Object.entries(line).filter(([key]) => !ON_EVERY_LINE.has(key)))
}

/** The child calls of a call. */
function CallChildren({ calls, pathTo }: { calls: readonly CallEntry[]; pathTo: CallPlace['pathTo'] }) {
  return (
    <ul className={styles.list}>
      {calls.map(({ callId, tool, status, durationMs }) => (
        <li key={callId} className={styles.call}>
          <StatusBadge status={status} />
          <Link to={pathTo(callId)}>
            <VisibleText text={tool} />
          </Link>
          <Duration ms={durationMs} />
        </li>
      ))}
    </ul>
  )
}

/** The lines of the record about a call, as JSON. */
function RecordLines({ lines }: { lines: readonly RecordLine[] }) {
  if (lines.length === 0) return <p>The record of this run no longer exists.</p>
  return lines.map((line) => (
    <JsonView
      key={line.seq}
      value={line}
      label={`line ${line.seq}: ${line.type}`}
      openDepth={lines.length > 8 ? 0 : 1}
    />
  ))
}
