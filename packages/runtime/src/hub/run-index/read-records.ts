import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type CallIndex, type CallOptions, type IndexedCall, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import {
  type CallEnded,
  type CallStarted,
  type EventBody,
  eventLines,
  type Line,
  lookAtRuns,
  parseEvent,
  type RecordEvent,
  runNames,
} from '../../records/log/index.ts'
import { indexLine, needsStart } from './index-line.ts'
import { type RunMoment, RunMoments } from './run-moments.ts'

/** The position up to which a record is in the index. `seq` is 0 if there was nothing to read. */
export interface IndexedRecord {
  readonly seq: number
  readonly bytes: number
  readonly calls: number
}

interface How {
  /** Reads from the start, whatever the index already contains. */
  readonly isFromStart: boolean
  readonly onCall: (call: IndexedCall) => void
  /** Called between two chunks. Returns `false` to leave the rest for later. */
  readonly pause: () => Promise<boolean>
}

/** Reads a record from the indexed position on. Returns `misplaced` if it is not the record that was indexed before. */
export async function indexRecord(
  index: CallIndex,
  folder: string,
  run: string,
  { isFromStart, onCall, pause }: How,
): Promise<IndexedRecord | 'misplaced'> {
  const position = isFromStart ? 0 : await index.position(run)
  const size = look(folder, run)?.bytes
  let read = { seq: 0, bytes: position, calls: 0 }
  if (size === undefined || size === position) return read
  if (size < position) return 'misplaced'
  let isMisplaced = false
  const started = new Map<string, IndexedCall>()
  const startOf = async (event: EventBody) =>
    needsStart(event) ? (started.get(event.callId) ?? (await index.call(String(event.callId)))) : undefined
  const pieces = readRecord(join(folder, run), position, () => {
    isMisplaced = true
  })
  for await (const { events, seq, at, bytes } of readable(pieces)) {
    const calls: IndexedCall[] = []
    for (const event of events) {
      const call = indexLine({ run, seq: event.seq, time: event.time, event }, await startOf(event))
      if (!call) continue
      if (call.status === 'running') started.set(call.callId, call)
      else started.delete(call.callId)
      calls.push(call)
      onCall(call)
    }
    await index.put({ calls: latestOf(calls), runs: [{ run, bytes, at }] })
    read = { seq: Math.max(seq, read.seq), bytes, calls: read.calls + calls.length }
    if (!(await pause())) break
  }
  return isMisplaced ? 'misplaced' : read
}

/** Returns the last entry of each call, so that a call that starts and ends in one batch is written once. */
export function latestOf(calls: readonly IndexedCall[]): IndexedCall[] {
  return [...new Map(calls.map((call) => [call.callId, call])).values()]
}

/** Ends the iteration without an error if the record cannot be read or is removed, so that the other records are still read. */
async function* readable<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* pieces
  } catch (error) {
    if (!ToolError.is(error)) throw error
  }
}

/** A chunk of a run's record. */
interface RecordPiece {
  /** Starts and ends of calls, in order. */
  readonly events: readonly RecordEvent[]
  /** Sequence number of the last line of any type. */
  readonly seq: number
  readonly at: number
  /** Where the chunk ends in the file. */
  readonly bytes: number
}

const CALL = /"type":"call-(?:started|ended|interrupted)"/
const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"\\]{1,40})"/
const HEAD_BYTES = 128

/**
 * Yields the call events of a record from a position on, in chunks. If no line starts at the position, calls `onMisplaced`
 * and yields nothing, because it is not the record that was read before.
 */
async function* readRecord(folder: string, position: number, onMisplaced: () => void): AsyncGenerator<RecordPiece> {
  // Starts one byte earlier, so that the end of the last line that was read appears as an empty line.
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

/** A run as its record is on disk. */
interface FoundRun {
  readonly run: string
  readonly bytes: number
  readonly changedAt: number
}

/** Returns the runs in a folder with the sizes of their records, last written first. Does not read the records. */
export async function runsBelow(folder: string): Promise<FoundRun[]> {
  const found: FoundRun[] = []
  await lookAtRuns(await runNames(folder), (run) => {
    const record = look(folder, run)
    if (record) found.push(record)
  })
  return found.sort((a, b) => b.changedAt - a.changedAt || (a.run < b.run ? 1 : -1))
}

/** Returns a run with the size of its record, or `undefined` if it has none. Synchronous: see `lookAtRuns`. */
export function look(folder: string, run: string): FoundRun | undefined {
  try {
    const stats = statSync(join(folder, run, 'events.jsonl'), { throwIfNoEntry: false })
    return stats?.isFile() ? { run, bytes: stats.size, changedAt: stats.mtimeMs } : undefined
  } catch (error) {
    // Not a run. A run that cannot be accessed is not listed; verifying it reports why.
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

/** A call with its recorded arguments, to be decided again. */
export interface RecordedCall {
  readonly callId: string
  readonly seq: number
  readonly tool: string
  readonly caller: string
  readonly args: unknown
  readonly argsHash?: string
  readonly callerKind?: CallOptions['callerKind']
  /** The decision at the time. */
  readonly effect?: string
  readonly rule?: string
  /** What the run knew when the call was decided. */
  readonly moment: RunMoment
}

const FACTS = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"call-(?:started|ended)","callId":"([^"\\]{1,128})"/
const FACTS_BYTES = 320
const MARK = '[redacted:'

/**
 * Yields the calls of a run in order; with `wanted`, only those with these ids. `args` is `undefined` if the arguments were
 * too large for the record or contained a secret, because the record then differs from what policy decided on.
 */
export async function* recordedCalls(folder: string, wanted?: ReadonlySet<string>): AsyncGenerator<RecordedCall> {
  const moments = new RunMoments()
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      const callId = FACTS.exec(line.bytes.toString('latin1', 0, FACTS_BYTES))?.[1]
      const isWanted = callId !== undefined && (!wanted || wanted.has(callId))
      const isNoted = callId === undefined ? RunMoments.isNoted(line.bytes) : moments.isCallNoted(callId, line.bytes)
      if (!isWanted && !isNoted) continue
      const event = parseEvent(line)
      const facts = isWanted ? (event as RecordEvent & (CallStarted | CallEnded)) : undefined
      // An end repeats the facts only if no start was recorded.
      const isWhole = typeof facts?.caller === 'string' && typeof facts.tool === 'string'
      if (facts && isWhole) yield callOf(facts, line.bytes.includes(MARK), moments.of(facts))
      moments.add(event)
    }
  }
}

function callOf(
  event: (CallStarted | CallEnded) & { readonly seq: number },
  isMarked: boolean,
  moment: RunMoment,
): RecordedCall {
  const { callId, seq, tool, caller, args, argsHash, via, effect, rule } = event
  return {
    callId,
    seq,
    tool,
    caller: caller!,
    args: isMarked ? undefined : args,
    argsHash,
    callerKind: via === 'direct' || via === 'script' ? via : undefined,
    effect,
    rule,
    moment,
  }
}
