import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isolatedCommand } from './isolation.mjs'

/** A mutant that makes a loop endless never ends by itself. */
const RUN_LIMIT_MS = 300_000

/** Runs test files of a copy until one fails: its name, `''` if the run fails as a whole, `undefined` if all pass. */
export async function runTests(copy, tests) {
  const report = join(copy, 't', 'report.json')
  rmSync(report, { force: true })
  const flags = ['run', '--bail=1', '--testTimeout=30000', '--reporter=json', `--outputFile=${report}`]
  const vitest = [process.execPath, 'node_modules/vitest/vitest.mjs', ...flags, ...tests]
  const { command, temporary } = isolatedCommand(copy, vitest)
  const child = spawn(command[0], command.slice(1), {
    cwd: copy,
    // A group of its own: workers in an endless loop end with it.
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, CI: '1', TMPDIR: temporary },
  })
  const killAll = () => process.kill(-child.pid, 'SIGKILL')
  const timer = setTimeout(killAll, RUN_LIMIT_MS)
  // Before the folder is removed.
  process.prependOnceListener('exit', killAll)
  const [code, signal] = await new Promise((resolve) => child.once('exit', (...end) => resolve(end)))
  process.off('exit', killAll)
  clearTimeout(timer)
  if (signal !== null) return 'no end'
  if (code === 0) return undefined
  return failedIn(report, copy)
}

function failedIn(report, copy) {
  if (!existsSync(report)) return ''
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const failed = testResults.find(({ status }) => status === 'failed')
  return failed === undefined ? '' : failed.name.slice(copy.length + 1)
}
