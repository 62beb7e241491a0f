import { NOT_WHOLE, showEnds } from './show-ends.ts'

/**
 * What to show of a change for which no diff is made, and why: the lines from the first that changes to the last one,
 * or both ends of them.
 */
export function changedLines(before: string, after: string, why: string): string {
  const start = commonStart(before, after)
  const end = commonEnd(before.slice(start), after.slice(start))
  const removed = before.slice(start, before.length - end)
  const added = after.slice(start, after.length - end)
  const shown = [prefixed('-', showEnds(removed)), prefixed('+', showEnds(added))]
  const isWhole = [removed, added].every((text) => showEnds(text) === text)
  return [`${isWhole ? 'Not compared: ' : NOT_WHOLE}${why}`, ...shown].filter((text) => text !== '').join('\n')
}

function prefixed(sign: string, text: string): string {
  if (text === '') return ''
  // By line breaks only: a lone carriage return stands within a line, and is shown there.
  const lines = text.replace(/\n$/, '').split('\n')
  return lines.map((line) => sign + line).join('\n')
}

/** Both up to the end of the last line that they have in common at the start. */
function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let index = 0
  while (index < most && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return index === 0 ? 0 : a.lastIndexOf('\n', index - 1) + 1
}

/** How many characters of whole lines they end with alike. */
function commonEnd(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a.charCodeAt(a.length - 1 - count) === b.charCodeAt(b.length - 1 - count)) count++
  if (isLineStart(a, a.length - count) && isLineStart(b, b.length - count)) return count
  const line = a.indexOf('\n', a.length - count)
  return line === -1 ? 0 : a.length - line - 1
}

function isLineStart(text: string, index: number): boolean {
  return index === 0 || text[index - 1] === '\n'
}
