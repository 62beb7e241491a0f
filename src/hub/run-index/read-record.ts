import type { RecordEvent } from '../../records/log/events.ts'
import type { Line } from '../../records/log/lines.ts'
import { eventLines, parseEvent } from '../../records/log/read-events.ts'

/** A piece of a run's record. */
export interface RecordPiece {
  /** Starts and ends of calls, in order. */
  readonly events: readonly RecordEvent[]
  /** Of the last line, whatever it is about. */
  readonly seq: number
  readonly at: number
  /** Where the piece ends in the file. */
  readonly bytes: number
}

const CALL = /"type":"call-(?:started|ended|interrupted)"/
const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"\\]{1,40})"/
const HEAD_BYTES = 128

/**
 * What a run's record says of calls from a position on, piece by piece. Where no line begins there, nothing comes but
 * `onMisplaced`: it is not the record that was read before.
 */
export async function* readRecord(
  folder: string,
  position: number,
  onMisplaced: () => void,
): AsyncGenerator<RecordPiece> {
  // One byte before: the end of the line that was read last is an empty line then.
  let isPlaced = position === 0
  for await (const lines of eventLines(folder, Math.max(0, position - 1))) {
    if (!isPlaced && lines.length > 0) {
      const first = lines.shift()
      isPlaced = first?.bytes.length === 0
      if (!isPlaced) return onMisplaced()
    }
    const piece = pieceOf(lines)
    if (piece) yield piece
  }
}

function pieceOf(lines: readonly Line[]): RecordPiece | undefined {
  const events: RecordEvent[] = []
  let seq = 0
  let at = 0
  for (const line of lines) {
    const text = line.bytes.toString('latin1', 0, HEAD_BYTES)
    const head = HEAD.exec(text)
    if (!head) continue
    seq = Number(head[1])
    at = Date.parse(head[2]!) || at
    const event = CALL.test(text) ? parseEvent(line) : undefined
    if (event) events.push(event)
  }
  const last = lines.at(-1)
  return last && { events, seq, at, bytes: last.end }
}
