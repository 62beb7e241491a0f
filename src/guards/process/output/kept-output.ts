import type { CommandOutput, LogPage } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import type { Artifact } from '../../../result.ts'
import type { OutputFile } from '../command-call.ts'
import { LastBytes } from './last-bytes.ts'
import type { StreamName } from './live-output.ts'
import { countLineEnds, LogPages } from './log-pages.ts'
import { plainText } from './plain-text.ts'
import { fromWholeLine, upToWholeCharacter } from './whole-parts.ts'

/** How much is held in memory, and where the rest goes. */
interface KeptOutputOptions {
  readonly bound: number
  /** Opens the file for all of it; absent where nothing is kept. */
  readonly keepOutput?: () => OutputFile
}

/** How much of the beginning is held, for who wants both ends. */
const HEAD_BYTES = 16_000

/** What a command has written: the first and the last of it in memory, all of it in a file once it is more than memory holds. */
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
  /** Line ends that went by, counted only where no file has them. */
  #lineEnds = 0

  constructor(options: KeptOutputOptions) {
    this.#options = options
    this.#both = new LastBytes(options.bound)
    this.#tails = { stdout: new LastBytes(options.bound), stderr: new LastBytes(options.bound) }
  }

  /** Takes what came; a promise when the command should write no more until it is resolved. Never rejects. */
  take(bytes: Buffer, stream: StreamName): Promise<void> | undefined {
    const isOver = this.#both.total + bytes.length > this.#options.bound
    const waiting = isOver && this.#options.keepOutput ? this.#toFile(bytes, this.#options.keepOutput) : undefined
    if (!this.#options.keepOutput) this.#lineEnds += countLineEnds(bytes)
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

  /** Everything as an artifact; undefined when memory holds all of it. Nothing may come any more. */
  async artifact(name: string): Promise<Artifact | undefined> {
    if (this.#failure !== undefined) throw this.#failure
    const mediaType = this.#isBinary ? 'application/octet-stream' : 'text/plain; charset=utf-8'
    this.#artifact ??= this.#file?.finish({ name, mediaType })
    return this.#artifact
  }

  /** There is a file that is neither an artifact nor removed. */
  get hasLooseFile(): boolean {
    return this.#file !== undefined && !this.#artifact && !this.#isDiscarded
  }

  /** Leaves no file behind unless it has become an artifact. */
  async discard(): Promise<void> {
    if (!this.hasLooseFile) return
    this.#isDiscarded = true
    this.#fail(new ToolError('NOT_FOUND', 'The output of this command is not kept any more.'))
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

  /** Until now memory held all of it, in the order it came. */
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

  /** A file that misses a part is worse than none: whoever asks for it hears why there is none. */
  #fail(error: unknown): void {
    this.#failure ??= error
  }

  #memoryPages(): LogPages {
    const all = this.#both.bytes()
    const bytes = this.#both.isCut ? fromWholeLine(all) : all
    return new LogPages({
      size: () => bytes.length,
      read: async (offset, length) => bytes.subarray(offset, offset + length),
      linesBefore: this.#both.isCut ? this.#lineEnds - countLineEnds(bytes) : 0,
    })
  }
}

function textOf(tail: LastBytes): string {
  const bytes = tail.bytes()
  return plainText((tail.isCut ? fromWholeLine(bytes) : bytes).toString('utf8'))
}
