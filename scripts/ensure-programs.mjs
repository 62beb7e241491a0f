// The tests must really fence commands in and open the console in a real browser: installs bubblewrap and chromium where
// they are missing, or ends with what to do.
import { spawnSync } from 'node:child_process'
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

function canFence() {
  return runs('bwrap', [...JAIL, ...LIBRARIES, 'true'])
}

function hasBrowser() {
  return BROWSERS.some((name) => runs(name, ['--version']))
}

function install(name) {
  if (process.getuid?.() !== 0 || !runs('apt-get', ['--version']))
    fail(`${name} is missing, and the tests need it. Install it: apt install ${name}.`)
  console.log(`Installing ${name}, which the tests need …`)
  const attempt = () => runs('apt-get', ['install', '-y', '--no-install-recommends', name])
  if (attempt()) return
  runs('apt-get', ['update'])
  if (!attempt()) fail(`${name} could not be installed: apt-get install ${name} failed.`)
}

function runs(file, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(file, args, { cwd: tmpdir(), stdio: 'ignore', env }).status === 0
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
