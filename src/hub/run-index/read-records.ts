import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CallIndex, type CallOptions, type IndexedCall, isRunId, ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import {
  type CallEnded,
  type CallStarted,
  diskError,
  type EventBody,
  eventLines,
  type Line,
  parseEvent,
  type RecordEvent,
} from '../../records/log/index.ts'
import { indexLine, needsStart } from './index-line.ts'

/** How far a record is in the index now. `seq` is 0 when there was nothing to read. */
export interface IndexedRecord {
  readonly seq: number
  readonly bytes: number
  readonly calls: number
}

interface How {
  /** Whatever the index has of it already. */
  readonly isFromStart: boolean
  readonly onCall: (call: IndexedCall) => void
  /** Between two pieces; false leaves the rest for later. */
  readonly pause: () => Promise<boolean>
}

/** Reads on in a run's record from where the index is. `misplaced` when it is not the record that was read before. */
export async function indexRecord(
  index: CallIndex,
  folder: string,
  run: string,
  { isFromStart, onCall, pause }: How,
): Promise<IndexedRecord | 'misplaced'> {
  const position = isFromStart ? 0 : await index.position(run)
  const size = (await look(folder, run))?.bytes
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

/** A call that starts and ends in one batch is written once. */
export function latestOf(calls: readonly IndexedCall[]): IndexedCall[] {
  return [...new Map(calls.map((call) => [call.callId, call])).values()]
}

/** A record that cannot be read, or is removed meanwhile, ends there: the others are read all the same. */
async function* readable<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* pieces
  } catch (error) {
    if (!ToolError.is(error)) throw error
  }
}

/** A piece of a run's record. */
interface RecordPiece {
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
async function* readRecord(folder: string, position: number, onMisplaced: () => void): AsyncGenerator<RecordPiece> {
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

/** A run as its record is on disk. */
interface FoundRun {
  readonly run: string
  readonly bytes: number
  readonly changedAt: number
}

/** The runs below a folder, the one that was written to last first; told by the size of their records, which are not read. */
export async function runsBelow(folder: string): Promise<FoundRun[]> {
  const found: FoundRun[] = []
  for (const run of await namesIn(folder)) {
    const record = await look(folder, run)
    if (record) found.push(record)
  }
  return found.sort((a, b) => b.changedAt - a.changedAt || (a.run < b.run ? 1 : -1))
}

/** Size of a run's record; nothing when it has none. */
export async function look(folder: string, run: string): Promise<FoundRun | undefined> {
  try {
    const stats = await stat(join(folder, run, 'events.jsonl'))
    return stats.isFile() ? { run, bytes: stats.size, changedAt: stats.mtimeMs } : undefined
  } catch (error) {
    // Removed meanwhile, or no run at all. What cannot be looked at is not in any list; verifying it tells why.
    if (errnoOf(error) !== undefined) return undefined
    throw error
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw diskError('The run records cannot be listed', folder, error)
  }
}

/** A call with the arguments that are on record, to be judged again. */
export interface RecordedCall {
  readonly callId: string
  readonly seq: number
  readonly tool: string
  readonly caller: string
  readonly args: unknown
  readonly argsHash?: string
  readonly callerKind?: CallOptions['callerKind']
  /** As it was decided then. */
  readonly effect?: string
  readonly rule?: string
}

const FACTS = /^\{"seq":\d{1,15},"time":"[^"\\]{1,40}","type":"call-(?:started|ended)","callId":"([^"\\]{1,128})"/
const FACTS_BYTES = 320
const MARK = '[redacted:'

/**
 * The calls of a run whose arguments are on record, in order; only those with these ids, where some are given. Arguments
 * that were too large for the record, or that hid a secret, are not what was judged: `args` is undefined then.
 */
export async function* recordedCalls(folder: string, wanted?: ReadonlySet<string>): AsyncGenerator<RecordedCall> {
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      const callId = FACTS.exec(line.bytes.toString('latin1', 0, FACTS_BYTES))?.[1]
      if (callId === undefined || (wanted && !wanted.has(callId))) continue
      const event = parseEvent(line) as (CallStarted | CallEnded) & { readonly seq: number }
      // An end repeats the facts only when there was no start.
      if (typeof event?.caller !== 'string' || typeof event.tool !== 'string') continue
      yield callOf(event, line.bytes.includes(MARK))
    }
  }
}

function callOf(event: (CallStarted | CallEnded) & { readonly seq: number }, isMarked: boolean): RecordedCall {
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
  }
}
