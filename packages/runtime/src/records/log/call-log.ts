import { join } from 'node:path'
import type { Clock } from '@tool-hub/core'
import { AppendFile } from './append-file.ts'
import type { CallEnded, CallInterrupted, EventBody } from './events.ts'
import { readLinesSync } from './lines.ts'

const BEHIND_MS = 100

/**
 * The two logs that people read, one line a call: logs/tools.jsonl has every call that ended, logs/errors.jsonl those
 * that failed, with stack and details. Both are derived from events.jsonl, written behind it, and repaired on open.
 */
export class CallLog {
  readonly #events: AppendFile
  readonly #clock: Clock
  readonly #tools: LogFile
  readonly #errors: LogFile
  /** Makes the lines, and counts the calls. */
  readonly lines = new CallLines()
  #cancel: (() => void) | undefined

  constructor(folder: string, events: AppendFile, clock: Clock) {
    this.#events = events
    this.#clock = clock
    this.#tools = new LogFile(join(folder, 'tools.jsonl'))
    try {
      this.#errors = new LogFile(join(folder, 'errors.jsonl'))
    } catch (error) {
      this.#tools.file.close()
      throw error
    }
  }

  get bytes(): { readonly tools: number; readonly errors: number } {
    return { tools: this.#tools.file.bytes, errors: this.#errors.file.bytes }
  }

  /** Finds the end of both logs; needed only after a crash. */
  prepareRepair(): void {
    this.#tools.findEnd()
    this.#errors.findEnd()
  }

  /** Removes lines whose events are gone. Returns how many events the logs prove to be missing. */
  cutAfter(seq: number): number {
    const missing = Math.max(this.#tools.lastSeq, this.#errors.lastSeq) - seq
    this.#tools.findEnd(seq)
    this.#errors.findEnd(seq)
    return Math.max(0, missing)
  }

  /** Adds an event, and logs the call that it ends. Lines that the logs already have are not repeated. */
  add(event: EventBody, placed: Placed): void {
    const line = this.lines.add(event, placed)
    if (line === undefined) return
    if ('status' in event && hasFailed(event.status)) {
      this.#write(this.#errors, placed.seq, line)
      this.#write(this.#tools, placed.seq, withoutDetails(line))
      return
    }
    this.#write(this.#tools, placed.seq, line)
  }

  /**
   * Writes waiting lines after the events that they are derived from: a log line without its event would mean a lost
   * event. If the disk refuses, nothing is lost: events.jsonl has everything, and the next open repairs the logs.
   */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (this.#events.flush()) return
    this.#tools.file.flush()
    this.#errors.file.flush()
  }

  /** Closes the descriptors until the next line. */
  release(): void {
    this.flush()
    this.#tools.file.release()
    this.#errors.file.release()
  }

  close(): void {
    this.flush()
    this.#tools.file.close()
    this.#errors.file.close()
  }

  #write(log: LogFile, seq: number, line: string): void {
    if (seq <= log.lastSeq || log.file.isFull) return
    log.file.append(line)
    if (log.file.isDue) {
      this.flush()
      return
    }
    this.#cancel ??= this.#clock.after(BEHIND_MS, () => this.flush(), { background: true })
  }
}

/** A log file and the last event in it. */
class LogFile {
  readonly file: AppendFile
  lastSeq = 0

  constructor(path: string) {
    this.file = new AppendFile(path)
  }

  /** Truncates a torn line, and all lines of events after `maxSeq`. */
  findEnd(maxSeq = Number.POSITIVE_INFINITY): void {
    if (maxSeq !== Number.POSITIVE_INFINITY && this.lastSeq <= maxSeq) return
    let end = 0
    this.lastSeq = 0
    for (const line of readLinesSync(this.file.fd)) {
      const seq = seqOf(line.bytes)
      if (seq === undefined || seq > maxSeq) break
      this.lastSeq = seq
      end = line.end
    }
    this.file.truncate(end)
  }
}

/** Returns the seq that a line of any of the three files begins with. */
export function seqOf(line: Buffer): number | undefined {
  const match = /^\{"seq":(\d{1,15}),/.exec(line.toString('latin1', 0, 32))
  return match ? Number(match[1]) : undefined
}

/** Whether a call that ended so did not do what was asked. */
export function hasFailed(status: CallEnded['status'] | CallInterrupted['status']): boolean {
  return status !== 'ok' && status !== 'pending' && status !== 'running'
}

const TYPE = '{"type":"'
const CALL = '","callId":"'
const TOOL = '","tool":"'

/** An event with its place in the chain. */
interface Placed {
  readonly seq: number
  readonly time: string
  /** The event's JSON. */
  readonly body: string
}

const MAX_RUN_LATER = 100

/**
 * Makes the lines of the logs from the events of a run. It uses only what is in events.jsonl, so that recording, repair
 * and verification make the same lines; changing them makes older runs fail `verifyRun`.
 */
export class CallLines {
  readonly #open = new Map<string, { readonly tool: string; readonly body: string }>()
  calls = 0
  failures = 0
  /** Files that run later and that the run has changed, at most some. */
  readonly runLater = new Set<string>()

  /** Calls that started and have no end yet. */
  get open(): ReadonlyMap<string, { readonly tool: string }> {
    return this.#open
  }

  /** Adds an event. Returns the line, newline included, of the call that an end completes. */
  add(event: EventBody, placed: Placed): string | undefined {
    if (event.type === 'call-started') {
      this.#open.set(event.callId, { tool: event.tool, body: placed.body })
      return undefined
    }
    if (event.type === 'run-later-changed')
      for (const { path } of event.files) if (this.runLater.size < MAX_RUN_LATER) this.runLater.add(path)
    if (event.type !== 'call-ended' && event.type !== 'call-interrupted') return undefined
    const started = this.#open.get(event.callId)
    this.#open.delete(event.callId)
    this.calls++
    if (hasFailed(event.status)) this.failures++
    return joinCall(started?.body, event, placed)
  }

  /** Forgets a call whose end could not be recorded. */
  forget(callId: string): void {
    this.#open.delete(callId)
  }
}

/** Returns the line of a failed call for the log of all calls: only the log of failures has stack and details. */
export function withoutDetails(line: string): string {
  if (!line.includes('"stack":') && !line.includes('"details":')) return line
  const call = JSON.parse(line) as { error?: { readonly code: string; readonly message: string } }
  if (call.error === undefined) return line
  // Assigned, so that it keeps its position among the fields.
  call.error = { code: call.error.code, message: call.error.message }
  return `${JSON.stringify(call)}\n`
}

/**
 * Makes one line for a call: the facts of its start, then those of its end. Both are JSON already, so their texts are
 * joined; only what does not begin as we write it, or repeats facts, is parsed.
 */
export function joinCall(
  started: string | undefined,
  ended: CallEnded | CallInterrupted,
  { seq, time, body }: { readonly seq: number; readonly time: string; readonly body: string },
): string {
  const end = factsStart(body, ended.type, ended)
  const start = started === undefined ? 0 : factsStart(started, 'call-started', ended)
  if (end === -1 || start === -1 || (started !== undefined && 'caller' in ended)) return merge(started, seq, time, body)
  const call = body.slice(ended.type.length + TYPE.length + 2, end)
  const facts = started === undefined ? '' : started.slice(start, -1)
  return `{"seq":${seq},"time":"${time}",${call}${facts}${body.slice(end)}\n`
}

/** Returns where the facts begin after type, call and tool, or -1 if the text does not begin with these. */
function factsStart(text: string, type: string, { callId, tool }: CallEnded | CallInterrupted): number {
  const call = TYPE.length + type.length + CALL.length
  const name = call + callId.length + TOOL.length
  const end = name + tool.length
  const isOurs =
    text.startsWith(type, TYPE.length) &&
    text.startsWith(CALL, call - CALL.length) &&
    text.startsWith(callId, call) &&
    text.startsWith(TOOL, name - TOOL.length) &&
    text.startsWith(tool, name) &&
    text.charAt(end) === '"'
  return isOurs ? end + 1 : -1
}

function merge(started: string | undefined, seq: number, time: string, body: string): string {
  const { type: _, ...fields } = { ...JSON.parse(started ?? '{}'), ...JSON.parse(body) }
  return `${JSON.stringify({ seq, time, ...fields })}\n`
}
