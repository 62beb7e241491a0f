import { ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { seqOf } from './call-log.ts'
import type { AuditFindings } from './chain.ts'
import { type Line, LineReader } from './lines.ts'

/** Compares a log, as it is at the time of opening, with the lines derived from the events. */
export class LogCheck {
  readonly #name: string
  readonly #findings: AuditFindings
  readonly #reader: LineReader | undefined
  #lines: Line[] = []
  #next = 0
  #number = 0
  /** The first line derived from the events that the log lacks at its end. */
  #missing: { readonly seq: number; readonly line: string } | undefined

  private constructor(name: string, findings: AuditFindings, reader: LineReader | undefined) {
    this.#name = name
    this.#findings = findings
    this.#reader = reader
  }

  /**
   * Opens a log. Open it before the events: in a growing run, the log must not be ahead of the events that are read.
   */
  static async open(path: string, name: string, findings: AuditFindings): Promise<LogCheck> {
    try {
      return new LogCheck(name, findings, await LineReader.open(path, 0, { asOfNow: true }))
    } catch (error) {
      if (ToolError.is(error)) findings.report(error.message, { seq: 0 })
      else if (errnoOf(error) !== 'ENOENT') throw error
      return new LogCheck(name, findings, undefined)
    }
  }

  /** Compares the next line derived from the events, newline included. */
  async expect(seq: number, line: string): Promise<void> {
    for (let found = await this.#peek(); found; found = await this.#peek()) {
      const foundSeq = seqOf(found.bytes)
      if (foundSeq !== undefined && foundSeq > seq) {
        this.#report(`lacks the line of event ${seq}`, seq)
        return
      }
      this.#next++
      this.#number++
      if (foundSeq === seq) {
        if (!found.bytes.equals(Buffer.from(line.slice(0, -1))))
          this.#report(`line ${this.#number} is not what event ${seq} gives`, seq)
        return
      }
      this.#report(`line ${this.#number} is of no event`, foundSeq ?? seq)
    }
    this.#missing ??= { seq, line }
  }

  /**
   * Ends the comparison. The log must reach `complete`, may lag behind from there to `last`, and must not exceed it.
   */
  async end({ complete, last }: { readonly complete: number; readonly last: number }): Promise<void> {
    for (let found = await this.#peek(); found; found = await this.#peek()) {
      this.#next++
      this.#number++
      const seq = seqOf(found.bytes)
      if (seq !== undefined && seq > last) {
        this.#report(`continues to event ${seq}: lines were removed at the end of events.jsonl`, last)
        return
      }
      this.#report(`line ${this.#number} is of no event`, seq ?? last)
    }
    if (this.#missing && this.#missing.seq <= complete) {
      this.#report(`lacks the line of event ${this.#missing.seq} and all that follow`, this.#missing.seq)
      return
    }
    this.#checkRest(last)
  }

  /** Ends the comparison of a broken chain, whose events cannot be compared: looks only for events that are gone. */
  async endOfBroken(last: number): Promise<void> {
    for (let found = await this.#peek(); found; found = await this.#peek()) {
      this.#next++
      const seq = seqOf(found.bytes) ?? 0
      if (seq <= last) continue
      this.#report(`continues to event ${seq}: lines were removed at the end of events.jsonl`, last)
      return
    }
  }

  async close(): Promise<void> {
    await this.#reader?.close()
  }

  /** A crash leaves half a line, which is then half of the line that comes next. */
  #checkRest(last: number): void {
    const rest = this.#reader?.rest
    if (!rest || rest.length === 0) return
    const isTorn = this.#missing && Buffer.from(this.#missing.line).subarray(0, rest.length).equals(rest)
    if (isTorn) this.#findings.remark(`${this.#name} ends in half a line, as a crash leaves it`, last)
    else this.#report('ends in half a line that no event gives', last)
  }

  async #peek(): Promise<Line | undefined> {
    while (this.#next === this.#lines.length) {
      const lines = await this.#reader?.next()
      if (!lines) return undefined
      this.#lines = lines
      this.#next = 0
    }
    return this.#lines[this.#next]
  }

  #report(problem: string, seq: number): void {
    this.#findings.report(`${this.#name} ${problem}`, { seq })
  }
}
