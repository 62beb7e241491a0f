/** The figures of all rows as text: the median, the quartiles around it, the goal and whether it is met. */
export function renderTable(rows) {
  const lines = rows.flatMap(({ title, figures, error }) => [
    [title],
    ...(error === undefined ? figures.map(cells) : [[`  failed: ${error}`]]),
  ])
  const withCells = lines.filter((line) => line.length > 1)
  const widths = HEAD.map((_, column) => Math.max(...[HEAD, ...withCells].map((line) => line[column].length)))
  return [HEAD, ...lines].map((line) => renderLine(line, widths)).join('\n')
}

const HEAD = ['figure', 'median', 'quartiles', 'goal', '']

/** The cells of one figure: label, median, quartiles, goal, and whether it is met. */
export function cells({ label, unit, median, low, high, rounds, goal, met }) {
  const spread = rounds > 1 ? `${number(low)} to ${number(high)}` : ''
  const judgement = goal === undefined ? ['', ''] : [`<= ${number(goal)}`, met ? 'met' : 'MISSED']
  return [`  ${label}`, `${number(median)} ${unit}`, spread, ...judgement]
}

function renderLine(line, widths) {
  if (line.length === 1) return line[0]
  const [label, ...rest] = line
  return [label.padEnd(widths[0]), ...rest.map((cell, index) => cell.padStart(widths[index + 1]))].join('  ').trimEnd()
}

/** Three digits that matter, never an exponent. */
function number(value) {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3
  return value.toLocaleString('en-US', { maximumFractionDigits: digits })
}
