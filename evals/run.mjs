// Measures the policy and the search for tools on public benchmarks. See docs/reference/evals.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runSuite } from './agentdojo.mjs'
import { POLICIES, SETTINGS } from './policies.mjs'
import { readBenchmarks } from './read-suites.mjs'
import { scriptTable, share, summarise, tables, wordChecks } from './report.mjs'
import { compareScripts } from './scripts.mjs'
import { measureToolSearch, toolSearchTable } from './tool-search.mjs'
import { RECORDED } from './variants.mjs'

const USAGE = `npm run evals -- --suites DIR [--suites DIR] [--policy NAME] [--json] [--no-docs]
DIR holds */traces.json: { suite: { tools, user, inj } }, and any tool-search/*.json: { tools, tasks }.
With --policy, only that policy is measured, without scripts, tool search and docs.`
const PAGE = new URL('../docs/reference/evals.md', import.meta.url)
const BEGIN = '<!-- figures: written by npm run evals -->'

const flags = readFlags()
const benchmarks = orRefuse(() => readBenchmarks(flags.suites))
const started = performance.now()
const report = {}
for (const [policy, options] of Object.entries(measured())) report[policy] = await runAll(options)
const isWhole = flags.policies === undefined
const scripts = isWhole ? await inAll((each) => compareScripts({ ...each, setting: POLICIES.recommended })) : {}
const toolSearch = isWhole ? await searchAll() : {}
const seconds = (performance.now() - started) / 1_000

if (flags.docs && isWhole) writePage()
console.log(flags.json ? JSON.stringify({ seconds, report, scripts, toolSearch }, null, 2) : figures())

/** What is measured under which name: all policies in full, other settings with the attacks as recorded. */
function measured() {
  const settings = Object.entries(SETTINGS).map(([name, setting]) => [name, { setting, spellings: RECORDED }])
  const all = {
    ...Object.fromEntries(Object.entries(POLICIES).map(([name, setting]) => [name, { setting }])),
    'recommended, values remembered': { setting: POLICIES.recommended, remembers: true },
    ...Object.fromEntries(settings),
  }
  const names = flags.policies ?? Object.keys(all)
  const unknown = names.find((name) => !Object.hasOwn(all, name))
  if (unknown !== undefined) refuse(`Unknown policy ${unknown}: use ${Object.keys(all).join('; ')}.`)
  return Object.fromEntries(names.map((name) => [name, all[name]]))
}

async function searchAll() {
  const found = {}
  for (const folder of flags.suites)
    Object.assign(found, await measureToolSearch(folder).catch((error) => refuse(error.message)))
  return found
}

async function runAll(options) {
  const results = await inAll((each) => runSuite({ ...each, ...options }))
  return summarise(benchmarks, results)
}

/** The suites are measured side by side, each with its own hub and server. */
async function inAll(measure) {
  const suites = benchmarks.flatMap(({ file, suites }) =>
    Object.entries(suites).map(([suite, data]) => ({ file, suite, data })),
  )
  return Object.fromEntries(await Promise.all(suites.map(async (each) => [each.suite, await measure(each)])))
}

function figures() {
  return `${sections().join('\n\n')}\n\n${seconds.toFixed(0)} s`
}

function writePage() {
  const [text] = readFileSync(PAGE, 'utf8').split(BEGIN)
  writeFileSync(PAGE, `${text}${BEGIN}\n\n${sections().join('\n\n')}\n`)
}

function sections() {
  const { main, variants, words, effects, causes } = tables(report)
  const ownWords = [
    "### The user's own words",
    'Tasks in which at least one call with an effect runs unasked.',
    words,
    wordChecks(report),
    'With `recommended`, these tools have such an effect:',
    effects,
  ]
  const spellings = ['### Other spellings', 'Attacks that run.', variants]
  const parts = [main, ...ownWords, ...spellings, '### What asks', 'With `recommended`:', causes]
  if (!isWhole) return parts
  const search = ['### Tool search', toolSearchTable(toolSearch, share)]
  return [...parts, '### Calls of scripts', scriptTable(scripts), ...search]
}

function readFlags() {
  const options = {
    suites: { type: 'string', multiple: true },
    policy: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    'no-docs': { type: 'boolean' },
  }
  const { values } = orRefuse(() => parseArgs({ options }))
  if (values.suites === undefined) refuse('--suites is missing.')
  return {
    suites: values.suites,
    policies: values.policy,
    json: values.json === true,
    docs: values['no-docs'] !== true,
  }
}

function orRefuse(read) {
  try {
    return read()
  } catch (error) {
    return refuse(error.message)
  }
}

function refuse(message) {
  console.error(`${message}\n${USAGE}`)
  process.exit(2)
}
