import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { seqOf } from './call-log.ts'
import { bodyOf, FIRST_PREV, inspectLine, type LineFacts } from './event-line.ts'
import type { EventBody } from './events.ts'
import type { Head } from './head.ts'
import { type Line, LineReader } from './lines.ts'

/** Something that `verifyRun` found. */
export interface AuditFinding {
  /** Line of events.jsonl, from 1; 0 if it is not about one line. */
  readonly line: number
  /** The event that it is about, or the last one. */
  readonly seq: number
  readonly problem: string
}

const MAX_FINDINGS = 100

/** The problems of a run, and remarks on it; at most 100 of each. */
export class AuditFindings {
  readonly problems: AuditFinding[] = []
  readonly remarks: AuditFinding[] = []

  /** Reports something that is not as it was written. */
  report(problem: string, { line = 0, seq }: { readonly line?: number; readonly seq: number }): void {
    if (this.problems.length < MAX_FINDINGS) this.problems.push({ line, seq, problem })
  }

  /** Reports something that a crash explains. */
  remark(problem: string, seq: number): void {
    if (this.remarks.length < MAX_FINDINGS) this.remarks.push({ line: 0, seq, problem })
  }
}

/** An event whose line is as it was written. */
export interface CheckedEvent {
  readonly facts: LineFacts
  readonly body: string
  readonly event: EventBody
}

/** A line of the run that is known from outside its folder. */
export interface KnownHead {
  readonly seq: number
  readonly hash: string
  /** Where it is known from: `the store`, `run x`. */
  readonly source: string
}

const PARSED = new Set(['run-opened', 'call-started', 'call-ended', 'call-interrupted'])

/** Checks the lines of events.jsonl one by one: each is intact, follows the one before it and belongs to this run. */
export class ChainCheck {
  readonly #findings: AuditFindings
  readonly #run: string
  readonly #head: Head | undefined
  readonly #known = new Map<number, readonly KnownHead[]>()
  lines = 0
  calls = 0
  interrupted = 0
  /** Set once a line is not as it was written: what follows it cannot be verified. */
  isBroken = false
  /** Where the hub that opened the run last keeps its heads; `undefined` in runs older than heads. */
  keepsHeads: 'store' | 'files' | undefined
  last: { readonly seq: number; readonly hash: string; readonly type: string } = { seq: 0, hash: FIRST_PREV, type: '' }

  constructor(
    findings: AuditFindings,
    {
      run,
      head,
      known,
    }: { readonly run: string; readonly head: Head | undefined; readonly known: readonly KnownHead[] },
  ) {
    this.#findings = findings
    this.#run = run
    this.#head = head
    for (const one of known) this.#known.set(one.seq, [...(this.#known.get(one.seq) ?? []), one])
  }

  /** Checks the next line. Returns its event if it is about a call. */
  add(line: Line): CheckedEvent | undefined {
    this.lines++
    const facts = inspectLine(line.bytes)
    if (!facts) {
      this.#break('is not a line of ours', this.last.seq + 1)
      return undefined
    }
    this.#checkPlace(facts)
    if (facts.seq === this.#head?.seq) this.#checkHead(facts, line, this.#head)
    for (const known of this.#known.get(facts.seq) ?? [])
      if (facts.hash !== known.hash)
        this.#break(`is not the line that ${known.source} names as event ${facts.seq}`, facts.seq)
    if (facts.type === 'records-lost') this.report('tells of events that could not be kept', facts.seq)
    if (facts.type === 'call-ended' || facts.type === 'call-interrupted') this.calls++
    if (facts.type === 'call-interrupted') this.interrupted++
    this.last = facts
    return facts.intact && PARSED.has(facts.type) ? this.#parse(facts, line) : undefined
  }

  /** Reports something about the line that was added last. */
  report(problem: string, seq: number): void {
    this.#findings.report(`line ${this.lines} ${problem}`, { line: this.lines, seq })
  }

  #checkPlace({ seq, prev, intact, type }: LineFacts): void {
    const expected = this.last.seq + 1
    if (!intact) this.#break('was changed', seq)
    if (seq !== expected) this.#break(misplaced(seq, expected), seq)
    else if (prev !== this.last.hash) this.#break('does not follow the line before it', seq)
    if (this.lines === 1 && type !== 'run-opened') this.#break('does not open the run, as a first line does', seq)
  }

  #checkHead({ seq, hash, type }: LineFacts, line: Line, head: Head): void {
    if (hash !== head.hash) this.report('is not the line that head.json names', seq)
    else if (type !== 'run-closed') this.report('does not close the run, but head.json says so', seq)
    else if (line.end !== head.bytes) this.report(`ends at byte ${line.end}, but head.json says ${head.bytes}`, seq)
    else if (this.calls !== head.calls) this.report(`ends ${this.calls} calls, but head.json says ${head.calls}`, seq)
  }

  /** Anybody can compute a hash, so the content of an intact line is checked, too. */
  #parse(facts: LineFacts, line: Line): CheckedEvent | undefined {
    const body = bodyOf(line.bytes)
    const event = parse(body)
    if (event?.type === 'run-opened') {
      if (event.run !== this.#run) this.report(`is of the run ${shown(event.run)}, not of ${this.#run}`, facts.seq)
      // The first line shows whether the hub kept heads at all.
      if (event.heads === 'store') this.keepsHeads = 'store'
      else if (event.after !== undefined || this.keepsHeads) this.keepsHeads = 'files'
      return undefined
    }
    const isOfCall = event?.type === facts.type && 'callId' in event && isText(event.callId) && isText(event.tool)
    if (isOfCall) return { facts, body, event }
    this.#break('is not an event as we write it', facts.seq)
    return undefined
  }

  #break(problem: string, seq: number): void {
    this.isBroken = true
    this.report(problem, seq)
  }
}

function parse(body: string): EventBody | undefined {
  try {
    return JSON.parse(body) as EventBody
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function shown(run: unknown): string {
  return isText(run) ? run.slice(0, 64) : 'without a name'
}

function misplaced(seq: number, expected: number): string {
  if (seq > expected) return `is event ${seq}, but ${expected} should come here: lines were removed or moved`
  return `is event ${seq}, but ${expected} should come here: lines were inserted or moved`
}

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
