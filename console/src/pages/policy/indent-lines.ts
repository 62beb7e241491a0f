/** A part of a text to replace, and what is selected afterwards. */
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly select: readonly [start: number, end: number]
}

const STEP = '  '

/** Moves the selected lines a step in or out; without a selection, inwards means a step at the cursor. */
export function indentLines(text: string, start: number, end: number, direction: 'in' | 'out'): TextEdit {
  if (direction === 'in' && start === end) {
    const after = start + STEP.length
    return { from: start, to: end, text: STEP, select: [after, after] }
  }
  const from = text.lastIndexOf('\n', start - 1) + 1
  // A selection that ends at the beginning of a line does not mean that line.
  const last = end > start && text[end - 1] === '\n' ? end - 1 : end
  const newline = text.indexOf('\n', last)
  const to = newline === -1 ? text.length : newline
  const lines = text.slice(from, to).split('\n')
  const moved = lines.map((line) => (direction === 'in' ? `${STEP}${line}` : line.replace(/^ {1,2}/, '')))
  const joined = moved.join('\n')
  const firstBy = (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0)
  return {
    from,
    to,
    text: joined,
    select: [Math.max(from, start + firstBy), Math.max(from, end + joined.length - (to - from))],
  }
}

/** A new line that begins where the one before does. */
export function newLineIndent(text: string, at: number): TextEdit {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const added = `\n${/^ */.exec(line)?.[0] ?? ''}`
  return { from: at, to: at, text: added, select: [at + added.length, at + added.length] }
}

/** From where to where a line goes, counted from 1. */
export function rangeOfLine(text: string, line: number): [start: number, end: number] {
  const lines = text.split('\n')
  const index = Math.max(0, Math.min(lines.length, line) - 1)
  const start = lines.slice(0, index).reduce((sum, each) => sum + each.length + 1, 0)
  return [start, start + (lines[index]?.length ?? 0)]
}
