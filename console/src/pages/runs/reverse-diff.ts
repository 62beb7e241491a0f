const HUNK = /^@@ -(\d+(?:,\d+)?) \+(\d+(?:,\d+)?) @@(.*)$/

/**
 * A unified diff the other way round. The service tells what undoing would change, from what a call left to what was
 * before; people want to see what the call did.
 */
export function reverseDiff(diff: string): string {
  const reversed: string[] = []
  // In a change the lines that go stand before those that come.
  let gone: string[] = []
  let come: string[] = []
  let isInside = false
  const flush = () => {
    reversed.push(...gone, ...come)
    gone = []
    come = []
  }
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line)
    if (hunk) {
      flush()
      isInside = true
      reversed.push(`@@ -${hunk[2]} +${hunk[1]} @@${hunk[3]}`)
    } else if (isInside && line.startsWith('-')) {
      come.push(`+${line.slice(1)}`)
    } else if (isInside && line.startsWith('+')) {
      gone.push(`-${line.slice(1)}`)
    } else if (isInside && line.startsWith('\\')) {
      // “No newline at end of file” belongs to the line before it: what is read has `-`, which comes, before `+`, which goes.
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
