import { eventLines, parseEvent, type RecordEvent } from '../../records/log/index.ts'

const MAX_LINES = 1_000
const HEAD = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"[a-z-]{1,40}","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320

/** The lines of a run's record that are about one call, from its approval to its late end; at most 1,000. */
export async function readCallLines(folder: string, callId: string): Promise<RecordEvent[]> {
  const found: RecordEvent[] = []
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      // The whole record is gone through, because what was asked stands before the start: only the beginnings are looked at.
      if (HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES))?.[1] !== callId) continue
      const event = parseEvent(line)
      if (event) found.push(event)
      if (found.length >= MAX_LINES) return found
    }
  }
  return found
}
