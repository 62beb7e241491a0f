import type { RecordLine } from '../api/types.ts'
import { JsonView } from '../components/json-view.tsx'

/** The lines of the record that are about a call, as JSON. */
export function RecordLines({ lines }: { lines: readonly RecordLine[] }) {
  if (lines.length === 0) return <p>The record of this run is gone.</p>
  return lines.map((line) => (
    <JsonView
      key={line.seq}
      value={line}
      label={`line ${line.seq}: ${line.type}`}
      openDepth={lines.length > 8 ? 0 : 1}
    />
  ))
}
