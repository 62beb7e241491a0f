// Builds the project, installs the peers when they are missing or stale, and measures; flags go to bench/run.mjs.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

const INSTALLED = 'bench/node_modules/.package-lock.json'

run(process.execPath, ['scripts/build.mjs'])
if (isStale()) run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: 'bench' })
run(process.execPath, ['bench/run.mjs', ...process.argv.slice(2)])

/** npm writes its hidden lock last, so it is older than a lock that changed since. */
function isStale() {
  return !existsSync(INSTALLED) || statSync(INSTALLED).mtimeMs < statSync('bench/package-lock.json').mtimeMs
}

function run(command, args, { cwd } = {}) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
