/** A line of a diff; `before` and `after` are its line numbers in the two files, if known. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'hunk' | 'note'
  readonly text: string
  readonly before?: number
  readonly after?: number
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/**
 * Reads a unified diff into lines with their numbers, or a text with a sign before each line, as the service shows what
 * it does not compare. Every line is kept, except for the two headers directly before the first hunk.
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

/** Numbers the lines, starting at the first hunk. */
function numberLines(lines: readonly string[]): DiffLine[] {
  let numbers: { before: number; after: number } | undefined
  return lines.map((line) => {
    const hunk = HUNK.exec(line)
    if (hunk) {
      numbers = { before: Number(hunk[1]), after: Number(hunk[2]) }
      return { kind: 'hunk', text: line }
    }
    const read = readSign(line)
    // After lines that were left out, the line numbers are unknown.
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

const HUNK_PARTS = /^@@ -(\d+(?:,\d+)?) \+(\d+(?:,\d+)?) @@(.*)$/

/**
 * Reverses a unified diff. The service returns what undoing would change, from the state after the call to the state
 * before it; the page shows what the call did.
 */
export function reverseDiff(diff: string): string {
  const reversed: string[] = []
  // In a diff, removed lines come before added ones.
  let gone: string[] = []
  let come: string[] = []
  let isInside = false
  const flush = () => {
    reversed.push(...gone, ...come)
    gone = []
    come = []
  }
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK_PARTS.exec(line)
    if (hunk) {
      flush()
      isInside = true
      reversed.push(`@@ -${hunk[2]} +${hunk[1]} @@${hunk[3]}`)
    } else if (isInside && line.startsWith('-')) {
      come.push(`+${line.slice(1)}`)
    } else if (isInside && line.startsWith('+')) {
      gone.push(`-${line.slice(1)}`)
    } else if (isInside && line.startsWith('\\')) {
      // “No newline at end of file” belongs to the line before it. The input has the lines that become `+` first.
      const before = [gone, come].find((lines) => lines.length > 0) ?? reversed
      before.push(line)
    } else if (isInside) {
      flush()
      reversed.push(line.startsWith('…') ? `\\ ${line}` : line)
    }
  }
  flush()
  return reversed.join('\n')
}

type Step = readonly [sign: ' ' | '+' | '-', line: string]

const CONTEXT_LINES = 3
const MAX_CELLS = 4_000_000

/** The difference between two texts as a unified diff without file headers. */
export function diffText(before: string, after: string): string {
  const steps = compare(toLines(before), toLines(after))
  const isShown = steps.map((_, index) =>
    steps.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some(([sign]) => sign !== ' '),
  )
  const output: string[] = []
  let [old, fresh] = [1, 1]
  for (const [index, [sign, line]] of steps.entries()) {
    if (isShown[index] && !isShown[index - 1]) output.push(`@@ -${old} +${fresh} @@`)
    if (isShown[index]) output.push(sign + line)
    if (sign !== '+') old += 1
    if (sign !== '-') fresh += 1
  }
  return output.join('\n')
}

function toLines(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** Skips common lines at the start and the end, and keeps a longest common subsequence between them. */
function compare(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1
  const same = (line: string): Step => [' ', line]
  return [
    ...before.slice(0, start).map(same),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

function compareMiddle(before: readonly string[], after: readonly string[]): Step[] {
  const width = after.length + 1
  // Too large to compare: all lines are removed, then all are added.
  if (before.length * after.length > MAX_CELLS)
    return [...before.map((line): Step => ['-', line]), ...after.map((line): Step => ['+', line])]
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const steps: Step[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const old = before[i]
    const fresh = after[j]
    if (old !== undefined && old === fresh) {
      steps.push([' ', old])
      i += 1
      j += 1
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      steps.push(['-', old])
      i += 1
    } else if (fresh !== undefined) {
      steps.push(['+', fresh])
      j += 1
    }
  }
  return steps
}
