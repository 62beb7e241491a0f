import { type Artifact, type CommandOutput, type LogPage, ToolError } from '../../../core/index.ts'
import type { OutputFile } from '../command-call.ts'
import type { StreamName } from './live-output.ts'
import { countNewlines, LogPages } from './log-pages.ts'
import { fromWholeLine, LastBytes, plainText, upToWholeCharacter } from './output-text.ts'

/** How much is kept in memory, and where the rest goes. */
interface KeptOutputOptions {
  readonly bound: number
  /** Opens the file for the complete output; absent if no records are kept. */
  readonly keepOutput?: () => OutputFile
}

/** How much of the beginning is kept, for readers who want both ends. */
const HEAD_BYTES = 16_000

/** The output of a command: its beginning and end in memory, and all of it in a file once it exceeds the limit of memory. */
export class KeptOutput {
  readonly #options: KeptOutputOptions
  readonly #both: LastBytes
  readonly #tails: Record<StreamName, LastBytes>
  #head = Buffer.alloc(0)
  #file: OutputFile | undefined
  #fileBytes = 0
  #failure: unknown
  #filePages: LogPages | undefined
  #artifact: Promise<Artifact> | undefined
  #isBinary = false
  #isDiscarded = false
  /** Newlines so far, counted only if there is no file. */
  #newlines = 0

  constructor(options: KeptOutputOptions) {
    this.#options = options
    this.#both = new LastBytes(options.bound)
    this.#tails = { stdout: new LastBytes(options.bound), stderr: new LastBytes(options.bound) }
  }

  /** Adds output; returns a promise if the command should not write more until it resolves. Never rejects. */
  take(bytes: Buffer, stream: StreamName): Promise<void> | undefined {
    const isOver = this.#both.total + bytes.length > this.#options.bound
    const waiting = isOver && this.#options.keepOutput ? this.#toFile(bytes, this.#options.keepOutput) : undefined
    if (!this.#options.keepOutput) this.#newlines += countNewlines(bytes)
    this.#tails[stream].push(bytes)
    const missing = Math.min(HEAD_BYTES, this.#options.bound) - this.#head.length
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)])
    this.#both.push(bytes)
    return waiting
  }

  output(): CommandOutput {
    return {
      stdout: textOf(this.#tails.stdout),
      stderr: textOf(this.#tails.stderr),
      tail: textOf(this.#both),
      ...(this.#both.isCut && {
        head: plainText(upToWholeCharacter(this.#head, this.#head.length - 1).toString('utf8')),
      }),
      isCut: this.#both.isCut,
    }
  }

  async log(options?: { readonly offset?: number; readonly limit?: number }): Promise<LogPage> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#filePages) return this.#filePages.page(options)
    return this.#memoryPages().page(options)
  }

  /** The complete output as an artifact; undefined if memory contains all of it. No more output may follow. */
  async artifact(name: string): Promise<Artifact | undefined> {
    if (this.#failure !== undefined) throw this.#failure
    const mediaType = this.#isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8'
    this.#artifact ??= this.#file?.finish({ name, mediaType })
    return this.#artifact
  }

  /** Whether there is a file that is neither an artifact nor removed. */
  get hasTemporaryFile(): boolean {
    return this.#file !== undefined && !this.#artifact && !this.#isDiscarded
  }

  /** Removes the file unless it has become an artifact. */
  async discard(): Promise<void> {
    if (!this.hasTemporaryFile) return
    this.#isDiscarded = true
    this.#fail(new ToolError('NOT_FOUND', 'The output of this command is no longer kept.'))
    await this.#file!.discard()
  }

  #toFile(bytes: Buffer, open: () => OutputFile): Promise<void> | undefined {
    if (this.#failure !== undefined) return
    try {
      const first = this.#file ? undefined : this.#openFile(open, bytes)
      const next = this.#write(bytes)
      if (!first && !next) return
      return Promise.all([first, next]).then(
        () => undefined,
        (error) => this.#fail(error),
      )
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Until now, memory contained all of it, in the order in which it was written. */
  #openFile(open: () => OutputFile, next: Buffer): Promise<void> | undefined {
    const file = open()
    this.#file = file
    this.#filePages = new LogPages({
      size: () => this.#fileBytes,
      read: (offset, length) => file.read(offset, length),
      linesBefore: 0,
    })
    const before = this.#both.bytes()
    this.#isBinary = before.includes(0) || next.includes(0)
    return before.length > 0 ? this.#write(before) : undefined
  }

  #write(bytes: Uint8Array): Promise<void> | undefined {
    this.#fileBytes += bytes.length
    return this.#file!.write(bytes)
  }

  /** An incomplete file is worse than none: readers get the reason instead. */
  #fail(error: unknown): void {
    this.#failure ??= error
  }

  #memoryPages(): LogPages {
    const all = this.#both.bytes()
    const bytes = this.#both.isCut ? fromWholeLine(all) : all
    return new LogPages({
      size: () => bytes.length,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
      linesBefore: this.#both.isCut ? this.#newlines - countNewlines(bytes) : 0,
    })
  }
}

function textOf(tail: LastBytes): string {
  const bytes = tail.bytes()
  return plainText((tail.isCut ? fromWholeLine(bytes) : bytes).toString('utf8'))
}
