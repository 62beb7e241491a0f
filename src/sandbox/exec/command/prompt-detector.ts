import type { Clock } from '../../../core/index.ts'
import { LastBytes, plainText } from '../output/output-text.ts'

const LAST_BYTES = 256
const QUIET_MS = 500

/**
 * Detects that a command waits for an answer: its last output looks like a prompt, nobody has answered, and it is
 * silent. What a process really blocks on cannot be seen from outside its sandbox, so a command that reads without a
 * prompt is not detected.
 */
export class PromptDetector {
  readonly #clock: Clock
  /** Contains secrets: it is only used to detect a prompt and never shown. */
  readonly #last = new LastBytes(LAST_BYTES)
  #outputAt = 0
  #isAnswered = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records output of the command. */
  note(bytes: Uint8Array): void {
    this.#last.push(bytes)
    this.#outputAt = this.#clock.now()
    this.#isAnswered = false
  }

  /** Records that something was written to the command. */
  answer(): void {
    this.#isAnswered = true
  }

  /** How long the command must stay silent until it counts as waiting, 0 if it does; undefined without a prompt. */
  waitsIn(): number | undefined {
    if (this.#isAnswered || !looksLikePrompt(this.#last.bytes())) return undefined
    return Math.max(0, this.#outputAt + QUIET_MS - this.#clock.now())
  }
}

// A sign that asks, a choice or a default in brackets, or words that ask; each only at the end of a short text.
const ASKS = /[?:>$#»❯][ \t]?$/u
const CHOICE = /[[(][A-Za-z][A-Za-z0-9 ]{0,20}(?:[/|,] ?[A-Za-z][A-Za-z0-9 ]{0,20})+[\])][ \t]*$/u
const DEFAULT = /[?:] ?[[(][^\])\n]{1,40}[\])][ \t]*$/u
const WORDS = /\b(?:press|hit) [^\n]{1,60}$|\bpass(?:word|phrase|code)\b[^\n]{0,60}$/iu
// Percentages, counts and dots mean that the command is working.
const WORKS = /(?:\d ?%|\.{2,}|\d+\/\d+|…)[\])]?[ \t]*$/u

/** Whether the end of a command's output looks like a prompt: a last line without a newline that asks for something. */
export function looksLikePrompt(end: Uint8Array): boolean {
  const line = plainText(Buffer.from(end).toString('utf8')).split('\n').at(-1)!
  if (line.trim() === '' || (WORKS.test(line) && !WORDS.test(line))) return false
  return ASKS.test(line) || CHOICE.test(line) || DEFAULT.test(line) || WORDS.test(line)
}
