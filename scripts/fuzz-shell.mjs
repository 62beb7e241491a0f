// npm run fuzz:shell -- [--lines N] [--seed S] [--json]: judges made-up command lines and really runs every allowed one
// in a sandbox of stub programs; exit 1 when a line ran more than the rules allow.
import { parseArgs } from 'node:util'
import { compilePolicy } from '../packages/policy/src/compile-policy.ts'
import { decide } from '../packages/policy/src/decide/decide.ts'
import { loadSecondParser } from '../packages/runtime/src/hub/second-parser.ts'
import { readCommandLine } from '../packages/shell/src/reader/read-command-line.ts'
import { createShellJudge } from './attacks/shell-judge.mjs'
import { SHELL_POLICIES } from './attacks/shell-policies.mjs'
import { runFuzz } from './fuzz-shell/run-fuzz.mjs'

const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    json: { type: 'boolean', default: false },
  },
})
const [lines, seed] = [Number(options.lines), Number(options.seed)]
if (!Number.isSafeInteger(lines) || !Number.isSafeInteger(seed)) {
  console.error('--lines and --seed are whole numbers.')
  process.exit(2)
}
if (!options.json) console.log(`${lines} lines, seed ${seed}`)

const parts = { compilePolicy, decide, readCommandLine, loadSecondParser }
const judge = await createShellJudge(parts, SHELL_POLICIES.corpus)
const report = await runFuzz({ lines, seed, judge, onProgress: showProgress })

if (options.json) console.log(JSON.stringify(report, undefined, 2))
else print(report)
process.exitCode = report.wrong.length > 0 ? 1 : 0

function showProgress({ done, wrong }) {
  if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${lines}, ${wrong} wrong`)
}

function print({ verdicts, ran, programs, wrong }) {
  const { allow, ask, deny } = verdicts
  console.log(`allow ${allow}, ask ${ask}, deny ${deny}; ${ran} runs called ${programs} programs`)
  for (const { line, problems } of wrong) {
    console.log(`\nwrong allow (seed ${seed}): ${JSON.stringify(line)}\n  ${problems.slice(0, 8).join('\n  ')}`)
  }
  console.log(`${wrong.length} wrong allows`)
}
