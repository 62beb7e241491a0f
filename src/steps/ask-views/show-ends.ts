const MOST_CHARS = 8_000

/** How a view begins that does not show all of what it is about; no diff begins so. */
export const NOT_WHOLE = 'NOT SHOWN WHOLE: '

/** Both ends of a text that is too long to be shown, and how much is missing: what matters may stand last. */
export function showEnds(text: string): string {
  const left = text.length - MOST_CHARS
  if (left <= 0) return text
  const half = MOST_CHARS / 2
  const tail = text.slice(-half)
  // A part of a line is marked as one: its first character is no sign of a diff.
  const isPart = text.at(-half - 1) !== '\n'
  return `${text.slice(0, half)}\n… ${left} characters in between are not shown …\n${isPart ? '…' : ''}${tail}`
}
