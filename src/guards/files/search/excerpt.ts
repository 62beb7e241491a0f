/** Longer lines are cut. */
export const LONGEST_EXCERPT = 500
const BEFORE = 150

/** A line as an answer shows it: at most 500 characters, those around the match. */
export function excerpt(line: string, matchStart = 0): string {
  if (line.length <= LONGEST_EXCERPT) return line
  const from = wholeCharacter(line, Math.max(0, Math.min(matchStart - BEFORE, line.length - LONGEST_EXCERPT)))
  const to = wholeCharacter(line, Math.min(line.length, from + LONGEST_EXCERPT))
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}

/** The next place that does not cut a character in two. */
function wholeCharacter(text: string, index: number): number {
  const isLowHalf = (text.charCodeAt(index) & 0xfc00) === 0xdc00
  return isLowHalf ? index + 1 : index
}
