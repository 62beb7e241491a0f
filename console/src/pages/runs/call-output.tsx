import type { CallEntry } from '../../api/types.ts'
import { Facts } from '../../components/facts.tsx'
import { formatBytes } from '../../components/format-bytes.ts'
import { VisibleText } from '../../components/visible-text.tsx'
import { Link } from '../../router/link.tsx'
import type { CallRecord } from './read-call-record.ts'
import { runPath } from './run-path.ts'

/** What a call gave, as far as the record keeps it: a summary, its size, what can be checked. */
export function CallOutput({ call, record }: { call: CallEntry; record: CallRecord }) {
  if (call.status === 'running') return <p>It is still under way.</p>
  const { bytes, attempts, evidence, notices, changedPaths } = record
  return (
    <>
      <p>{call.summary ? <VisibleText text={call.summary} /> : 'It left no summary.'}</p>
      <Facts
        facts={[
          ['Size', bytes === undefined ? undefined : formatBytes(bytes)],
          ['Attempts', attempts !== undefined && attempts > 1 ? String(attempts) : undefined],
          ['Evidence', evidence.length > 0 ? <Lines key="evidence" lines={evidence} /> : undefined],
          ['Told', notices.length > 0 ? <Lines key="told" lines={notices} /> : undefined],
          [
            'Changed',
            changedPaths.length > 0 ? (
              <Link key="changed" to={`${runPath(call.run, call.callId)}?tab=changes`}>
                {changedPaths.length} {changedPaths.length === 1 ? 'file' : 'files'}: see the changes
              </Link>
            ) : undefined,
          ],
        ]}
      />
    </>
  )
}

function Lines({ lines }: { lines: readonly string[] }) {
  return lines.map((line, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same may be said twice, and the order never changes.
    <div key={index}>
      <VisibleText text={line} />
    </div>
  ))
}
