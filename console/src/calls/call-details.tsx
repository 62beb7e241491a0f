import { useMemo } from 'react'
import type { CallDetail } from '../api/types.ts'
import { ArtifactList } from '../components/artifact-list.tsx'
import { CallChildren } from './call-children.tsx'
import { CallDecision } from './call-decision.tsx'
import { CallError } from './call-error.tsx'
import { CallEvents } from './call-events.tsx'
import { CallFacts } from './call-facts.tsx'
import { CallInput } from './call-input.tsx'
import { CallOutput } from './call-output.tsx'
import { DetailPart } from './detail-part.tsx'
import { readCallRecord } from './read-call-record.ts'
import { RecordLines } from './record-lines.tsx'

/** Where details are shown. */
export interface CallPlace {
  /** The address of another call in the same view: of the one that made it, of those it made. */
  readonly pathTo: (callId: string) => string
  /** On the page of its run already: no way there is offered. */
  readonly isInRun?: boolean
}

/** Everything that is on record of a call. */
export function CallDetails({ detail, pathTo, isInRun = false }: CallPlace & { detail: CallDetail }) {
  const { call, lines, children } = detail
  const record = useMemo(() => readCallRecord(lines), [lines])
  return (
    <>
      <CallFacts call={call} record={record} pathTo={pathTo} isInRun={isInRun} />
      {record.error && <CallError call={call} error={record.error} args={record.args} />}
      <DetailPart title="Input">
        <CallInput record={record} hasLines={lines.length > 0} />
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
        <DetailPart title="On the way">
          <CallEvents events={record.events} />
        </DetailPart>
      )}
      {children.length > 0 && (
        <DetailPart title={`Calls it made (${children.length})`}>
          <CallChildren calls={children} pathTo={pathTo} />
        </DetailPart>
      )}
      <DetailPart title={`Record (${lines.length} ${lines.length === 1 ? 'line' : 'lines'})`} isClosed>
        <RecordLines lines={lines} />
      </DetailPart>
    </>
  )
}
