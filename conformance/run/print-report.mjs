/** Prints the failures line by line, a table and the two totals. Returns whether everything that counts has passed. */
export function printReport(outcomes, { seconds }) {
  for (const outcome of outcomes) printProblems(outcome)
  printTable(outcomes)
  const counted = outcomes.filter(({ isRequired }) => isRequired)
  const failed = counted.filter(hasFailed).length
  console.log(`\nIn ${seconds.toFixed(0)} s.`)
  console.log(`${counted.length - failed} passed, ${failed} failed`)
  return failed === 0
}

function printProblems({ area, name, isRequired, failures, warnings }) {
  const print = (kind, problem) => console.log(`${kind}: ${area}, ${name}: ${problem.replaceAll(/\s+/g, ' ').trim()}`)
  if (isRequired) for (const failure of failures) print('FAILED', failure)
  else if (failures.length > 0) print('not scored', summarize(failures))
  if (warnings.length > 0) print('warning', summarize(warnings))
}

function summarize([first, ...others]) {
  return others.length > 0 ? `${first} (and ${others.length} more)` : first
}

function printTable(outcomes) {
  const areas = [...new Set(outcomes.map(({ area }) => area))]
  const rows = areas.map((area) => {
    const own = outcomes.filter((outcome) => outcome.area === area)
    const [required, others] = [own.filter(({ isRequired }) => isRequired), own.filter(({ isRequired }) => !isRequired)]
    const warnings = own.reduce((sum, outcome) => sum + outcome.warnings.length, 0)
    return [area, passedOf(required), passedOf(others), String(warnings)]
  })
  const table = [['', 'required', 'not scored', 'warnings'], ...rows]
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  console.log()
  for (const row of table)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
}

function passedOf(outcomes) {
  if (outcomes.length === 0) return '-'
  return `${outcomes.filter((outcome) => !hasFailed(outcome)).length} of ${outcomes.length}`
}

function hasFailed({ failures }) {
  return failures.length > 0
}
