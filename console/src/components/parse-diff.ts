/** A line of a diff; `before` and `after` are its numbers in the two files, where they are known. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk' | 'note'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/**
 * Reads a unified diff into lines with their numbers, or a text with a sign before each line, as the service shows what
 * it does not compare. No line is left out but the two headers directly before the first hunk.
 */
export function parseDiff(diff: string): DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n')
  const firstHunk = lines.findIndex((line) => HUNK.test(line))
  if (firstHunk === -1) {
    const [first = '', ...rest] = lines
    return [{ kind: 'note', text: first }, ...rest.map(readSign)]
  }
  const hasHeaders = firstHunk === 2 && lines[0]?.startsWith('--- ') && lines[1]?.startsWith('+++ ')
  const notes = hasHeaders ? [] : lines.slice(0, firstHunk).map((text): DiffLine => ({ kind: 'note', text }))
  return [...notes, ...numberLines(lines.slice(firstHunk))]
}

/** The lines from the first hunk on. */
function numberLines(lines: readonly string[]): DiffLine[] {
  let numbers: { before: number; after: number } | undefined
  return lines.map((line) => {
    const hunk = HUNK.exec(line)
    if (hunk) {
      numbers = { before: Number(hunk[1]), after: Number(hunk[2]) }
      return { kind: 'hunk', text: line }
    }
    const read = readSign(line)
    // Where something was cut out, the numbers of what follows are not known.
    if (read.kind === 'note' && !line.startsWith('\\')) numbers = undefined
    if (!numbers || read.kind === 'note') return read
    return {
      ...read,
      ...(read.kind !== 'added' && { before: numbers.before++ }),
      ...(read.kind !== 'removed' && { after: numbers.after++ }),
    }
  })
}

function readSign(line: string): DiffLine {
  if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) }
  if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) }
  if (line.startsWith('\\ ')) return { kind: 'note', text: line.slice(2) }
  if (line === '' || line.startsWith(' ')) return { kind: 'same', text: line.slice(1) }
  return { kind: 'note', text: line }
}
