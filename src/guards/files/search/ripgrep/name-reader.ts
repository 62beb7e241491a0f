import type { Sink } from '../engine.ts'

/** Reads the names that `rg --files --null` writes, and gives on those that hold. */
export class NameReader {
  private rest: Uint8Array = new Uint8Array()
  private readonly sink: Sink
  private readonly isFile: (file: string) => boolean

  constructor(sink: Sink, isFile: (file: string) => boolean) {
    this.sink = sink
    this.isFile = isFile
  }

  /** Cuts at NUL characters, the only ones that no name has; false when no more is wanted. */
  take(chunk: Buffer): boolean {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk
    let from = 0
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, from)) {
      if (!this.judge(bytes.subarray(from, end))) return false
      from = end + 1
    }
    this.rest = bytes.subarray(from)
    return true
  }

  private judge(name: Buffer): boolean {
    const file = name.toString().replace(/^\.\//, '')
    // A name that is no UTF-8 cannot be said in an answer, nor asked for.
    const isSayable = Buffer.from(file).equals(name.subarray(name.length - Buffer.byteLength(file)))
    if (isSayable && !this.sink.admits(file)) return true
    if (isSayable && this.isFile(file)) return this.sink.take({ file, matches: 0, lines: [] })
    this.sink.skip(1)
    return true
  }
}
