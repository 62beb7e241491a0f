// npm run attacks -- [--corpus DIR] [--race-calls N] [--json]: runs the attack cases through the public API; exit 1 on
// any escape.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { runPaths } from './attacks/paths.mjs'
import { summarize } from './attacks/score.mjs'
import { runShell } from './attacks/shell.mjs'
import { runSsrf } from './attacks/ssrf.mjs'
import { runValues } from './attacks/values.mjs'

const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string', default: 'test/attacks' },
    'race-calls': { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  },
})
const RUNNERS = {
  'ssrf.jsonl': runSsrf,
  'paths.jsonl': runPaths,
  'shell.jsonl': runShell,
  'values.jsonl': runValues,
}

const reports = []
for (const [file, run] of Object.entries(RUNNERS)) {
  const attacks = casesOf(path.join(options.corpus, file))
  if (!attacks) reports.push({ file, notRun: 'no such file' })
  else reports.push(summarize(file, await run(attacks, { raceCalls: Number(options['race-calls']) })))
}
if (reports.every(({ notRun }) => notRun)) {
  console.error(`There are no cases to run in ${options.corpus}.`)
  process.exit(2)
}

if (options.json) console.log(JSON.stringify(reports, undefined, 2))
else print(reports)
process.exitCode = reports.some(({ escapes }) => escapes > 0) ? 1 : 0

function casesOf(file) {
  if (!existsSync(file)) return undefined
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line))
}

function print(reports) {
  console.log('file          cases  escapes  over-strict  exact  over-strict of expected allow')
  for (const report of reports) {
    const { file, cases, escapes, overStrict, exact, overStrictOnAllow, expectedAllow, overStrictShare } = report
    if (report.notRun) {
      console.log(`${file.padEnd(12)}  not run: ${report.notRun}`)
      continue
    }
    const share = `${overStrictOnAllow} of ${expectedAllow} (${(overStrictShare * 100).toFixed(1)} %)`
    const columns = [String(cases).padStart(5), String(escapes).padStart(7), String(overStrict).padStart(11)]
    console.log(`${file.padEnd(12)}  ${columns.join('  ')}  ${String(exact).padStart(5)}  ${share}`)
  }
  for (const { file, classes, benignAsked } of reports.filter(
    ({ file, notRun }) => file === 'shell.jsonl' && !notRun,
  )) {
    console.log(`\n${file}: ${(benignAsked * 100).toFixed(1)} % of the benign lines are asked`)
    for (const [name, { cases, escapes, overStrict, exact }] of Object.entries(classes)) {
      const columns = [String(cases).padStart(5), String(escapes).padStart(7), String(overStrict).padStart(11)]
      console.log(`  ${name.padEnd(18)}  ${columns.join('  ')}  ${String(exact).padStart(5)}`)
    }
  }
  for (const { id, outcome, expected, got, why } of reports.flatMap(({ misses = [] }) => misses)) {
    console.log(`\n${outcome}: ${id}\n  expected ${expected}, got ${got}\n  ${why}`)
  }
}
