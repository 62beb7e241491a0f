import { basename } from 'node:path'
import { toToolEvents } from '../../adapters/index.ts'
import type { RecordEvent } from '../../records/log/index.ts'
import { printJsonLine } from './print.ts'

/** What `--tool-events` does. */
export const TOOL_EVENTS = 'Print tool.started, tool.completed and tool.failed of each call instead, as JSON lines'

/** Prints what a line of a record says under these names; nothing for lines that are about no call. */
export async function printToolEvents(folder: string, event: RecordEvent): Promise<void> {
  const { time } = event
  for (const told of toToolEvents({ run: basename(folder), time, event })) await printJsonLine(told)
}
