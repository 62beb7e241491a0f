import { basename, join } from 'node:path'
import { errnoOf } from '../errno.ts'
import { seqOf } from './call-log.ts'
import { FIRST_PREV, inspectLine, type LineFacts } from './chain.ts'
import { diskError } from './disk-error.ts'
import { type Head, readHead } from './head.ts'
import { readLines } from './lines.ts'

/** Something that is not as it was written. */
interface VerifyProblem {
  /** Line of events.jsonl, from 1; 0 when it is not about one line. */
  readonly line: number
  readonly seq: number
  readonly problem: string
}

/** What `audit verify` says of a run. */
export interface VerifyReport {
  readonly ok: boolean
  readonly run: string
  readonly lines: number
  readonly calls: number
  readonly interrupted: number
  /** At most 100. */
  readonly problems: readonly VerifyProblem[]
}

const MOST_PROBLEMS = 100

/**
 * Finds any changed, removed, inserted or reordered line of a run. The end of the chain is checked against head.json
 * and the logs; a run that is still open, or that crashed, may lack both and ends where its last whole line ends.
 */
export async function verifyRun(folder: string): Promise<VerifyReport> {
  const check = new ChainCheck(basename(folder))
  const head = await headOf(folder)
  if (head === 'broken') check.report('head.json cannot be read as we wrote it')
  const anchor = head === 'broken' ? undefined : head
  // Before the events: in a run that goes on, the logs must not get ahead of what is read here.
  const known = Math.max(anchor?.seq ?? 0, await lastLoggedSeq(folder))
  try {
    for await (const lines of readLines(join(folder, 'events.jsonl'))) {
      for (const line of lines) check.add(inspectLine(line.bytes), anchor)
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw diskError('events.jsonl cannot be read', folder, error)
    check.report('events.jsonl is missing')
  }
  if (known > check.last.seq) check.report(`lines were removed at the end: events up to ${known} had been written`)
  return check.result()
}

class ChainCheck {
  readonly #run: string
  readonly #problems: VerifyProblem[] = []
  #lines = 0
  #calls = 0
  #interrupted = 0
  last: { readonly seq: number; readonly hash: string } = { seq: 0, hash: FIRST_PREV }

  constructor(run: string) {
    this.#run = run
  }

  add(facts: LineFacts | undefined, head: Head | undefined): void {
    this.#lines++
    if (!facts) {
      this.#reportLine('is not a line of ours', this.last.seq + 1)
      return
    }
    const { seq, prev } = facts
    if (!facts.intact) this.#reportLine('was changed', seq)
    if (seq !== this.last.seq + 1) this.#reportLine(misplaced(seq, this.last.seq + 1), seq)
    else if (prev !== this.last.hash) this.#reportLine('does not follow the line before it', seq)
    if (seq === head?.seq && facts.hash !== head.hash) this.#reportLine('is not the line that head.json names', seq)
    if (facts.type === 'records-lost') this.#reportLine('tells of events that could not be kept', seq)
    if (facts.type === 'call-ended' || facts.type === 'call-interrupted') this.#calls++
    if (facts.type === 'call-interrupted') this.#interrupted++
    this.last = facts
  }

  report(problem: string): void {
    this.#push({ line: 0, seq: this.last.seq, problem })
  }

  result(): VerifyReport {
    return {
      ok: this.#problems.length === 0,
      run: this.#run,
      lines: this.#lines,
      calls: this.#calls,
      interrupted: this.#interrupted,
      problems: this.#problems,
    }
  }

  #reportLine(problem: string, seq: number): void {
    this.#push({ line: this.#lines, seq, problem: `line ${this.#lines} ${problem}` })
  }

  #push(problem: VerifyProblem): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(problem)
  }
}

function misplaced(seq: number, expected: number): string {
  if (seq > expected) return `is event ${seq}, but ${expected} should come here: lines were removed or moved`
  return `is event ${seq}, but ${expected} should come here: lines were inserted or moved`
}

async function headOf(folder: string): Promise<Head | 'broken' | undefined> {
  try {
    return await readHead(folder)
  } catch (error) {
    throw diskError('head.json cannot be read', folder, error)
  }
}

async function lastLoggedSeq(folder: string): Promise<number> {
  let last = 0
  try {
    for await (const lines of readLines(join(folder, 'logs', 'tools.jsonl'))) {
      for (const line of lines) last = seqOf(line.bytes) ?? last
    }
  } catch (error) {
    // A run without calls, or one of which only the events were kept.
    if (errnoOf(error) !== 'ENOENT') throw diskError('logs/tools.jsonl cannot be read', folder, error)
  }
  return last
}
