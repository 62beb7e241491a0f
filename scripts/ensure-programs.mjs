// The tests must really sandbox commands, open the console in a real browser and store in a real PostgreSQL: installs
// bubblewrap, chromium and postgresql where they are missing, or ends with what to do.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

const JAIL = ['--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin']
const LIBRARIES = ['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64']
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome']

if (process.platform === 'linux' && !canFence()) {
  if (!runs('bwrap', ['--version'])) install('bubblewrap')
  if (!canFence()) fail('bubblewrap is installed, but cannot make a sandbox here. Are user namespaces switched off?')
}
if (process.platform === 'linux' && !hasBrowser()) {
  install('chromium')
  if (!hasBrowser()) fail('chromium is installed, but does not start.')
}
if (process.platform === 'linux' && !hasPostgres()) {
  keepServersOff()
  install('postgresql')
  if (!hasPostgres()) fail('postgresql is installed, but not in version 13 or later.')
}

/** Whether a server is there; the programs of clients are in the same folder. */
function hasPostgres() {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).filter((version) => Number(version) >= 13) : []
  if (versions.some((version) => existsSync(`${root}/${version}/bin/initdb`))) return true
  const found = spawnSync('pg_config', ['--bindir', '--version'], { encoding: 'utf8' })
  const [folder, version = ''] = (found.stdout ?? '').split('\n')
  return existsSync(`${folder}/initdb`) && Number.parseInt(version.replace('PostgreSQL ', ''), 10) >= 13
}

/** The tests start servers of their own; the package must not start one for the whole machine. */
function keepServersOff() {
  const folder = '/etc/postgresql-common'
  if (process.getuid?.() !== 0 || existsSync(`${folder}/createcluster.conf`)) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/createcluster.conf`, 'create_main_cluster = false\n')
}

function canFence() {
  return runs('bwrap', [...JAIL, ...LIBRARIES, 'true'])
}

function hasBrowser() {
  return BROWSERS.some((name) => runs(name, ['--version']))
}

function install(name) {
  if (process.getuid?.() !== 0 || !runs('apt-get', ['--version']))
    fail(`${name} is missing, and the tests need it. Install it as root: apt-get install ${name}.`)
  console.log(`Installing ${name}, which the tests need …`)
  const words = ['install', '-y', '--no-install-recommends', name]
  if (run('apt-get', words).status === 0) return
  runs('apt-get', ['update'])
  const { status, stderr } = run('apt-get', words)
  if (status === 0) return
  const why = stderr.trim().split('\n').slice(-3).join(' ')
  fail(
    `${name}, which the tests need, could not be installed: ${why}\nMake apt-get install ${name} work, then try again.`,
  )
}

function runs(file, args) {
  return run(file, args).status === 0
}

function run(file, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(file, args, { cwd: tmpdir(), stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8', env })
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
