import { join } from 'node:path'
import { ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { diskError } from './disk-error.ts'
import type { RecordEvent } from './events.ts'
import { type Line, readRecordLines } from './lines.ts'

/**
 * The events of a run in order, from the one with the seq `from` on. What cannot be parsed is left out: `verifyRun`
 * tells about it. Memory stays bounded, however long the run.
 */
export async function* readEvents(
  folder: string,
  options: { readonly from?: number } = {},
): AsyncGenerator<RecordEvent> {
  const { from = 1 } = options
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      const event = parseEvent(line)
      if (event && event.seq >= from) yield event
    }
  }
}

/** The lines of a run's events from a position in the file on. */
export async function* eventLines(folder: string, position = 0): AsyncGenerator<Line[]> {
  try {
    yield* readRecordLines(join(folder, 'events.jsonl'), position)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw diskError('events.jsonl cannot be read', folder, error)
    throw new ToolError('NOT_FOUND', 'There is no such run: it has no events.jsonl.', {
      hint: 'List the runs with tool-hub runs.',
      details: { folder },
    })
  }
}

/** The event of a line; undefined when it is none. */
export function parseEvent(line: Line): RecordEvent | undefined {
  try {
    const event = JSON.parse(line.bytes.toString('utf8')) as Partial<RecordEvent> | null
    return typeof event?.seq === 'number' && typeof event.type === 'string' ? (event as RecordEvent) : undefined
  } catch {
    return undefined
  }
}
