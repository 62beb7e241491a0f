import { join } from 'node:path'
import type { RecordEvent } from '../../packages/runtime/src/records/log/events.ts'
import { readEvents } from '../../packages/runtime/src/records/log/read-events.ts'

/** What a test hub has on record for a run. Default: its own run. */
export async function eventsOf(
  hub: { readonly folder: string; readonly run: string },
  run = hub.run,
): Promise<RecordEvent[]> {
  const events: RecordEvent[] = []
  for await (const event of readEvents(join(hub.folder, 'runs', run))) events.push(event)
  return events
}
