// Judges generated lines and really runs every allowed one: a line that ran more than the rules allow is a wrong allow.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { problemsOf } from './check-run.mjs'
import { generateLine } from './generate-line.mjs'
import { createRandom } from './random.mjs'
import { runInStubSandbox } from './stub-sandbox.mjs'

const CASES = path.join(import.meta.dirname, '../../test/attacks')
const LINES_A_JAIL = 150
const JAILS_AT_ONCE = 2
/** Whether a program fails matters to these only. */
const ASKS_HOW_IT_ENDED = /\|\||&&|!|\b(if|while|until|elif)\b/

/**
 * `judge` answers { verdict, commands }: allow, ask or deny, and the words of every command that it has read, where
 * undefined stands for words that are known only at run time; without them only what ran is checked. `known` are lines to start from (default: those of the attack cases); `most` is
 * how many wrong allows are enough to stop.
 */
export async function runFuzz({ lines: count, seed, judge, known = knownLines(), most = 20, onProgress = () => {} }) {
  const random = createRandom(seed)
  const verdicts = { allow: 0, ask: 0, deny: 0 }
  const wrong = []
  let ran = 0
  let programs = 0
  for (let done = 0; done < count && wrong.length < most; ) {
    const allowed = []
    for (; done < count && allowed.length < LINES_A_JAIL * JAILS_AT_ONCE; done += 1) {
      const line = generateLine(random, known)
      const { verdict, commands } = judge(line)
      verdicts[verdict] += 1
      if (verdict === 'allow') allowed.push({ line, commands })
    }
    const half = Math.ceil(allowed.length / JAILS_AT_ONCE)
    const batches = Array.from({ length: JAILS_AT_ONCE }, (_, index) => allowed.slice(index * half, (index + 1) * half))
    for (const report of await Promise.all(batches.map((batch) => runAllowed(batch, most)))) {
      wrong.push(...report.wrong)
      ran += report.ran
      programs += report.programs
    }
    onProgress({ done, wrong: wrong.length })
  }
  return { seed, verdicts, ran, programs, wrong }
}

/** Runs allowed lines, as { line, commands }, together; where something was wrong, those it may be are run again, each alone. */
export async function runAllowed(lines, most = 20) {
  const wrong = lines
    .filter(({ line }) => line.includes('\0'))
    .map(({ line }) => ({ line, problems: ['it holds a NUL'] }))
  const turns = lines.filter(({ line }) => !line.includes('\0')).flatMap(turnsOf)
  if (turns.length === 0) return { wrong, ran: 0, programs: 0 }
  const { runs, strays, changes, end } = await runInStubSandbox(turns)
  const isAny = strays.length > 0 || changes.length > 0 || end.code !== 0 || runs.some(({ hasEnded }) => !hasEnded)
  const suspects = new Map(
    turns.filter((turn, index) => isAny || problemsOf(runs[index], turn).length > 0).map((turn) => [turn.line, turn]),
  )
  const found = []
  for (const turn of suspects.values()) {
    const problems = await problemsAlone(turn)
    if (problems.length > 0) found.push({ line: turn.line, problems })
    if (found.length >= most) break
  }
  if (suspects.size > 0 && found.length === 0) {
    const together = [...changes, ...problemsOf({ programs: strays, said: '' }, { line: '' }), JSON.stringify(end)]
    found.push({ line: [...suspects.keys()].join('\n---\n'), problems: ['only when run together', ...together] })
  }
  return {
    wrong: [...wrong, ...found],
    ran: runs.length,
    programs: runs.reduce((sum, run) => sum + run.programs.length, 0),
  }
}

async function problemsAlone(allowed) {
  const turns = turnsOf(allowed)
  const { runs, strays, changes, end } = await runInStubSandbox(turns)
  return [
    ...runs.flatMap((run) => problemsOf(run, allowed)),
    ...strays.map(({ program, words }) => `it hid ${[program, ...words].join(' ')}`),
    ...changes.map((change) => `a file: ${change}`),
    ...(end.code === 0 ? [] : [`the sandbox ended with ${JSON.stringify(end)}`]),
  ]
}

function turnsOf({ line, commands }) {
  const turns = [{ line, commands, fail: false }]
  return ASKS_HOW_IT_ENDED.test(line) ? [...turns, { line, commands, fail: true }] : turns
}

function knownLines() {
  return ['shell.jsonl', 'more/shell.jsonl'].flatMap((file) =>
    readFileSync(path.join(CASES, file), 'utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line).cmd)
      .filter((line) => line.length < 1_000),
  )
}
