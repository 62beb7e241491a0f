// Measures tool-hub beside its peers: a table on stdout, everything in results.json.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { writeFigures } from './lib/docs.mjs'
import { describeMachine } from './lib/machine.mjs'
import { renderTable } from './lib/table.mjs'
import { ROWS } from './rows/index.mjs'

const ROUNDS = 15
const QUICK_ROUNDS = 5
const USAGE = `npm run bench -- [--only <row>]… [--rounds <n>] [--quick] [--strict] [--docs]
rows: ${ROWS.map(({ name }) => name).join(', ')}`

const flags = readFlags()
const rows = []
for (const row of ROWS.filter(({ name }) => flags.only.length === 0 || flags.only.includes(name))) {
  process.stderr.write(`measuring ${row.name} …\n`)
  rows.push({ ...row, ...(await runRow(row)) })
}

const report = { date: new Date().toISOString(), machine: describeMachine(), rows }
await writeFile(new URL('results.json', import.meta.url), `${JSON.stringify(report, null, 2)}\n`)
if (flags.docs) await writeFigures({ ...report, rounds: flags.rounds })

const { node, platform, cpu, cores, memoryGb } = report.machine
console.log(`${report.date}  node ${node}, ${platform}, ${cores} x ${cpu}, ${memoryGb} GB\n`)
console.log(renderTable(rows))

const missed = rows.flatMap(({ title, figures = [] }) =>
  figures.filter(({ met }) => met === false).map(({ label }) => `${title}: ${label}`),
)
const failed = rows.filter(({ error }) => error !== undefined).map(({ title }) => `${title}: failed`)
const unmet = [...missed, ...failed]
console.log(unmet.length === 0 ? '\nAll goals are met.' : `\nNot met:\n  ${unmet.join('\n  ')}`)
if (flags.strict && unmet.length > 0) process.exitCode = 1

/** A row that breaks does not take the others' figures with it. */
async function runRow({ name, rounds: mostRounds }) {
  const rounds = Math.min(flags.rounds, mostRounds ?? flags.rounds)
  const child = fork(fileURLToPath(new URL('run-row.mjs', import.meta.url)), [name, String(rounds)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let figures
  let complaint = ''
  child.on('message', (message) => {
    figures = message
  })
  child.stderr.on('data', (chunk) => {
    complaint += chunk
  })
  const [code] = await once(child, 'close')
  if (code === 0 && figures) return { figures }
  process.stderr.write(complaint)
  return { error: /^\w*Error.*$/m.exec(complaint)?.[0] ?? `the process ended with ${code}` }
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        docs: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) quit(0)
    const rounds = Number(values.rounds ?? (values.quick ? QUICK_ROUNDS : ROUNDS))
    if (!Number.isInteger(rounds) || rounds < 1)
      throw new Error(`--rounds must be a whole number from 1, got ${values.rounds}`)
    const unknown = values.only.find((name) => !ROWS.some((row) => row.name === name))
    if (unknown !== undefined) throw new Error(`unknown row ${unknown}`)
    if (values.docs && values.only.length > 0) throw new Error('--docs needs all rows: leave out --only')
    return { ...values, rounds }
  } catch (error) {
    quit(2, error.message)
  }
}

function quit(code, message = '') {
  console.error(message ? `${message}\n\n${USAGE}` : USAGE)
  process.exit(code)
}
