import type { Writable } from 'node:stream'
import { type Clock, ToolError } from '../../../core/index.ts'
import { waitUntil } from './wait-until.ts'

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
