import { basename } from 'node:path'
import type { KeptChange } from '../../change.ts'
import { ToolError } from '../../errors.ts'
import { bodyOf, inspectLine } from '../chain.ts'
import type { Line } from '../lines.ts'
import { eventLines } from '../read-events.ts'
import { parseChange } from './parse-change.ts'

/** A change with the event that told of it. */
export interface RecordedChange {
  readonly run: string
  readonly seq: number
  readonly time: string
  readonly callId: string
  readonly tool: string
  readonly change: KeptChange
}

/** What a run changed, and which changes of any run it took back. */
export interface RunHistory {
  /** In the order they happened. */
  readonly changes: readonly RecordedChange[]
  readonly undone: readonly { readonly run: string; readonly seq: number; readonly by: string }[]
}

const MARK = /"type":"(file-changing|change-undone)"/
const MARK_BYTES = 120

/** Reads what a run changed; any process can, also while the run goes on. Refuses a record that was changed. */
export async function readHistory(folder: string): Promise<RunHistory> {
  const history = { changes: [] as RecordedChange[], undone: [] as { run: string; seq: number; by: string }[] }
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      if (MARK.test(line.bytes.toString('latin1', 0, MARK_BYTES))) addLine(history, line, basename(folder))
    }
  }
  return history
}

function addLine(
  { changes, undone }: { changes: RecordedChange[]; undone: { run: string; seq: number; by: string }[] },
  line: Line,
  run: string,
): void {
  const { seq, time, event } = parseLine(line, run)
  const { type, callId, tool } = event
  if (typeof callId !== 'string' || typeof tool !== 'string') throw tampered(run)
  if (type === 'change-undone') {
    if (typeof event.run !== 'string' || typeof event.change !== 'number') throw tampered(run)
    undone.push({ run: event.run, seq: event.change, by: callId })
    return
  }
  const change = parseChange(event)
  if (!change) throw tampered(run)
  changes.push({ run, seq, time, callId, tool, change })
}

function parseLine(line: Line, run: string) {
  const facts = inspectLine(line.bytes)
  if (!facts?.intact) throw tampered(run)
  const { seq, time } = facts
  return { seq, time, event: JSON.parse(bodyOf(line.bytes)) as Readonly<Record<string, unknown>> }
}

function tampered(run: string): ToolError {
  return new ToolError('CONFLICT', `The record of the changes of run ${run} is not as it was written.`, {
    hint: `Look at it with tool-hub audit verify ${run}; it cannot be used to undo anything.`,
  })
}
