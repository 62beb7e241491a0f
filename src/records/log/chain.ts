import { sha256 } from '../../lib/index.ts'
import type { EventBody } from './events.ts'
import type { Head } from './head.ts'
import type { Line } from './lines.ts'

/** The `prev` of a run's first line. */
export const FIRST_PREV = '0'.repeat(64)

/** What the next line is linked to. */
export interface ChainLink {
  readonly seq: number
  readonly hash: string
}

/** Makes the next line, newline included, and what its successor is linked to. */
export function linkLine(last: ChainLink, time: string, body: string): ChainLink & { readonly line: string } {
  const seq = last.seq + 1
  const sealed = `{"seq":${seq},"time":"${time}",${body.slice(1, -1)},"prev":"${last.hash}"`
  const hash = sha256(sealed)
  return { seq, hash, line: `${sealed},"hash":"${hash}"}\n` }
}

/** The fields of a line that the chain consists of. */
export interface LineFacts extends ChainLink {
  readonly prev: string
  readonly time: string
  readonly type: string
  readonly callId: string | undefined
  /** Whether the hash of the line matches its content. */
  readonly intact: boolean
}

const HEAD = /^\{"seq":(\d{1,15}),"time":"([^"\\]{1,40})","type":"([a-z-]{1,40})"(?:,"callId":"([^"\\]{1,128})")?/
const HEAD_BYTES = 320
const TAIL = /^,"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/
const TAIL_BYTES = 149
const HASH_BYTES = 75

/** Reads a line without parsing it (a run can have a million). Returns `undefined` if it is not a line of ours. */
export function inspectLine(line: Buffer): LineFacts | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, HEAD_BYTES))
  const tail = TAIL.exec(line.toString('latin1', Math.max(0, line.length - TAIL_BYTES)))
  if (!head || !tail) return undefined
  const hash = tail[2]!
  const intact = sha256(line.subarray(0, line.length - HASH_BYTES)) === hash
  return { seq: Number(head[1]), time: head[2]!, type: head[3]!, callId: head[4], prev: tail[1]!, hash, intact }
}

/** Returns the JSON of the event, as it was passed to `linkLine`. */
export function bodyOf(line: Buffer): string {
  const text = line.toString('utf8', 0, line.length - TAIL_BYTES)
  return `{${text.slice(text.indexOf('"type":'))}}`
}

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
