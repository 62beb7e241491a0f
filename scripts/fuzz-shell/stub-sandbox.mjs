// A sandbox in which every program is a stub that writes down how it was called; only bash is real.
import { spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { BUILTINS, INSIDE, OUTSIDE, PROGRAMS, ROOT, STRAY_PROGRAMS } from './world.mjs'

const PARTS = path.join(import.meta.dirname, 'stub-sandbox')
const LIBRARIES = ['/lib', '/lib64', '/usr/lib', '/usr/lib64']
/** Two seconds of processor a line are its limit; a sandbox that takes longer than this hangs. */
const TIMEOUT_MS = 60_000
const BASH = realpathSync('/bin/bash')
const BUBBLEWRAP = '/usr/bin/bwrap'

/**
 * Runs lines in a new sandbox, one after the other. `runs` are, for each line, the programs that were called; `changes` is
 * what became of the files: any difference counts for all lines of the sandbox.
 */
export async function runInStubSandbox(lines) {
  const base = realpathSync(mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tool-hub-fuzz-')))
  try {
    const places = buildPlaces(base)
    writeFileSync(
      path.join(places.driver, 'lines'),
      lines.map(({ line, fail }) => `${fail ? 1 : 0}\0${line}\0`).join(''),
    )
    const before = listing(places.root)
    const end = await runBubblewrap(places)
    const runs = readLog(places.log, lines.length)
    const after = listing(places.root)
    return { ...runs, end, changes: differences(before, after) }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function buildPlaces(base) {
  const [root, driver, log] = ['root', 'driver', 'log'].map((name) => path.join(base, name))
  for (const folder of [root, driver, log]) mkdirSync(folder)
  for (const file of ['stub.bash', 'no-builtins.bash', 'driver.bash']) {
    copyFileSync(path.join(PARTS, file), path.join(driver, file))
  }
  chmodSync(path.join(driver, 'stub.bash'), 0o755)
  writeFileSync(path.join(driver, 'bash'), '')
  symlinkSync('stub.bash', path.join(driver, 'missing'))
  for (const folder of ['stubs', 'usr/local', 'dev', 'proc', 'log', '.driver']) {
    mkdirSync(path.join(root, folder), { recursive: true })
  }
  for (const name of new Set([...PROGRAMS, ...BUILTINS]))
    symlinkSync('/.driver/stub.bash', path.join(root, 'stubs', name))
  for (const folder of ['bin', 'sbin', 'usr/bin', 'usr/sbin', 'usr/local/bin']) {
    symlinkSync('/stubs', path.join(root, folder))
  }
  for (const folder of LIBRARIES) {
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink()) symlinkSync(readlinkSync(folder), path.join(root, folder))
    else if (stats) mkdirSync(path.join(root, folder), { recursive: true })
  }
  for (const file of STRAY_PROGRAMS) link('/.driver/stub.bash', path.join(root, file))
  for (const file of INSIDE) write(path.join(root, file), 'inside\n')
  for (const file of OUTSIDE) write(path.join(root, file), 'OUTSIDE\n')
  return { root, driver, log }
}

function write(file, text) {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function link(to, file) {
  mkdirSync(path.dirname(file), { recursive: true })
  symlinkSync(to, file)
}

function runBubblewrap({ root, driver, log }) {
  const libraries = LIBRARIES.filter((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory())
  const words = [
    ...['--unshare-all', '--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--as-pid-1', '--bind', root, '/'],
    ...libraries.flatMap((folder) => ['--ro-bind', folder, folder]),
    ...['--dev', '/dev', '--proc', '/proc', '--bind', log, '/log', '--ro-bind', driver, '/.driver'],
    ...['--ro-bind', BASH, '/.driver/bash', '--chdir', ROOT, '/.driver/bash', '-p', '/.driver/driver.bash'],
  ]
  const child = spawn(BUBBLEWRAP, words, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/stubs', HOME: '/home/agent', LC_ALL: 'C.UTF-8', BASH_ENV: '/.driver/no-builtins.bash' },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  return new Promise((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, said: said.slice(0, 1_000) }))
  })
}

/** For each line the programs it called and what bash said; what could not be told apart is `strays`. */
function readLog(log, count) {
  const runs = Array.from({ length: count }, () => ({ programs: [], said: '', hasEnded: false }))
  const strays = []
  for (const file of readdirSync(log)) {
    const text = readFileSync(path.join(log, file), 'utf8')
    const [number, ...kind] = file.split('.')
    const run = runs[number]
    if (kind.at(-1) === 'said' && run) Object.assign(run, { said: text.slice(0, 2_000), hasEnded: true })
    else if (run) run.programs.push(...programsOf(text))
    else strays.push(...programsOf(text))
  }
  return { runs, strays }
}

/** A process that became another program has written twice. */
function programsOf(text) {
  const fields = text.split('\0')
  const programs = []
  while (fields.length > 1) {
    const [program, cwd, environment, input, count] = fields.splice(0, 5)
    programs.push({
      program,
      cwd,
      environment: environment.split('\x1f'),
      input,
      words: fields.splice(0, Number(count)),
    })
  }
  return programs
}

/** Every file but those of the sandbox itself: names, kinds, modes, sizes and contents. */
function listing(root, folder = '') {
  return readdirSync(path.join(root, folder)).flatMap((name) => {
    const place = path.join(folder, name)
    const file = path.join(root, place)
    const stats = lstatSync(file)
    const line = `/${place} ${stats.mode.toString(8)} ${stats.size}`
    if (stats.isDirectory()) return [`/${place} ${stats.mode.toString(8)}`, ...listing(root, place)]
    if (stats.isSymbolicLink()) return [`${line} ${readlinkSync(file)}`]
    return [stats.isFile() ? `${line} ${readFileSync(file, 'utf8')}` : line]
  })
}

function differences(before, after) {
  const [old, now] = [new Set(before), new Set(after)]
  return [
    ...before.filter((line) => !now.has(line)).map((line) => `was ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `is ${line}`),
  ]
}
