import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'
import { runToEnd } from './run-to-end.mjs'

const HOME = join(import.meta.dirname, '..')
const SUITE = join(HOME, 'node_modules/@modelcontextprotocol/conformance')
const TIMEOUT_MS = 60_000
const STAMP = /-\d{4}-\d\d-\d\dT[\d-]+Z$/

/** Runs what a revision requires of one side. Returns the outcome of each scenario. `how`: the arguments for the side. */
export async function runSuite({ side, revision, how, env, folder }) {
  const output = join(folder, `${side}-${revision}`)
  const args = [side, ...how, '--requirements', revision, '--timeout', String(TIMEOUT_MS), '--output-dir', output]
  const { said } = await runToEnd([join(SUITE, 'dist/index.js'), ...args], { cwd: HOME, env })
  const checks = await readChecks(output, side === 'server' ? 'server-' : '')
  const { required, notScored } = await readRequirements(revision, side)
  const outcomeOf = (isRequired) => (scenario) => ({
    area: `${side} ${revision}`,
    name: scenario,
    isRequired,
    ...judge(checks.get(scenario), said),
  })
  return [...required.map(outcomeOf(true)), ...notScored.map(outcomeOf(false))]
}

/** A scenario in which nothing was found right has shown nothing. */
function judge(checks, said) {
  if (!checks) return { failures: [`did not run: ${said.slice(-300)}`], warnings: [] }
  const of = (status) => checks.filter((check) => check.status === status)
  const failures = of('FAILURE').map(describe)
  const warnings = of('WARNING').map(describe)
  const isEmpty = failures.length + warnings.length + of('SUCCESS').length === 0
  return { failures: isEmpty ? ['nothing was checked'] : failures, warnings }
}

function describe({ id, errorMessage, description, details }) {
  const more = id === 'wire-schema-valid' ? ` ${JSON.stringify(details).slice(0, 500)}` : ''
  return `${id}: ${errorMessage ?? description}${more}`
}

/** By scenario: the suite makes a folder for each, named after it and the time. */
async function readChecks(output, prefix) {
  // The folder does not exist if nothing ran at all.
  const files = await readdir(output, { recursive: true }).catch(() => [])
  const found = files.filter((file) => file.endsWith('checks.json'))
  const read = async (file) => {
    const scenario = dirname(file).replace(STAMP, '').slice(prefix.length)
    return [scenario, JSON.parse(await readFile(join(output, file), 'utf8'))]
  }
  return new Map(await Promise.all(found.map(read)))
}

async function readRequirements(revision, side) {
  const { [side]: required, not_scored: all = [] } = parse(
    await readFile(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'),
  )
  return { required, notScored: all.filter(({ leg }) => leg === side).map(({ scenario }) => scenario) }
}
