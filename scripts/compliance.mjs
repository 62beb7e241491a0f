// npm run compliance -- --suites DIR [--json]: runs public suites (JMESPath, JSONPath RFC 9535, Mustache) through the hub's own tools.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { createToolHub } from '../packages/tool-hub/dist/index.js'

const { values: options } = parseArgs({
  options: { suites: { type: 'string' }, json: { type: 'boolean', default: false } },
})
if (!options.suites) {
  console.error('Say where the suites are: npm run compliance -- --suites DIR')
  process.exit(2)
}

const known = new Map(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'compliance-known.json'), 'utf8')).map(({ name, reason }) => [
    name,
    reason,
  ]),
)
const hub = createToolHub({ runs: false })
const reports = []
for (const [suite, cases] of [
  ['JMESPath', jmespathCases()],
  ['JSONPath', jsonpathCases()],
  ['Mustache', mustacheCases()],
]) {
  reports.push(await runSuite(suite, cases))
}
await hub.close()

print(reports)
process.exitCode = reports.every(({ failures }) => failures.every(({ reason }) => reason)) ? 0 : 1

/** A case has a name, a call, and says of the result whether it is right. */
async function runSuite(suite, cases) {
  const failures = []
  for (const { name, tool, input, isRight } of cases) {
    const result = await hub.call(tool, input)
    if (isRight(result)) continue
    const got = result.ok ? result.data : `${result.error.code}: ${result.error.message}`
    failures.push({ name, got, reason: known.get(name) })
  }
  return { suite, passed: cases.length - failures.length, failed: failures.length, failures }
}

/** Cases of benchmarks.json have neither a result nor an error: nothing to compare. */
function jmespathCases() {
  return filesOf('jmespath').flatMap(([file, groups]) =>
    groups.flatMap(({ given, cases }, group) =>
      cases
        .filter((test) => 'result' in test || 'error' in test)
        .map((test, index) => ({
          name: `jmespath/${file} ${group}.${index} ${test.expression}`,
          ...selection(given, test.expression, 'error' in test ? undefined : [test.result]),
        })),
    ),
  )
}

function jsonpathCases() {
  return filesOf('jsonpath').flatMap(([file, { tests }]) =>
    tests.map((test) => ({
      name: `jsonpath/${file} ${test.name}`,
      ...selection(
        test.document ?? null,
        test.selector,
        test.invalid_selector ? undefined : (test.results ?? [test.result]),
      ),
    })),
  )
}

/** Sections whose file begins with ~ are optional. */
function mustacheCases() {
  const core = filesOf('mustache').filter(([file]) => !file.startsWith('~'))
  return core.flatMap(([file, { tests }]) =>
    tests.map(({ name, template, data, partials = {}, expected }) => ({
      name: `mustache/${file} ${name}`,
      tool: 'core/util.template.render',
      input: { template, data, partials },
      isRight: (result) => result.ok && result.data.text === expected,
    })),
  )
}

/** A call of json.select and the values that are right; none: the path has to be refused. */
function selection(json, expression, wanted) {
  return {
    tool: 'core/util.json.select',
    input: { json, path: expression },
    isRight: (result) =>
      wanted
        ? result.ok && wanted.some((value) => isDeepStrictEqual(result.data.value, value))
        : result.error?.code === 'INPUT_SCHEMA_INVALID',
  }
}

function filesOf(suite) {
  const folder = path.join(options.suites, suite)
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  return files.map((file) => [file, JSON.parse(readFileSync(path.join(folder, file), 'utf8'))])
}

function print(reports) {
  if (options.json) {
    console.log(JSON.stringify(reports, undefined, 2))
    return
  }
  console.log('suite     passed  failed')
  for (const { suite, passed, failed } of reports) {
    console.log(`${suite.padEnd(10)}${String(passed).padStart(6)}${String(failed).padStart(8)}`)
  }
  for (const { name, got, reason } of reports.flatMap(({ failures }) => failures)) {
    console.log(`\n${reason ? `known (${reason})` : 'FAILED'}: ${name}\n  got ${JSON.stringify(got)}`)
  }
}
