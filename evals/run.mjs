// Measures the policy on public benchmarks: node evals/run.mjs --suites DIR [--json] [--policy NAME]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runSuite } from './agentdojo.mjs'
import { POLICIES } from './policies.mjs'

const { values: flags } = parseArgs({
  options: { suites: { type: 'string' }, json: { type: 'boolean' }, policy: { type: 'string', multiple: true } },
})
if (flags.suites === undefined) throw new Error('Give the folder of the suites: npm run evals -- --suites DIR')
const file = join(flags.suites, 'agentdojo', 'traces.json')
const suites = JSON.parse(readFileSync(file, 'utf8'))
const report = {}
for (const policy of flags.policy ?? Object.keys(POLICIES)) {
  report[policy] = Object.fromEntries(
    await Promise.all(
      Object.entries(suites).map(async ([name, suite]) => [name, await runSuite(file, name, suite, policy)]),
    ),
  )
  const all = Object.values(report[policy])
  const tasks = all.flatMap(({ benign }) => benign)
  const pairs = all.reduce((sum, { attacks }) => sum + attacks.pairs, 0)
  const approvals = tasks.reduce((sum, { asked }) => sum + asked.length, 0)
  console.log(policy, {
    tasks: tasks.length,
    free: tasks.filter(({ asked }) => asked.length === 0).length,
    perTask: approvals / tasks.length,
    pairs,
  })
  for (const variant of Object.keys(all[0].attacks.opened)) {
    const opened = all.flatMap(({ attacks }) => attacks.opened[variant])
    console.log('  ', variant, opened.length, opened.slice(0, 3).join('; '))
  }
}
