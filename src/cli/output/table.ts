import { revealLine } from '../../lib/index.ts'
import { fitLine, widthOf } from './fit-line.ts'

/** Rows as aligned columns; on a terminal each row keeps to one line. */
export function table(rows: readonly (readonly string[])[]): string {
  const safe = rows.map((row) => row.map(revealLine))
  const widths = (safe[0] ?? []).map((_, column) => Math.max(...safe.map((row) => widthOf(row[column]!))))
  return safe
    .map((row) => row.map((cell, column) => cell + ' '.repeat(widths[column]! - widthOf(cell))).join('  '))
    .map((line) => fitLine(line.trimEnd()))
    .join('\n')
}
