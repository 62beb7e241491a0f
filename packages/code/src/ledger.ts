import { hashJson } from '@tool-hub/core/lib'
import type { ScriptAnswer, ScriptCall } from './engine/index.ts'
import type { LedgerLine } from './types.ts'

/** A longer answer is an artifact of the run. */
const MAX_INLINE_CHARS = 512

/** Keeps an answer that is too long for a line; returns a reference. */
export type KeepLongAnswer = (json: string) => Promise<string>

/** Reads what `KeepLongAnswer` kept. */
export type ReadLongAnswer = (ref: string) => Promise<string>

/** The script, run again, makes another call than before. */
export class Divergence extends Error {}

/**
 * The answers that a script has got, in the order in which they came. When the script runs again from the start, each call
 * gets its answer from here, in the same order; so the script is where it was, and nothing is done twice.
 */
export class ScriptLedger {
  /** Calls that are answered from the ledger, by sequence number, and how each is answered. */
  readonly #waiting = new Map<number, () => void>()
  readonly #known: ReadonlyMap<number, LedgerLine>
  readonly #past: readonly LedgerLine[]
  readonly #whenReplayed: Promise<void>
  #setReplayed: () => void = () => {}
  #replayed = 0
  /** Answers of this run of the script that are in no line yet. */
  readonly #added: { readonly line: Omit<LedgerLine, 'answer' | 'ref'>; readonly json: string }[] = []

  constructor(lines: readonly LedgerLine[] = []) {
    this.#past = lines
    this.#known = new Map(lines.map((line) => [line.seq, line]))
    this.#whenReplayed = new Promise((resolve) => {
      this.#setReplayed = resolve
    })
    if (lines.length === 0) this.#setReplayed()
  }

  /** Returns the line of a call that was answered before. Throws `Divergence` if the script made another call then. */
  lineOf(call: Pick<ScriptCall, 'seq' | 'tool' | 'input'>): LedgerLine | undefined {
    const line = this.#known.get(call.seq)
    if (line === undefined || (line.tool === call.tool && line.argsHash === hashJson(call.input))) return line
    throw new Divergence(`Call ${call.seq} was ${line.tool} before and is ${call.tool} now, or has other arguments.`)
  }

  /** Answers a call from its line, when it is its turn. */
  async replay(line: LedgerLine, read: ReadLongAnswer): Promise<ScriptAnswer> {
    const answer = JSON.parse(line.answer ?? (await read(line.ref!))) as ScriptAnswer
    await new Promise<void>((resolve) => {
      this.#waiting.set(line.seq, resolve)
      this.#answerNext()
    })
    return answer
  }

  /** Resolves when all answers of earlier runs were given: others must not come before them. */
  whenReplayed(): Promise<void> {
    return this.#whenReplayed
  }

  /** Adds the answer to a call. */
  add(line: Omit<LedgerLine, 'position' | 'answer' | 'ref'>, answer: ScriptAnswer): void {
    const position = this.#past.length + this.#added.length + 1
    this.#added.push({ line: { position, ...line }, json: JSON.stringify(answer) })
  }

  /** The lines from a position on, to be stored. */
  async linesFrom(position: number, keep: KeepLongAnswer): Promise<readonly LedgerLine[]> {
    const lines: LedgerLine[] = []
    for (const { line, json } of this.#added) {
      if (line.position < position) continue
      lines.push({ ...line, ...(json.length <= MAX_INLINE_CHARS ? { answer: json } : { ref: await keep(json) }) })
    }
    return lines
  }

  /** How many answers of earlier runs were given again. */
  get replayed(): number {
    return this.#replayed
  }

  /** How many answers there are. */
  get length(): number {
    return this.#past.length + this.#added.length
  }

  #answerNext(): void {
    for (;;) {
      const next = this.#past[this.#replayed]
      const answer = next && this.#waiting.get(next.seq)
      if (!answer) break
      this.#replayed++
      answer()
    }
    if (this.#replayed === this.#past.length) this.#setReplayed()
  }
}
