import { Readable } from 'node:stream'
import { type PastCall, type PastCallPage, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import {
  type ChainLink,
  FIRST_PREV,
  inspectLine,
  LineReader,
  pageOfCalls,
  parseEvent,
  peekHead,
  type RecordEvent,
  type RecordSource,
} from '@tool-hub/runtime/records/log'
import type { SegmentStore, StoredSegment } from '../store/types.ts'

/** Where shared records are read from. */
export interface SharedSource {
  /** The segments in the store. */
  readonly segments: Pick<SegmentStore, 'heads' | 'read'>
  /** Reads a sealed segment; absent if this hub has no bucket. */
  readonly readObject?: (name: string) => Promise<Uint8Array>
}

/** Few at a time: a segment has up to a megabyte, an object a few. */
const PAGE = 4

/** Yields the segments of a run from a line on, with their content. */
export async function* sharedSegments(
  { segments, readObject }: SharedSource,
  run: string,
  from = 1,
): AsyncGenerator<{ readonly segment: StoredSegment; readonly content: Buffer }> {
  for (let next = from; ; ) {
    const page = await segments.read(run, { from: next, limit: PAGE })
    for (const segment of page) yield { segment, content: await contentOf(segment, run, readObject) }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return
    next = last.last + 1
  }
}

/**
 * Yields the lines of a shared record after a line, without their newlines. Throws if they are not what was written: each
 * line must be intact and follow the one before it, up to the end of its segment.
 */
export async function* sharedLines(
  source: SharedSource,
  run: string,
  after: ChainLink = { seq: 0, hash: FIRST_PREV },
): AsyncGenerator<Buffer> {
  let last = after
  for await (const { segment, content } of sharedSegments(source, run, after.seq + 1)) {
    for (const bytes of segmentLines(content)) {
      const facts = inspectLine(bytes)
      if (facts && facts.seq <= after.seq) continue
      if (!facts?.intact || facts.seq !== last.seq + 1 || facts.prev !== last.hash) throw broken(run, last.seq + 1)
      last = facts
      yield bytes
    }
    if (last.seq !== segment.last || last.hash !== segment.hash) throw broken(run, segment.last)
  }
}

/** Whether the shared record of a run has lines that the one in this folder does not have. */
export async function isAhead({ segments }: SharedSource, run: string, folder: string): Promise<boolean> {
  const local = peekHead(folder)
  const [head] = await segments.heads({ run })
  return head !== undefined && (local === undefined || local === 'broken' || local.seq < head.seq)
}

/** A shared record, as records on the disk are read. */
export function sharedRecord(source: SharedSource, run: string): RecordSource {
  return {
    events: (from) => sharedEvents(source, run, from),
    pastCalls: (page) => sharedCalls(source, run, page),
    export: () => exportShared(source, run),
  }
}

/** The ended calls of a shared record, like `pastCalls` of one on this machine. */
function sharedCalls(source: SharedSource, run: string, page: PastCallPage): Promise<PastCall[]> {
  async function* lines() {
    for await (const bytes of sharedLines(source, run)) yield [{ bytes }]
  }
  return pageOfCalls(lines(), page)
}

/** Yields the events of a shared record from a line on. */
async function* sharedEvents(source: SharedSource, run: string, from: number): AsyncGenerator<RecordEvent> {
  for await (const bytes of sharedLines(source, run)) {
    const event = parseEvent({ bytes, end: 0 })
    if (event && event.seq >= from) yield event
  }
}

/** Streams a shared record as its file would be, verified line by line. */
function exportShared(source: SharedSource, run: string): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(withNewlines(sharedLines(source, run)))) as ReadableStream<Uint8Array>
}

async function* withNewlines(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield Buffer.concat([line, NEWLINE])
}

const NEWLINE = Buffer.from('\n')

/** The lines of a segment, without their newlines. */
export function* segmentLines(content: Buffer): Generator<Buffer> {
  let start = 0
  for (let end = content.indexOf(10); end !== -1; end = content.indexOf(10, start)) {
    yield content.subarray(start, end)
    start = end + 1
  }
  if (start < content.length) yield content.subarray(start)
}

/** Opens the lines of a record on this machine, as it is now. Returns `undefined` if there is none. */
export async function openLines(path: string): Promise<LineReader | undefined> {
  try {
    return await LineReader.open(path, 0, { asOfNow: true })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function contentOf(
  { lines, object }: StoredSegment,
  run: string,
  readObject: SharedSource['readObject'],
): Promise<Buffer> {
  if (lines !== undefined) return Buffer.from(lines)
  if (object !== undefined && readObject) return Buffer.from(await readObject(object))
  throw new ToolError(
    'RECORDS_UNAVAILABLE',
    `The shared record of run ${run} is in a bucket that this hub does not have.`,
    {
      fix: { key: 'records.bucket', hint: 'Set records.bucket as on the machine that wrote the run.' },
      details: { run, object },
    },
  )
}

function broken(run: string, seq: number): ToolError {
  return new ToolError('CONFLICT', `The shared record of run ${run} is not as it was written at event ${seq}.`, {
    hint: `Look at it with tool-hub audit verify --shared ${run}, and use another run id.`,
    details: { run, seq },
  })
}
