/** Whole lines among some bytes. */
export interface TakenLines {
  readonly count: number
  /** Where the text of the last line ends, its line end left out. */
  readonly end: number
  /** Where the line begins that was not taken because it alone is over the limit; undefined when there is none. */
  readonly tooLong: number | undefined
}

/**
 * Takes at most `limit` whole lines that stand in `bytes` from `start` on, as many as fit into `maxBytes`. The bytes end
 * with a whole line, or so late that a line which is cut off there is too long in any case.
 */
export function takeLines(bytes: Buffer, start: number, limit: number, maxBytes: number): TakenLines {
  let end = start
  let next = start
  let count = 0
  while (count < limit && next < bytes.length) {
    const found = bytes.indexOf(10, next)
    const lineEnd = found === -1 ? bytes.length : found
    if (lineEnd - start > maxBytes) return { count, end, tooLong: lineEnd - next > maxBytes ? next : undefined }
    end = lineEnd
    next = lineEnd + 1
    count += 1
  }
  return { count, end, tooLong: undefined }
}
