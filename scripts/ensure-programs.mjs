// The tests must really fence commands in: installs bubblewrap where it is missing, or ends with what to do.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'

const JAIL = ['--unshare-all', '--die-with-parent', '--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin']
const LIBRARIES = ['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64']

if (process.platform === 'linux' && !works()) {
  if (!runs('bwrap', ['--version'])) install()
  if (!works()) fail('bubblewrap is installed, but cannot make a sandbox here. Are user namespaces switched off?')
}

function works() {
  return runs('bwrap', [...JAIL, ...LIBRARIES, 'true'])
}

function install() {
  if (process.getuid?.() !== 0 || !runs('apt-get', ['--version']))
    fail('bubblewrap is missing, and the tests need it. Install it: apt install bubblewrap.')
  console.log('Installing bubblewrap, which the tests need …')
  const install = () => runs('apt-get', ['install', '-y', '--no-install-recommends', 'bubblewrap'])
  if (install()) return
  runs('apt-get', ['update'])
  if (!install()) fail('bubblewrap could not be installed: apt-get install bubblewrap failed.')
}

function runs(file, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(file, args, { cwd: tmpdir(), stdio: 'ignore', env }).status === 0
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
