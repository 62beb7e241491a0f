import type { Writable } from 'node:stream'
import { type Clock, ToolError, throwIfAborted } from '@tool-hub/core'
import { LastBytes, plainText } from '../output/output-text.ts'

const MAX_UNREAD = 1024 * 1024
const WRITE_TIMEOUT_MS = 2_000

/** The standard input of a command. */
export class CommandInput {
  readonly #stream: Writable
  readonly #id: string
  readonly #clock: Clock
  #state: 'open' | 'closed' | 'broken' = 'open'

  constructor(stream: Writable, id: string, clock: Clock) {
    this.#stream = stream
    this.#id = id
    this.#clock = clock
    // The command may close its input, or end, at any moment; the next write fails.
    stream.on('error', () => {
      this.#state = 'broken'
    })
  }

  /** Whether more can be written. */
  get isOpen(): boolean {
    return this.#state === 'open' && !this.#stream.destroyed
  }

  /** Resolves when the command's side has the text, or after a moment if the command does not read: the text then waits. */
  async write(text: string): Promise<void> {
    if (!this.isOpen) throw this.#closed()
    const bytes = Buffer.from(text)
    const unread = this.#stream.writableLength
    if (unread + bytes.length > MAX_UNREAD) throw this.#full(unread, bytes.length)
    let failure: Error | null | undefined
    const watch = (done: () => void) => {
      this.#stream.write(bytes, (error) => {
        failure = error
        done()
      })
      return () => undefined
    }
    await waitUntil(watch, { withinMs: WRITE_TIMEOUT_MS }, this.#clock)
    if (failure) throw this.#closed(failure)
  }

  /** Writes the text and closes the input; it is not an error if the command does not read it. */
  finish(text = ''): void {
    this.#state = 'closed'
    this.#stream.end(text)
  }

  /** Ends the input: the command reads what was written, then end of file. */
  close(): void {
    if (!this.isOpen) throw this.#closed()
    this.finish()
  }

  /** Closes the input of a command that has ended. */
  destroy(): void {
    this.#state = 'closed'
    this.#stream.destroy()
  }

  #closed(cause?: Error): ToolError {
    return new ToolError('CONFLICT', `${this.#id} has closed its input; nothing more can be written to it.`, {
      hint: 'Start the command again in the background; pass stdin only if the whole input is known in advance.',
      cause,
    })
  }

  #full(unread: number, more: number): ToolError {
    return new ToolError(
      'CONFLICT',
      `${this.#id} does not read its input: ${unread} bytes wait, ${more} more would exceed the limit of ${MAX_UNREAD}.`,
      { hint: 'Read its output to see what it does, then write less at a time, or kill it.' },
    )
  }
}

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

/** How long to wait. */
export interface WaitLimits {
  readonly withinMs?: number
  readonly signal?: AbortSignal
}

/**
 * Waits until `watch` calls `done`. Returns false if the time was over before; throws if the signal was aborted before.
 * `watch` returns a function that ends the watch.
 */
export async function waitUntil(
  watch: (done: () => void) => () => void,
  { withinMs, signal }: WaitLimits,
  clock: Clock,
): Promise<boolean> {
  if (signal) throwIfAborted(signal)
  const cleanups: (() => void)[] = []
  try {
    return await new Promise<boolean>((resolve, reject) => {
      cleanups.push(watch(() => resolve(true)))
      if (withinMs !== undefined) cleanups.push(clock.after(Math.max(0, withinMs), () => resolve(false)))
      if (!signal) return
      const stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop)
      cleanups.push(() => signal.removeEventListener('abort', stop))
    })
  } catch (reason) {
    if (signal) throwIfAborted(signal)
    throw reason
  } finally {
    for (const cleanup of cleanups) cleanup()
  }
}
