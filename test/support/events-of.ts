import { join } from 'node:path'
import type { RecordEvent } from '../../src/records/log/events.ts'
import { readEvents } from '../../src/records/log/read-events.ts'

/** What a test hub has on record for a run, its own unless said. */
export async function eventsOf(
  hub: { readonly folder: string; readonly run: string },
  run = hub.run,
): Promise<RecordEvent[]> {
  const events: RecordEvent[] = []
  for await (const event of readEvents(join(hub.folder, 'runs', run))) events.push(event)
  return events
}
