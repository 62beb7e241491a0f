/** The most characters that a model sees of one call. */
export const MAX_TOOL_OUTPUT_LENGTH = 30_000

/** Which part of a text stays when it is cut. */
type CutMode = 'head' | 'tail' | 'middle'

/** How to cut: characters are UTF-16 units, as `length` counts them. */
export interface ShortenOptions {
  readonly maxChars: number
  /** `middle` keeps head and tail. */
  readonly mode: CutMode
  /** The words that stand for what was cut. Default: the number of characters. */
  readonly mark?: (cutChars: number) => string
}

/**
 * Shortens a text to `maxChars`, the mark included, without splitting a surrogate pair; `cutChars` is exact. Where the
 * mark does not fit, a shorter one marks the cut, down to a single ellipsis; a limit below 1 counts as 1. Characters are
 * UTF-16 units here, which cost nothing to count; core/util.text.truncate counts characters and bytes as readers do.
 */
export function shortenText(text: string, options: ShortenOptions): { text: string; cutChars: number } {
  const maxChars = Math.max(1, Math.trunc(options.maxChars) || 0)
  if (text.length <= maxChars) return { text, cutChars: 0 }
  const mark = options.mark ?? countMark
  // No cut is longer than the whole text, so a mark that counts never needs more room than this one.
  const widest = (mark: (cutChars: number) => string) => mark(text.length).length
  const marked = cut(text, maxChars - widest(mark), options.mode, mark)
  if (marked.text.length <= maxChars) return marked
  const shorter = 2 * widest(shortMark) <= maxChars ? shortMark : ellipsis
  return cut(text, maxChars - widest(shorter), options.mode, shorter)
}

/** Cuts the middle out of a text that is too long; head and tail stay, and the number of characters cut is stated. */
export function truncateOutput(text: string, maxChars: number = MAX_TOOL_OUTPUT_LENGTH): string {
  return shortenText(text, { maxChars, mode: 'middle' }).text
}

/** The beginning of a text, with an ellipsis where it was cut. */
export function cutHead(text: string, maxChars: number): string {
  return shortenText(text, { maxChars, mode: 'head', mark: ellipsis }).text
}

function cut(text: string, room: number, mode: CutMode, mark: (cutChars: number) => string) {
  const keep = Math.max(0, room)
  const headChars = mode === 'head' ? keep : mode === 'tail' ? 0 : Math.ceil(keep / 2)
  const head = text.slice(0, wholeEnd(text, headChars))
  const tail = text.slice(wholeStart(text, text.length - (keep - headChars)))
  const cutChars = text.length - head.length - tail.length
  return { text: head + mark(cutChars) + tail, cutChars }
}

function wholeEnd(text: string, end: number): number {
  return splitsPair(text, end) ? end - 1 : end
}

function wholeStart(text: string, start: number): number {
  return splitsPair(text, start) ? start + 1 : start
}

function splitsPair(text: string, index: number): boolean {
  return (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(index) & 0xfc00) === 0xdc00
}

function countMark(cutChars: number): string {
  return `\n… [${cutChars.toLocaleString('en-US')} characters cut] …\n`
}

function shortMark(cutChars: number): string {
  return `[…${cutChars} cut…]`
}

function ellipsis(): string {
  return '…'
}
