import type { RecordLine } from '../api/types.ts'
import { JsonView } from '../components/json-view.tsx'
import { Time } from '../components/time.tsx'
import { VisibleText } from '../components/visible-text.tsx'

const ON_EVERY_LINE = new Set(['seq', 'time', 'type', 'callId', 'tool', 'prev', 'hash'])

/** What happened on the way: hosts connected to, processes left running, hooks that failed. */
export function CallEvents({ events }: { events: readonly RecordLine[] }) {
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
