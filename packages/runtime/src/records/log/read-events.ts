import { join } from 'node:path'
import { type Clock, type PastCall, type PastCallPage, systemClock, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { diskError } from './disk-error.ts'
import type { CallEnded, CallInterrupted, RecordEvent } from './events.ts'
import { type Line, readRecordLines } from './lines.ts'

/** Where the record of a run is read from instead of the disk. */
export interface RecordSource {
  /** The events from a number on. */
  events(from: number): AsyncIterable<RecordEvent>
  /** The ended calls, like `pastCalls` of a record on the disk. */
  pastCalls(page: PastCallPage): Promise<readonly PastCall[]>
  /** The record as its file would be, verified line by line. */
  export(): ReadableStream<Uint8Array>
}

/**
 * Yields the events of a run in order, from the seq `from` on. Lines that cannot be parsed are left out: `verifyRun`
 * reports them. Memory stays bounded, however long the run.
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

/** Yields the lines of a run's events from a position in the file on. Throws NOT_FOUND if the run does not exist. */
export async function* eventLines(folder: string, position = 0): AsyncGenerator<Line[]> {
  try {
    yield* readRecordLines(join(folder, 'events.jsonl'), position)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw diskError('events.jsonl cannot be read', folder, error)
    throw new ToolError('NOT_FOUND', 'Run not found: it has no events.jsonl.', {
      hint: 'List the runs with tool-hub runs.',
      details: { folder },
    })
  }
}

/** Returns the event of a line, or `undefined` if it is not an event. */
export function parseEvent(line: Line): RecordEvent | undefined {
  try {
    const event = JSON.parse(line.bytes.toString('utf8')) as Partial<RecordEvent> | null
    return typeof event?.seq === 'number' && typeof event.type === 'string' ? (event as RecordEvent) : undefined
  } catch {
    return undefined
  }
}

const LOOK_MS = 200

/** How to follow a run. */
interface TailOptions {
  /** Begin with this seq. Default: with the run's first event. */
  readonly from?: number
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/**
 * Yields the events of a run as they are written, until the run is closed or the signal aborts. Works in any process.
 */
export async function* tailEvents(folder: string, options: TailOptions = {}): AsyncGenerator<RecordEvent> {
  const { from = 1, signal, clock = systemClock } = options
  let position = 0
  let isClosed = false
  while (!signal?.aborted) {
    for await (const lines of eventLines(folder, position)) {
      for (const line of lines) {
        position = line.end
        const event = parseEvent(line)
        if (!event) continue
        isClosed = event.type === 'run-closed'
        if (event.seq >= from) yield event
        if (signal?.aborted) return
      }
    }
    // Only at the end of the file: a closed run may have been opened again.
    if (isClosed) return
    await pause(clock, signal)
  }
}

/** Polls: watching a file is not reliable on every system, and a look costs next to nothing. */
function pause(clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      cancel()
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const cancel = clock.after(LOOK_MS, stop)
    signal?.addEventListener('abort', stop)
  })
}

const HEAD = /^\{"seq":(\d{1,15}),"time":"[^"\\]{1,40}","type":"call-(?:ended|interrupted)"/
const HEAD_BYTES = 128
const MAX_TEXT_CHARS = 500

/**
 * Returns the ended calls of a run, oldest first: the first after a line, or else the last before one. Returns none for
 * a run without a record. Lines outside the page are not parsed.
 */
export function pastCalls(folder: string, page: PastCallPage): Promise<PastCall[]> {
  return pageOfCalls(recorded(folder), page)
}

/** The same for the lines of a record. */
export async function pageOfCalls(
  record: AsyncIterable<readonly Pick<Line, 'bytes'>[]>,
  { after, before = Number.POSITIVE_INFINITY, limit }: PastCallPage,
): Promise<PastCall[]> {
  const kept: Buffer[] = []
  const isEnough = () => after !== undefined && kept.length >= limit
  reading: for await (const lines of record) {
    for (const { bytes } of lines) {
      const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES))
      if (!head) continue
      const seq = Number(head[1])
      if (after !== undefined && seq <= after) continue
      if (seq >= before || isEnough()) break reading
      // A copy: the line is a view of the whole chunk that was read with it.
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

/** Records are files that others may have written to: take only strings, and shorten them. */
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
