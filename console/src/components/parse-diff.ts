/** A line of a unified diff; `before` and `after` are its numbers in the two files. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk' | 'note'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Reads a unified diff into lines with their numbers; headers of files are left out. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let before = 0
  let after = 0
  let isInside = false
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line)
    if (hunk) {
      before = Number(hunk[1])
      after = Number(hunk[2])
      isInside = true
      lines.push({ kind: 'hunk', text: line })
    } else if (!isInside) {
      if (!/^(---|\+\+\+|diff |index |new file|deleted file)/.test(line)) lines.push({ kind: 'note', text: line })
    } else if (line.startsWith('+')) {
      lines.push({ kind: 'added', text: line.slice(1), after: after++ })
    } else if (line.startsWith('-')) {
      lines.push({ kind: 'removed', text: line.slice(1), before: before++ })
    } else if (line.startsWith('\\')) {
      lines.push({ kind: 'note', text: line.slice(2) })
    } else {
      lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ })
    }
  }
  return lines
}
