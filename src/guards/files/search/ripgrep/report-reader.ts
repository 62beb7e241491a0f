import type { Sink } from '../engine.ts'
import type { SearchJob } from '../search-job.ts'
import { FileReport } from './file-report.ts'
import { type RgMessage, readMessages } from './rg-messages.ts'

/** Reads what `rg --json` writes, file by file, and gives on what holds. */
export class ReportReader {
  /** ripgrep came to its end; without that it did not even begin. */
  isSummed = false
  /** Takes a piece of output; false when no more is wanted. */
  readonly take: (chunk: Buffer) => boolean
  private report: FileReport | undefined
  private readonly job: SearchJob
  private readonly sink: Sink
  private readonly open: (file: string) => number | undefined

  constructor(job: SearchJob, sink: Sink, open: (file: string) => number | undefined) {
    this.job = job
    this.sink = sink
    this.open = open
    this.take = readMessages((message) => this.read(message))
  }

  close(): void {
    this.report?.finish()
    this.report = undefined
  }

  private read(message: RgMessage): boolean {
    switch (message.type) {
      case 'begin':
        this.report = this.begin(message.path)
        return true
      case 'match':
      case 'context':
        this.report?.add(message.block, message.type === 'match')
        return !this.hasEnough() || this.finish()
      case 'too-long':
        this.report?.doubt()
        return true
      case 'end':
        if (message.isBinary) this.report?.drop()
        return this.finish()
      case 'summary':
        this.isSummed = true
        return true
    }
  }

  private begin(path: string | undefined): FileReport | undefined {
    // A name that is no UTF-8 cannot be said in an answer, nor asked for.
    if (path === undefined) this.sink.skip(1)
    const file = path?.replace(/^\.\//, '')
    if (file === undefined || !this.sink.admits(file)) return undefined
    return new FileReport(file, this.job.output === 'lines', () => this.open(file))
  }

  private hasEnough(): boolean {
    return this.job.output === 'lines' && (this.report?.matches ?? 0) > this.job.maxMatches
  }

  private finish(): boolean {
    const found = this.report?.finish()
    this.report = undefined
    if (found === 'unsure') this.sink.skip(1)
    return typeof found !== 'object' || this.sink.take(found)
  }
}
