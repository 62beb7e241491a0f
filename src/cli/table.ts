import { escapeLine } from './escape-text.ts'

/** Rows as aligned columns; on a terminal each row keeps to one line. */
export function table(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map(escapeLine))
  const widths = (safe[0] ?? []).map((_, column) => Math.max(...safe.map((row) => row[column]!.length)))
  return safe
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]!))).join('  '),
    )
    .map((line) => fitLine(line.trimEnd()))
    .join('\n')
}

function fitLine(line: string): string {
  const width = process.stdout.isTTY ? process.stdout.columns : undefined
  if (!width || line.length <= width) return line
  return `${line.slice(0, width - 1)}…`
}
