import { type PastCall, type PastCallPage, ToolError } from '../../core/index.ts'
import type { CallEnded, CallInterrupted, RecordEvent } from './events.ts'
import type { Line } from './lines.ts'
import { eventLines, parseEvent } from './read-events.ts'

const HEAD = /^\{"seq":(\d{1,15}),"time":"[^"\\]{1,40}","type":"call-(?:ended|interrupted)"/
const HEAD_BYTES = 128
const MAX_TEXT_CHARS = 500

/**
 * The calls of a run that have ended, oldest first: the first after a line, or else the last before one. Nothing for a run
 * without a record. Lines that are not asked for are not parsed.
 */
export async function pastCalls(
  folder: string,
  { after, before = Number.POSITIVE_INFINITY, limit }: PastCallPage,
): Promise<PastCall[]> {
  const kept: Buffer[] = []
  const isEnough = () => after !== undefined && kept.length >= limit
  reading: for await (const lines of recorded(folder)) {
    for (const { bytes } of lines) {
      const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES))
      if (!head) continue
      const seq = Number(head[1])
      if (after !== undefined && seq <= after) continue
      if (seq >= before || isEnough()) break reading
      // A copy: a line is a part of all that was read with it.
      kept.push(Buffer.from(bytes))
      if (kept.length > limit) kept.shift()
    }
  }
  return kept.flatMap((bytes) => {
    const event = parseEvent({ bytes, end: 0 })
    return event?.type === 'call-ended' || event?.type === 'call-interrupted' ? [toPastCall(event)] : []
  })
}

async function* recorded(folder: string): AsyncGenerator<Line[]> {
  try {
    yield* eventLines(folder)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'NOT_FOUND') throw error
  }
}

/** Records are files, which others may have written to: only texts, and none without bound. */
function toPastCall(event: RecordEvent & (CallEnded | CallInterrupted)): PastCall {
  const { seq, time, callId, tool, status } = event
  const { summary, labels }: Partial<CallEnded> = event.type === 'call-ended' ? event : {}
  return {
    seq,
    time: text(time),
    callId: text(callId),
    tool: text(tool),
    status: text(status),
    summary: text(summary),
    isUntrusted: Array.isArray(labels) && labels.includes('untrusted'),
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.length <= MAX_TEXT_CHARS ? value : `${value.slice(0, MAX_TEXT_CHARS)}…`
}
