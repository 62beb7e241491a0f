import type { CallEntry } from '../api/types.ts'
import { Facts } from '../components/facts.tsx'
import { formatBytes } from '../components/format-bytes.ts'
import { VisibleText } from '../components/visible-text.tsx'
import { Link } from '../router/link.tsx'
import type { CallRecord } from './read-call-record.ts'
import { runPath } from './run-path.ts'
import { TextLines } from './text-lines.tsx'

/** What a call gave, as far as the record keeps it: a summary, its size, what can be checked. */
export function CallOutput({ call, record }: { call: CallEntry; record: CallRecord }) {
  if (call.status === 'running') return <p>It is still under way; this fills in when it ends.</p>
  const { bytes, attempts, evidence, notices, changedPaths, error } = record
  return (
    <>
      {!error && <p>{call.summary ? <VisibleText text={call.summary} /> : 'It left no summary.'}</p>}
      <Facts
        facts={[
          ['Size', bytes === undefined ? undefined : formatBytes(bytes)],
          ['Attempts', attempts !== undefined && attempts > 1 ? String(attempts) : undefined],
          ['Evidence', evidence.length > 0 && <TextLines key="evidence" lines={evidence} isCode />],
          ['Told', notices.length > 0 && <TextLines key="told" lines={notices} />],
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
