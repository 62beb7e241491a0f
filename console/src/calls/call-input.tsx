import { JsonView } from '../components/json-view.tsx'
import type { CallRecord } from './read-call-record.ts'

/** The arguments as they were recorded, or why they were not. */
export function CallInput({ record: { args, argsBytes }, hasLines }: { record: CallRecord; hasLines: boolean }) {
  if (args !== undefined) return <JsonView value={args} label="input" />
  if (argsBytes !== undefined)
    return <p>{argsBytes.toLocaleString('en')} bytes: over 2 KB, so the record keeps its size and its hash only.</p>
  return <p>{hasLines ? 'It is not on record.' : 'The record of this run is gone; only the index knows this call.'}</p>
}
