import { join } from 'node:path'
import type { Clock } from '../../core/index.ts'
import { AppendFile } from './append-file.ts'
import { CallLines, type Placed, withoutDetails } from './call-lines.ts'
import { type EventBody, hasFailed } from './events.ts'
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
  /** What the lines are made from, and how many calls there were. */
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

  /** Finds out what the logs have already; needed only after a crash. */
  prepareRepair(): void {
    this.#tools.findEnd()
    this.#errors.findEnd()
  }

  /** Cuts lines of events that are gone, and says how many events the logs prove to be missing. */
  cutAfter(seq: number): number {
    const missing = Math.max(this.#tools.lastSeq, this.#errors.lastSeq) - seq
    this.#tools.findEnd(seq)
    this.#errors.findEnd(seq)
    return Math.max(0, missing)
  }

  /** Takes up an event, and logs the call that it ends. Lines that the logs have already are not repeated. */
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
   * Writes what waits, after the events it is derived from: a log line without its event would mean a lost event.
   * A refusal is no loss: events.jsonl has it all, and the next open repairs the logs.
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

/** A log and the event it has got to. */
class LogFile {
  readonly file: AppendFile
  lastSeq = 0

  constructor(path: string) {
    this.file = new AppendFile(path)
  }

  /** Cuts a torn line, and all lines of events after `maxSeq`. */
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

/** The seq that a line of any of the three files begins with. */
export function seqOf(line: Buffer): number | undefined {
  const match = /^\{"seq":(\d{1,15}),/.exec(line.toString('latin1', 0, 32))
  return match ? Number(match[1]) : undefined
}
