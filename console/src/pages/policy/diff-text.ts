type Step = readonly [sign: ' ' | '+' | '-', line: string]

const CONTEXT_LINES = 3
const MOST_CELLS = 4_000_000

/** What changes from one text to another, as a unified diff without file headers. */
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

/** The lines that both have at the beginning and the end cost nothing; between them, the longest common ones stay. */
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
  // Two texts that share nothing but their size: all of one, then all of the other.
  if (before.length * after.length > MOST_CELLS)
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
