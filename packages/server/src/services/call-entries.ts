import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  type FeatureDefinition,
  type IndexedCall,
  type IndexedRun,
  type RunDescription,
  type Store,
  ToolError,
} from '@tool-hub/core'
import { errnoOf, escapeLine, escapeText } from '@tool-hub/core/lib'
import { type CallEntry, callEntry, type RecordLine, type RunEntry, type RunLaterList } from '@tool-hub/core/protocol'
import { features } from '@tool-hub/library/generated/list'
import type { Hub } from '@tool-hub/runtime/hub'
import { cutHead } from '@tool-hub/runtime/limits'
import { eventLines, parseEvent, type RecordEvent, readEvents } from '@tool-hub/runtime/records/log'
import { openRegular } from '@tool-hub/sandbox/system'
import { z } from 'zod'

/** A call for display, with texts of models and tools escaped. */
export function toCallEntry(call: IndexedCall): CallEntry {
  const { callId, run, seq, tool, caller, principal, parent, status, startedAt, durationMs, attempts, targets } = call
  return {
    callId,
    run,
    seq,
    tool: escapeLine(tool),
    caller: escapeLine(caller),
    principal: shown(principal),
    parent,
    status: escapeLine(status),
    startedAt,
    durationMs,
    attempts,
    effect: effectOf(call),
    rule: shown(call.rule),
    error: shown(call.error),
    summary: shown(call.summary),
    request: shown(call.request),
    targets: targets?.map(escapeLine),
    approvedBy: shown(call.approvedBy),
  }
}

const MAX_GOAL_CHARS = 300

/** A run for display; without calls it belongs to the principal that it works for. */
export function toRunEntry(indexed: IndexedRun, description?: RunDescription): RunEntry {
  const { run, caller, startedAt, endedAt, calls, failures, denials } = indexed
  const { principal = description?.principal } = indexed
  return {
    run,
    caller: escapeLine(caller || (description?.principal ?? '')),
    principal: shown(principal),
    label: shown(description?.label),
    goal: shown(description?.goal && cutHead(description.goal, MAX_GOAL_CHARS)),
    startedAt,
    endedAt,
    calls,
    failures,
    denials,
  }
}

/** What the features know about a run; `undefined` if none knows it. */
export async function describeRun(run: string, store: Store): Promise<RunDescription | undefined> {
  for (const { inService } of features as readonly FeatureDefinition[]) {
    const description = await inService?.describeRun?.(run, store)
    if (description) return description
  }
  return undefined
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : escapeLine(text)
}

/** The index has any text; a record that was tampered with must not produce an invalid response. */
function effectOf({ effect }: IndexedCall): CallEntry['effect'] {
  return callEntry.shape.effect.safeParse(effect).data
}

const MAX_LINES = 1_000

/** Selects lines of a record by how they begin. */
type LineFilter = (head: { readonly type: string; readonly callId: string }) => boolean

type SharedRecord = NonNullable<Awaited<ReturnType<NonNullable<Hub['sharedRecords']>['source']>>>

/** The record of a run. */
interface RunRecord {
  /** Its lines, from the one with this number on. */
  events(from: number): AsyncIterable<RecordEvent>
  /** The lines about calls that the filter selects, oldest first; at most 1,000. None if the record was removed. */
  callLines(isWanted: LineFilter): Promise<RecordLine[]>
  /** The record as it is stored. */
  export(): Promise<ReadableStream<Uint8Array>> | ReadableStream<Uint8Array>
}

/** Opens the record of a run: the one that machines share, or else the one on this disk. */
export function openRecord(folder: string, shared: SharedRecord | undefined): RunRecord {
  if (shared) {
    return {
      events: (from) => shared.events(from),
      callLines: (isWanted) => sharedCallLines(shared, isWanted),
      export: () => shared.export(),
    }
  }
  return {
    events: (from) => readEvents(folder, { from }),
    callLines: async (isWanted) => (await localCallLines(folder, isWanted)).map(showLine),
    export: () => exportRecord(folder),
  }
}

async function sharedCallLines(record: SharedRecord, isWanted: LineFilter): Promise<RecordLine[]> {
  const lines: RecordLine[] = []
  for await (const event of record.events(1)) {
    const { type, callId } = event as { readonly type: string; readonly callId?: string }
    if (callId !== undefined && isWanted({ type, callId })) lines.push(showLine(event))
    if (lines.length >= MAX_LINES) break
  }
  return lines
}

const HEAD = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"([a-z-]{1,40})","callId":"([^"\\]{1,128})"/
const HEAD_BYTES = 320

async function localCallLines(folder: string, isWanted: LineFilter): Promise<RecordEvent[]> {
  const found: RecordEvent[] = []
  try {
    for await (const lines of eventLines(folder)) {
      for (const line of lines) {
        // Reads the whole record, because approval requests come before the start of a call; only the beginning of each
        // line is checked.
        const [, type, callId] = HEAD.exec(line.bytes.toString('latin1', 0, HEAD_BYTES)) ?? []
        if (type === undefined || callId === undefined || !isWanted({ type, callId })) continue
        const event = parseEvent(line)
        if (event) found.push(event)
        if (found.length >= MAX_LINES) return found
      }
    }
  } catch (error) {
    // The record of an indexed call may have been removed; the call is shown without its lines.
    if (ToolError.is(error) && error.code === 'NOT_FOUND') return []
    throw error
  }
  return found
}

/** Streams the record of a run as it is on disk; cancelling the stream closes the file. */
async function exportRecord(folder: string): Promise<ReadableStream<Uint8Array>> {
  const file = await openRegular(join(folder, 'events.jsonl')).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw error
    throw new ToolError('NOT_FOUND', 'The record of this run is gone.', {
      hint: 'It was removed from the folder of runs. tool-hub runs reindex takes it out of the lists.',
    })
  })
  const { size } = await file.stat()
  // Without an end, the stream would continue as long as the record grows.
  if (size > 0) return Readable.toWeb(file.createReadStream({ end: size - 1 })) as ReadableStream<Uint8Array>
  await file.close()
  return new ReadableStream({ start: (controller) => controller.close() })
}

const MAX_DEPTH = 32

/** A line of a record for display, with every text escaped. The export has the exact bytes. */
export function showLine(event: RecordEvent): RecordLine {
  return show(event, 0) as RecordLine
}

function show(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.map((item) => show(item, depth + 1))
  const entries = Object.entries(value).map(([key, item]) => [escapeText(key), show(item, depth + 1)] as const)
  return Object.fromEntries(entries)
}

const MAX_RUN_LATER = 100
const runLaterFiles = z.array(z.object({ path: z.string(), by: z.string() })).catch([])

/** The files that the lines of type `run-later-changed` name, each once, with the call that changed it last. */
export function toRunLaterList(lines: readonly RecordLine[]): RunLaterList {
  const files = new Map<string, RunLaterList['files'][number]>()
  for (const { files: changed, callId } of lines)
    for (const { path, by } of runLaterFiles.parse(changed)) files.set(path, { path, by, callId: String(callId) })
  return { files: [...files.values()].slice(0, MAX_RUN_LATER), isTruncated: files.size > MAX_RUN_LATER }
}
