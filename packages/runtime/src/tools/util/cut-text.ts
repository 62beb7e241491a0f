/** Limits of a text, and which part to keep. */
export interface FitOptions {
  readonly maxChars: number
  readonly maxBytes: number
  readonly keep: 'head' | 'tail' | 'middle'
  /** Replaces the cut text; `{cut}` becomes the number of characters. */
  readonly marker: string
}

/** A text that fits, and how much was cut. */
interface CutText {
  readonly text: string
  readonly cutChars: number
  readonly chars: number
  readonly bytes: number
}

interface Room {
  readonly chars: number
  readonly bytes: number
}

/** Used if the marker does not fit and this one leaves at least half of the space to the text. */
const SHORT_MARKER = '[…{cut} cut…]'

/** Cuts a text to its limits, marker included, between characters as a reader sees them. */
export function cutToFit(text: string, { maxChars, maxBytes, keep, marker }: FitOptions): CutText {
  const size = measure(text)
  if (size.chars <= maxChars && size.bytes <= maxBytes) return { text, cutChars: 0, ...size }

  const mark = fittingMark(marker, size.chars, { chars: maxChars, bytes: maxBytes })
  const widest = measure(mark(size.chars))
  const room = { chars: maxChars - widest.chars, bytes: maxBytes - widest.bytes }
  const headEnd = keep === 'tail' ? 0 : headWithin(text, keep === 'head' ? room : half(room, Math.ceil))
  const tailStart = keep === 'head' ? text.length : tailWithin(text, keep === 'tail' ? room : half(room, Math.floor))
  const cutChars = measure(text.slice(headEnd, tailStart)).chars
  const kept = text.slice(0, headEnd) + mark(cutChars) + text.slice(tailStart)
  return { text: kept, cutChars, ...measure(kept) }
}

/** The marker, or a shorter one that fits; the last resort is one byte long. */
function fittingMark(marker: string, most: number, room: Room): (cut: number) => string {
  const fill = (text: string, cut: number) => text.replaceAll('{cut}', String(cut))
  const fits = (text: string, within: Room) => {
    const { chars, bytes } = measure(fill(text, most))
    return chars <= within.chars && bytes <= within.bytes
  }
  if (fits(marker, { chars: room.chars - 1, bytes: room.bytes - 1 })) return (cut) => fill(marker, cut)
  if (fits(SHORT_MARKER, half(room, Math.floor))) return (cut) => fill(SHORT_MARKER, cut)
  return () => (room.bytes >= Buffer.byteLength('…') ? '…' : '~')
}

function half({ chars, bytes }: Room, round: (value: number) => number): Room {
  return { chars: round(chars / 2), bytes: round(bytes / 2) }
}

function measure(text: string): Room {
  const bytes = Buffer.byteLength(text)
  return { chars: bytes === text.length ? bytes : countCodePoints(text), bytes }
}

function headWithin(text: string, { chars, bytes }: Room): number {
  let end = 0
  for (let [charsLeft, bytesLeft] = [chars, bytes]; end < text.length && charsLeft > 0; charsLeft--) {
    const next = end + (isSecondHalf(text, end + 1) ? 2 : 1)
    bytesLeft -= bytesOf(text, end)
    if (bytesLeft < 0) break
    end = next
  }
  return wholeCharacter(text, end, 'before')
}

function tailWithin(text: string, { chars, bytes }: Room): number {
  let start = text.length
  for (let [charsLeft, bytesLeft] = [chars, bytes]; start > 0 && charsLeft > 0; charsLeft--) {
    const previous = start - (isSecondHalf(text, start - 1) ? 2 : 1)
    bytesLeft -= bytesOf(text, previous)
    if (bytesLeft < 0) break
    start = previous
  }
  return wholeCharacter(text, start, 'after')
}

function bytesOf(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  return isSecondHalf(text, index + 1) ? 4 : 3
}

const WINDOW = 64
let segmenter: Intl.Segmenter | undefined

/**
 * Moves a cut that would separate a letter from its accents, or the parts of an emoji, to the edge of the character.
 */
function wholeCharacter(text: string, cut: number, side: 'before' | 'after'): number {
  if (cut === 0 || cut === text.length) return cut
  if (text.charCodeAt(cut - 1) < 0x300 && text.charCodeAt(cut) < 0x300) return cut
  segmenter ??= new Intl.Segmenter()
  const from = Math.max(0, cut - WINDOW)
  const around = segmenter.segment(text.slice(from, cut + WINDOW)).containing(cut - from)
  const isWhole = around && (around.index > 0 || from === 0) && around.segment.length < WINDOW
  if (!isWhole || around.index === cut - from) return cut
  return from + around.index + (side === 'after' ? around.segment.length : 0)
}

/** Compares two texts by code points, as RFC 9535 and JMESPath order them; UTF-16 order differs above U+D7FF. */
export function compareText(left: string, right: string): number {
  const shorter = Math.min(left.length, right.length)
  for (let index = 0; index < shorter; index++) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** How many code points a text has. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) if (isSecondHalf(text, index)) count--
  return count
}

/** Whether the unit at `index` is the second half of a code point. */
export function isSecondHalf(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  if (!(unit >= 0xdc00 && unit <= 0xdfff)) return false
  const before = text.charCodeAt(index - 1)
  return before >= 0xd800 && before <= 0xdbff
}

/** Sorts the surrogates, which stand for everything above U+FFFF, after U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
