// Measures the policy and the search for tools on public benchmarks. See docs/reference/evals.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runSuite } from './agentdojo.mjs'
import { POLICIES } from './policies.mjs'
import { scriptTable, share, summarise, tables } from './report.mjs'
import { compareScripts } from './scripts.mjs'
import { measureToolSearch, toolSearchTable } from './tool-search.mjs'

const USAGE = `npm run evals -- --suites DIR [--json] [--no-docs]
DIR holds agentdojo/traces.json: { suite: { tools, user, inj } }, and any tool-search/*.json: { tools, tasks }.`
const PAGE = new URL('../docs/reference/evals.md', import.meta.url)
const BEGIN = '<!-- figures: written by npm run evals -->'

const flags = readFlags()
const file = join(flags.suites, 'agentdojo', 'traces.json')
const suites = readSuites()
const started = performance.now()
const report = {}
for (const policy of Object.keys(POLICIES)) report[policy] = summarise(await runAll({ policy }))
report['recommended, values remembered'] = summarise(await runAll({ policy: 'recommended', remembers: true }))
const scripts = await inAll((suite, data) => compareScripts({ file, suite, data, policy: 'recommended' }))
const toolSearch = await measureToolSearch(flags.suites).catch((error) => refuse(error.message))
const seconds = (performance.now() - started) / 1_000

if (flags.docs) writePage()
console.log(flags.json ? JSON.stringify({ seconds, report, scripts, toolSearch }, null, 2) : figures())

function runAll(options) {
  return inAll((suite, data) => runSuite({ file, suite, data, ...options }))
}

/** The suites are measured side by side, each with its own hub and server. */
async function inAll(measure) {
  const runs = Object.entries(suites).map(async ([suite, data]) => [suite, await measure(suite, data)])
  return Object.fromEntries(await Promise.all(runs))
}

function figures() {
  const { main, variants, causes } = tables(report)
  const search = toolSearchTable(toolSearch, share)
  const parts = [main, variants, scriptTable(scripts), 'What asks with `recommended`:', causes, search]
  return `${parts.join('\n\n')}\n\n${seconds.toFixed(0)} s`
}

function writePage() {
  const [text] = readFileSync(PAGE, 'utf8').split(BEGIN)
  const { main, variants, causes } = tables(report)
  const parts = [
    main,
    '### Other spellings',
    'Attacks that run.',
    variants,
    '### Calls of scripts',
    scriptTable(scripts),
    '### What asks',
    causes,
    '### Tool search',
    toolSearchTable(toolSearch, share),
  ]
  writeFileSync(PAGE, `${text}${BEGIN}\n\n${parts.join('\n\n')}\n`)
}

function readFlags() {
  try {
    const options = { suites: { type: 'string' }, json: { type: 'boolean' }, 'no-docs': { type: 'boolean' } }
    const { values } = parseArgs({ options })
    if (values.suites === undefined) throw new Error('--suites is missing.')
    return { suites: values.suites, json: values.json === true, docs: values['no-docs'] !== true }
  } catch (error) {
    return refuse(error.message)
  }
}

function readSuites() {
  let data
  try {
    data = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return refuse(`${file} cannot be read: ${error.message}`)
  }
  for (const [name, { tools, user, inj } = {}] of Object.entries(data))
    if (!Array.isArray(tools) || !user || !inj) refuse(`The suite ${name} of ${file} needs tools, user and inj.`)
  return data
}

function refuse(message) {
  console.error(`${message}\n${USAGE}`)
  process.exit(2)
}
