import type { Writable } from 'node:stream'
import type { Clock } from '../../../clock.ts'
import { ToolError } from '../../../errors.ts'
import { waitUntil } from './wait-until.ts'

const MOST_UNREAD = 1024 * 1024
const PATIENCE_MS = 2_000

/** The standard input of a command. */
export class CommandInput {
  readonly #stream: Writable
  readonly #id: string
  readonly #clock: Clock
  #isClosed = false
  #isBroken = false

  constructor(stream: Writable, id: string, clock: Clock) {
    this.#stream = stream
    this.#id = id
    this.#clock = clock
    // It may close its input, or end, at any moment; whoever writes next is told.
    stream.on('error', () => {
      this.#isBroken = true
    })
  }

  /** More can be written. */
  get isOpen(): boolean {
    return !this.#isClosed && !this.#isBroken && !this.#stream.destroyed
  }

  /** Resolves when the command's side has it, or after a moment where the command does not read: it waits there then. */
  async write(text: string): Promise<void> {
    if (!this.isOpen) throw this.#closed()
    const bytes = Buffer.from(text)
    const unread = this.#stream.writableLength
    if (unread + bytes.length > MOST_UNREAD) throw this.#full(unread, bytes.length)
    let failure: Error | null | undefined
    const watch = (done: () => void) => {
      this.#stream.write(bytes, (error) => {
        failure = error
        done()
      })
      return () => undefined
    }
    await waitUntil(watch, { withinMs: PATIENCE_MS }, this.#clock)
    if (failure) throw this.#closed(failure)
  }

  /** Writes what is given and closes; a command that does not want it is no error. */
  finish(text = ''): void {
    this.#isClosed = true
    this.#stream.end(text)
  }

  /** Ends the input: the command reads what was written, then its end. */
  close(): void {
    if (!this.isOpen) throw this.#closed()
    this.finish()
  }

  /** The command is gone. */
  destroy(): void {
    this.#isClosed = true
    this.#stream.destroy()
  }

  #closed(cause?: Error): ToolError {
    return new ToolError('CONFLICT', `${this.#id} has closed its input; nothing more can be written to it.`, {
      hint: 'Start the command again in the background; give stdin only where all of it is known before.',
      cause,
    })
  }

  #full(unread: number, more: number): ToolError {
    return new ToolError(
      'CONFLICT',
      `${this.#id} does not read its input: ${unread} bytes wait, ${more} more would pass the limit of ${MOST_UNREAD}.`,
      { hint: 'Look at its output to see what it does, then write less at a time, or kill it.' },
    )
  }
}
