// Runs shell.jsonl: every line is judged under the policy of the corpus, or under the one that it names.

import { compilePolicy } from '../../packages/policy/src/compile-policy.ts'
import { decide } from '../../packages/policy/src/decide/decide.ts'
import { loadSecondParser } from '../../packages/runtime/src/hub/second-parser.ts'
import { readCommandLine } from '../../packages/shell/src/reader/read-command-line.ts'
import { scoreCase } from './score.mjs'
import { createShellJudge } from './shell-judge.mjs'
import { SHELL_POLICIES } from './shell-policies.mjs'

const PARTS = { compilePolicy, decide, readCommandLine, loadSecondParser }

/** The scores of all cases. */
export async function runShell(attacks) {
  const judges = new Map()
  for (const [name, policy] of Object.entries(SHELL_POLICIES)) judges.set(name, await createShellJudge(PARTS, policy))
  return attacks.map((attack) => {
    const judge = judges.get(attack.policy ?? 'corpus')
    if (!judge) throw new Error(`${attack.id}: no policy ${attack.policy}`)
    return scoreCase(attack, ask(judge, attack.cmd))
  })
}

function ask(judge, command) {
  try {
    const { verdict, rule, reason } = judge(command)
    return { verdict, code: `${JSON.stringify(command.slice(0, 200))}, ${rule}`, message: reason, effects: [] }
  } catch (error) {
    return { verdict: 'deny', message: String(error), problem: `the judge failed: ${error}`, effects: [] }
  }
}
