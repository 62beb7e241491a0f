import { tooManyEntries } from './input.ts'

/** Of the message around the arguments: its own fields are not counted as theirs. */
const ENVELOPE_ENTRIES = 1_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c

/**
 * Throws for a JSON text that has more keys and elements than the arguments of a call may have, before it is parsed:
 * parsing 300,000 keys blocks the event loop for 0.3 s, and this scan ends at the first entry that is too many.
 */
export function checkJsonEntries(text: string, maxEntries: number): void {
  const max = maxEntries + ENVELOPE_ENTRIES
  // An entry takes two characters at least, so the text of an ordinary call is not scanned at all.
  if (text.length <= 2 * max) return
  if (hasMoreEntries(text, max)) throw tooManyEntries(maxEntries)
}

/** Every comma is followed by an entry, and so is the beginning of everything that is not empty. */
function hasMoreEntries(text: string, max: number): boolean {
  let entries = 0
  let isFirst = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= 0x20) continue
    const isEnd = code === 0x5d || code === 0x7d
    if (code === COMMA || (isFirst && !isEnd)) {
      entries++
      if (entries > max) return true
    }
    isFirst = code === 0x5b || code === 0x7b
    if (code === QUOTE) at = endOfString(text, at)
  }
  return false
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) break
    if (code === BACKSLASH) at++
  }
  return at
}
