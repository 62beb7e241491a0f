// npm run mutants -- --seed N --count N [--only PATH] [--tests N]: changes one detail of the source at a time and looks
// whether a type or a test notices. Works in a copy of the tree below the temporary folder; the checkout is only read.
import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { API } from 'typescript/unstable/sync'
import { createRandom } from './fuzz-shell/random.mjs'
import { mutantsOf } from './mutants/operators.mjs'
import { readUsers } from './mutants/reaching-tests.mjs'

/** Where a mistake costs most: what decides, contains, records and keeps. */
const FOLDERS = [
  'policy',
  'guards',
  'record',
  'store',
  'limits',
  'approval',
  'steps',
  'serve/auth',
  'serve/ws',
  'sources/mcp',
  'abilities',
]
/** The nearest tests catch most mutants; the others only run for those that are left. */
const NEAREST = 6
/** They take a minute and more, so they come last. */
const SLOW = /^test\/(containment|console|attacks|race|kill|faults|fuzz-shell|full-disk|power-loss|mutants)/
/** A mutant that makes a loop endless never ends by itself. */
const RUN_LIMIT_MS = 300_000

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    count: { type: 'string', default: '40' },
    only: { type: 'string' },
    tests: { type: 'string', default: '24' },
  },
})
const [seed, count, mostTests] = [options.seed, options.count, options.tests].map(Number)
if (![seed, count, mostTests].every(Number.isSafeInteger)) {
  console.error('--seed, --count and --tests are whole numbers.')
  process.exit(2)
}

const scratch = copyTree(process.cwd())
// What was killed with it may still be ending.
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))
const files = ['src', 'test'].flatMap((folder) => filesBelow(folder)).filter((file) => /\.m?ts$|\.mjs$/.test(file))
const users = readUsers(scratch, files)
const types = openTypes()
/** Test files that pass without a mutant, and those that do not: the latter prove nothing. */
const [sound, broken] = [new Set(), new Set()]

const sample = drawSample()
console.log(`${sample.length} mutants, seed ${seed}\n`)
const started = Date.now()
const outcomes = []
for (const mutant of sample) {
  const outcome = await judge(mutant)
  outcomes.push({ ...mutant, ...outcome })
  console.log(`${outcome.verdict.padEnd(9)} ${place(mutant)} ${mutant.operator} ${outcome.by ?? ''}`)
}
types.close()
print()

/** Whether a type or a test notices the mutant; the file is as before afterwards. */
async function judge({ file, source, start, end, becomes }) {
  const path = join(scratch, file)
  const put = (text) => writeFileSync(path, text)
  try {
    const typed = becomes.find((text) => {
      put(source.slice(0, start) + text + source.slice(end))
      return types.accepts(file)
    })
    if (typed === undefined) return { verdict: 'types', became: becomes[0] }
    const changed = readFileSync(path, 'utf8')
    const reaching = users.testsOf(file)
    const quick = reaching.filter((test) => !SLOW.test(test))
    const tests = [...quick, ...reaching.filter((test) => SLOW.test(test))].slice(0, mostTests)
    for (const batch of [tests.slice(0, NEAREST), tests.slice(NEAREST)]) {
      const by = await whoFails(batch, { before: () => put(changed), without: () => put(source) })
      if (by !== undefined) return { verdict: by === 'no end' ? 'timeout' : 'tests', became: typed, by }
    }
    return { verdict: 'SURVIVED', became: typed }
  } finally {
    put(source)
    types.changed(file)
  }
}

/** The first test file that fails with the mutant and passes without it. */
async function whoFails(tests, { before, without }) {
  for (;;) {
    const left = tests.filter((test) => !broken.has(test))
    if (left.length === 0) return undefined
    before()
    const failed = await runTests(left)
    if (failed === undefined || failed === 'no end' || sound.has(failed)) {
      if (failed === undefined) for (const test of left) sound.add(test)
      return failed
    }
    without()
    const alone = failed === '' ? left : [failed]
    const passes = (await runTests(alone)) === undefined
    for (const test of alone) (passes ? sound : broken).add(test)
    if (passes) return failed
  }
}

/** Runs test files until one fails: its name, `''` if the run fails as a whole, `undefined` if all pass. */
async function runTests(tests) {
  const report = join(scratch, 'report.json')
  rmSync(report, { force: true })
  const flags = ['run', '--bail=1', '--testTimeout=30000', '--reporter=json', `--outputFile=${report}`]
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', ...flags, ...tests], {
    cwd: scratch,
    // A group of its own: workers in an endless loop end with it.
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, CI: '1', TMPDIR: join(scratch, 't') },
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
  return failedIn(report)
}

function failedIn(report) {
  if (!existsSync(report)) return ''
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
  const failed = testResults.find(({ status }) => status === 'failed')
  return failed === undefined ? '' : failed.name.slice(scratch.length + 1)
}

/** Draws folder by folder, then an operator, then a place, so that each kind gets its share. */
function drawSample() {
  const random = createRandom(seed)
  const folders = options.only === undefined ? FOLDERS.map((name) => `src/${name}`) : [options.only]
  const pools = folders.map((folder) => poolOf(folder)).filter((pool) => pool.size > 0)
  const drawn = []
  while (drawn.length < count && pools.some((pool) => pool.size > 0)) {
    const pool = pools[drawn.length % pools.length]
    if (pool.size === 0) pools.splice(pools.indexOf(pool), 1)
    else drawn.push(takeOne(pool, random))
  }
  return drawn
}

function takeOne(pool, random) {
  const operator = random.pick([...pool.keys()])
  const mutants = pool.get(operator)
  const [mutant] = mutants.splice(random.below(mutants.length), 1)
  if (mutants.length === 0) pool.delete(operator)
  return mutant
}

/** The mutants of a file or folder by their operator. */
function poolOf(folder) {
  const pool = new Map()
  const sources = files.filter((file) => file === folder || file.startsWith(`${folder}/`))
  for (const file of sources.filter(
    (name) => name.endsWith('.ts') && !/\.(test|test-d|generated|examples)\.ts$|-suite\.ts$/.test(name),
  )) {
    const source = readFileSync(join(scratch, file), 'utf8')
    for (const mutant of mutantsOf(source)) {
      if (!pool.has(mutant.operator)) pool.set(mutant.operator, [])
      pool.get(mutant.operator).push({ ...mutant, file, source })
    }
  }
  return pool
}

/** Checks the changed file and those that import it; one compiler stays open for all mutants. */
function openTypes() {
  const project = join(scratch, 'tsconfig.json')
  const api = new API({ cwd: scratch })
  let snapshot = api.updateSnapshot({ openProjects: [project] })
  const changed = (file) => {
    const last = snapshot
    snapshot = api.updateSnapshot({ fileChanges: { changed: [join(scratch, file)] } })
    last.dispose()
  }
  const accepts = (file) => {
    changed(file)
    const { program } = snapshot.getProject(project)
    const checked = [file, ...users.importersOf(file)]
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(scratch, name))
    return checked.every(
      (name) => program.getSyntacticDiagnostics(name).length + program.getSemanticDiagnostics(name).length === 0,
    )
  }
  const close = () => {
    snapshot.dispose()
    api.close()
  }
  return { accepts, changed, close }
}

/** A copy of the tree that shares the installed packages and the build, in which a run writes nothing. */
function copyTree(root) {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'mu-')))
  mkdirSync(join(copy, 't'))
  const shared = ['node_modules', 'dist']
  for (const name of readdirSync(root)) {
    if (name === '.git') continue
    if (name === 'dist') symlinkSync(join(root, name), join(copy, name))
    else if (!shared.includes(name))
      cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith('/node_modules') })
  }
  // Not the folder itself: a run puts modules of its own into it.
  mkdirSync(join(copy, 'node_modules'))
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
  return copy
}

function filesBelow(folder) {
  return readdirSync(join(scratch, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(scratch.length + 1))
    .sort()
}

function place({ file, source, start }) {
  return `${file}:${source.slice(0, start).split('\n').length}`
}

function print() {
  const survivors = outcomes.filter(({ verdict }) => verdict === 'SURVIVED')
  console.log('\n| place | mutation | was | became |\n|---|---|---|---|')
  for (const mutant of survivors) {
    const { source, start, end, operator, became } = mutant
    console.log(`| ${place(mutant)} | ${operator} | ${cell(source.slice(start, end))} | ${cell(became)} |`)
  }
  const number = (verdict) => outcomes.filter((outcome) => outcome.verdict === verdict).length
  const caught = outcomes.length - survivors.length
  const share = ((caught / outcomes.length) * 100).toFixed(1)
  const seconds = ((Date.now() - started) / 1000 / outcomes.length).toFixed(1)
  console.log(
    `\ncaught ${caught} of ${outcomes.length} (${share} %): ${number('types')} by types, ${number('tests')} by tests, ${number('timeout')} without an end; ${seconds} s each`,
  )
  if (broken.size > 0) console.log(`left out, because they fail without a mutant: ${[...broken].join(', ')}`)
}

function cell(text) {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
  return line === '' ? '(removed)' : `\`${line}\``
}
