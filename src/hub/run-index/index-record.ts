import { join } from 'node:path'
import { ToolError } from '../../core/errors.ts'
import type { CallIndex, IndexedCall } from '../../core/store.ts'
import type { EventBody } from '../../records/log/events.ts'
import { indexLine, needsStart } from './index-line.ts'
import { readRecord } from './read-record.ts'
import { look } from './runs-below.ts'

/** How far a record is in the index now. `seq` is 0 when there was nothing to read. */
export interface IndexedRecord {
  readonly seq: number
  readonly bytes: number
  readonly calls: number
}

interface How {
  /** Whatever the index has of it already. */
  readonly isFromStart: boolean
  readonly onCall: (call: IndexedCall) => void
  /** Between two pieces; false leaves the rest for later. */
  readonly pause: () => Promise<boolean>
}

/** Reads on in a run's record from where the index is. `misplaced` when it is not the record that was read before. */
export async function indexRecord(
  index: CallIndex,
  folder: string,
  run: string,
  { isFromStart, onCall, pause }: How,
): Promise<IndexedRecord | 'misplaced'> {
  const position = isFromStart ? 0 : await index.position(run)
  const size = (await look(folder, run))?.bytes
  let read = { seq: 0, bytes: position, calls: 0 }
  if (size === undefined || size === position) return read
  if (size < position) return 'misplaced'
  let isMisplaced = false
  const started = new Map<string, IndexedCall>()
  const startOf = async (event: EventBody) =>
    needsStart(event) ? (started.get(event.callId) ?? (await index.call(String(event.callId)))) : undefined
  const pieces = readRecord(join(folder, run), position, () => {
    isMisplaced = true
  })
  for await (const { events, seq, at, bytes } of readable(pieces)) {
    const calls: IndexedCall[] = []
    for (const event of events) {
      const call = indexLine({ run, seq: event.seq, time: event.time, event }, await startOf(event))
      if (!call) continue
      if (call.status === 'running') started.set(call.callId, call)
      else started.delete(call.callId)
      calls.push(call)
      onCall(call)
    }
    await index.put({ calls: latestOf(calls), runs: [{ run, bytes, at }] })
    read = { seq: Math.max(seq, read.seq), bytes, calls: read.calls + calls.length }
    if (!(await pause())) break
  }
  return isMisplaced ? 'misplaced' : read
}

/** A call that starts and ends in one batch is written once. */
export function latestOf(calls: readonly IndexedCall[]): IndexedCall[] {
  return [...new Map(calls.map((call) => [call.callId, call])).values()]
}

/** A record that cannot be read, or is removed meanwhile, ends there: the others are read all the same. */
async function* readable<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* pieces
  } catch (error) {
    if (!ToolError.is(error)) throw error
  }
}
