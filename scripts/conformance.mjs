// Builds the project, installs the suite and the inspector when they are missing or stale, and runs them; flags go to
// conformance/run.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

const INSTALLED = 'conformance/node_modules/.package-lock.json'

run(process.execPath, ['scripts/build.mjs'])
if (isStale()) run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: 'conformance' })
run(process.execPath, ['conformance/run.mjs', ...process.argv.slice(2)])

/** npm writes its hidden lock last, so it is older than a lock that changed since. */
function isStale() {
  return !existsSync(INSTALLED) || statSync(INSTALLED).mtimeMs < statSync('conformance/package-lock.json').mtimeMs
}

function run(command, args, { cwd } = {}) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
