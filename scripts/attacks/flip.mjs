// Another process that exchanges two names in a tight loop, as an attacker would between a check and its use.
import { spawn, spawnSync } from 'node:child_process'

// renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE): both names exist at every moment. A name that is gone for a
// while does not stop it; it ends with its parent.
const PYTHON = `
import ctypes, os, platform, random, sys, time
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': 316, 'aarch64': 276}[platform.machine()]
a, b = os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2])
parent = os.getppid()
pause = float(sys.argv[3])
def flip():
    return libc.syscall(number, -100, a, -100, b, 2)
if flip() != 0 or flip() != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print('exchange', flush=True)
while os.getppid() == parent:
    for _ in range(500 if pause == 0 else 1): flip()
    if pause > 0: time.sleep(random.random() ** 3 * pause / 1000)
`

// Without python3 three renames do it; for a moment one of the names is missing.
const NODE = `
const { renameSync } = require('node:fs')
const [a, b, pause] = process.argv.slice(1)
const spare = b + '.spare'
const flip = () => {
  renameSync(a, spare)
  renameSync(b, a)
  renameSync(spare, b)
}
flip()
flip()
console.log('renames')
const parent = process.ppid
while (process.ppid === parent) {
  for (let turn = 0; turn < (pause > 0 ? 1 : 200); turn += 1) {
    try {
      flip()
    } catch {}
  }
  if (pause > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() ** 3 * pause)
}
`

/**
 * Starts exchanging two names, with pauses of up to `pauseMs`, mostly short ones, in between; resolves once it has begun. `pausing` does something while it holds still, `stop` resolves
 * when the process is gone.
 */
export async function startFlipping(a, b, { pauseMs = 0 } = {}) {
  if (hasPython()) {
    const flipping = await start('python3', ['-c', PYTHON, a, b, String(pauseMs)])
    if (flipping) return flipping
  }
  const flipping = await start(process.execPath, ['-e', NODE, a, b, String(pauseMs)])
  if (flipping) return flipping
  throw new Error(`Nothing could exchange ${a} and ${b}.`)
}

let isPython
function hasPython() {
  isPython ??= spawnSync('python3', ['-c', 'import ctypes']).status === 0
  return isPython
}

function start(command, words) {
  const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = new Promise((resolve) => child.once('close', resolve))
  const stop = async () => {
    child.kill('SIGKILL')
    await gone
  }
  const pausing = (work) => {
    child.kill('SIGSTOP')
    work()
    child.kill('SIGCONT')
  }
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.stdout.once('data', (text) => resolve({ how: String(text).trim(), pausing, stop }))
    void gone.then(() => resolve(undefined))
  })
}
