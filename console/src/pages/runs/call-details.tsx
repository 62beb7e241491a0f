import { useEffect } from 'react'
import { api } from '../../api/api.ts'
import type { CallDetail, CallEntry } from '../../api/types.ts'
import { useQuery } from '../../api/use-query.ts'
import { ArtifactList } from '../../components/artifact-list.tsx'
import { JsonView } from '../../components/json-view.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { VisibleText } from '../../components/visible-text.tsx'
import { CallError } from './call-error.tsx'
import { CallFacts } from './call-facts.tsx'
import { CallOutput } from './call-output.tsx'
import { DecisionFacts } from './decision-facts.tsx'
import { DetailPart } from './detail-part.tsx'
import { readCallRecord } from './read-call-record.ts'
import { RecordLines } from './record-lines.tsx'
import { useSettled } from './use-settled.ts'

interface CallDetailsProps {
  readonly run: string
  readonly callId: string
  /** What the timeline knows of it already. */
  readonly known: CallEntry | undefined
  readonly onSelect: (callId: string) => void
}

/** Everything that is on record of a call. */
export function CallDetails({ run, callId, known, onSelect }: CallDetailsProps) {
  const settled = useSettled(callId)
  const query = useQuery(`call ${settled}`, () => api.calls.get(settled))
  const { refresh } = query
  const status = known?.status
  // What is asked while it runs is half the story: again when it has ended.
  useEffect(() => {
    if (status !== undefined && status !== 'running') refresh()
  }, [status, refresh])
  const isShown = query.data?.call.callId === callId
  return (
    <Loaded query={isShown || settled === callId ? query : { ...query, data: undefined, error: undefined }}>
      {(detail) => <Parts run={run} detail={detail} onSelect={onSelect} />}
    </Loaded>
  )
}

interface PartsProps {
  readonly run: string
  readonly detail: CallDetail
  readonly onSelect: (callId: string) => void
}

function Parts({ run, detail: { call, lines, children }, onSelect }: PartsProps) {
  const record = readCallRecord(lines)
  return (
    <>
      <CallFacts call={call} record={record} onSelect={onSelect} />
      {record.error && <CallError call={call} error={record.error} args={record.args} />}
      <DetailPart title="Input">
        {record.args !== undefined && <JsonView value={record.args} label="input" />}
        {record.args === undefined && <NoInput bytes={record.argsBytes} hasLines={lines.length > 0} />}
      </DetailPart>
      <DetailPart title="Decision">
        <DecisionFacts call={call} record={record} />
      </DetailPart>
      <DetailPart title="Output">
        <CallOutput call={call} record={record} />
      </DetailPart>
      {record.artifacts.length > 0 && (
        <DetailPart title="Artifacts">
          <ArtifactList run={run} artifacts={record.artifacts.map((ref) => ({ ref }))} />
        </DetailPart>
      )}
      {children.length > 0 && (
        <DetailPart title={`Calls it made (${children.length})`} isClosed>
          <ul>
            {children.map((child) => (
              <li key={child.callId}>
                <a
                  href={`#${child.callId}`}
                  onClick={(event) => {
                    event.preventDefault()
                    onSelect(child.callId)
                  }}
                >
                  <VisibleText text={child.tool} />
                </a>{' '}
                {child.status}
              </li>
            ))}
          </ul>
        </DetailPart>
      )}
      <DetailPart title={`Record (${lines.length} ${lines.length === 1 ? 'line' : 'lines'})`} isClosed>
        <RecordLines lines={lines} />
      </DetailPart>
    </>
  )
}

function NoInput({ bytes, hasLines }: { bytes: number | undefined; hasLines: boolean }) {
  if (bytes !== undefined)
    return <p>{bytes.toLocaleString('en')} bytes: over 2 KB, so the record keeps its size and its hash only.</p>
  return <p>{hasLines ? 'It is not on record.' : 'The record of this run is gone; only the index knows this call.'}</p>
}
