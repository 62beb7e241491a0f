// npm run mutants -- --seed N --count N [--skip N] [--only PATH] [--tests N]: changes one detail of the source at a
// time and looks whether a type, a lint rule or a test notices. Works in a copy of the tree below the temporary folder; the checkout is only read.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lintAccepts } from './mutants/check-lint.mjs'
import { openTypes } from './mutants/check-types.mjs'
import { copyTree, filesBelow } from './mutants/copy-tree.mjs'
import { drawSample } from './mutants/draw-sample.mjs'
import { whyNotIsolated } from './mutants/isolation.mjs'
import { readUsers } from './mutants/reaching-tests.mjs'
import { openTests } from './mutants/run-tests.mjs'

/** Where a mistake costs most: what decides, contains, records and keeps. */
const FOLDERS = [
  'policy/src',
  'sandbox/src',
  'shell/src',
  ...['records', 'store', 'limits', 'approvals', 'hub/pipeline'].map((name) => `runtime/src/${name}`),
  'server/src/auth',
  'server/src/websocket',
  'mcp/src',
  'features/src',
]
/** How many of the nearest tests run at first, and next: they catch most mutants. The others run for those that are left. */
const [FIRST, NEXT] = [2, 6]
/** Builds modules before the first test, so Vitest is started anew for a mutant in them. */
const SET_UP = 'test/support/join-own-modules.ts'
/** They take a minute and more, so they come last. */
const SLOW = /^test\/(containment|console|attacks|race|kill|faults|fuzz-shell|full-disk|power-loss|mutants)/

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    count: { type: 'string', default: '40' },
    skip: { type: 'string', default: '0' },
    only: { type: 'string' },
    tests: { type: 'string', default: '24' },
  },
})
const [seed, count, skip, maxTests] = [options.seed, options.count, options.skip, options.tests].map(Number)
if (![seed, count, skip, maxTests].every(Number.isSafeInteger)) {
  console.error('--seed, --count, --skip and --tests are whole numbers.')
  process.exit(2)
}

const scratch = copyTree(process.cwd())
// What was killed with it may still be ending.
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, (_, number) => process.exit(128 + number))
const problem = whyNotIsolated(scratch)
if (problem !== undefined) {
  console.error(`A mutant may do anything, and as root nothing stops it. Run as another user: ${problem}`)
  process.exit(1)
}
const files = ['packages', 'src', 'test']
  .filter((folder) => existsSync(join(scratch, folder)))
  .flatMap((folder) => filesBelow(scratch, folder))
  .filter((file) => /\.m?ts$|\.mjs$/.test(file))
const users = readUsers(scratch, files)
const types = openTypes(scratch, users)
const vitest = openTests(scratch)
/** Test files that pass without a mutant, and those that do not: the latter prove nothing. */
const [sound, broken] = [new Set(), new Set()]

const folders = options.only === undefined ? FOLDERS.map((name) => `packages/${name}`) : [options.only]
const sample = drawSample(scratch, files, { folders, seed, count: skip + count }).slice(skip)
console.log(`${sample.length} mutants, seed ${seed}\n`)
const started = Date.now()
const outcomes = []
for (const mutant of sample) {
  const begun = Date.now()
  const outcome = await judge(mutant)
  const seconds = ((Date.now() - begun) / 1000).toFixed(0)
  outcomes.push({ ...mutant, ...outcome })
  const shown = outcome.by ?? change({ ...mutant, ...outcome })
  console.log(`${outcome.verdict.padEnd(9)} ${place(mutant)} ${mutant.operator} ${shown} (${seconds} s)`)
}
types.close()
vitest.close()
print()

/** Whether a type, a lint rule or a test notices the mutant; the file is as before afterwards. */
async function judge({ file, source, start, end, becomes, operator }) {
  const path = join(scratch, file)
  let current = source
  const put = (text) => {
    if (text === current) return
    current = text
    writeFileSync(path, text)
    vitest.changed(file)
    if (users.reaches(file, SET_UP)) vitest.close()
  }
  try {
    const typed = becomes.find((text) => {
      put(source.slice(0, start) + text + source.slice(end))
      return types.accepts(file)
    })
    if (typed === undefined) return { verdict: 'types', became: becomes[0] }
    if (operator === 'drop-await' && !lintAccepts(scratch, file)) return { verdict: 'lint', became: typed }
    const changed = current
    const reaching = users.testsOf(file)
    const quick = reaching.filter((test) => !SLOW.test(test))
    const tests = [...quick, ...reaching.filter((test) => SLOW.test(test))].slice(0, maxTests)
    for (const batch of [tests.slice(0, FIRST), tests.slice(FIRST, NEXT), tests.slice(NEXT)]) {
      const failure = await whoFails(batch, {
        nearest: tests[0],
        before: () => put(changed),
        without: () => put(source),
      })
      if (failure !== undefined) return { verdict: failure.isLate ? 'timeout' : 'tests', became: typed, by: failure.by }
    }
    return { verdict: 'SURVIVED', became: typed }
  } finally {
    put(source)
    types.changed(file)
  }
}

/** The first test file that fails with the mutant and passes without it. */
async function whoFails(tests, { nearest, before, without }) {
  let left = tests.filter((test) => !broken.has(test))
  while (left.length > 0) {
    before()
    const { failed, isLate } = await vitest.run(left)
    if (failed === undefined) {
      for (const test of left) sound.add(test)
      return undefined
    }
    // The run failed, but no file of it did: who it was shows only if each runs alone.
    if (failed === '' && left.length > 1) return firstOf(left, (test) => whoFails([test], { nearest, before, without }))
    const name = failed === '' ? left[0] : failed
    // What is late may be late because the machine is busy.
    if (isLate) sound.delete(name)
    if ((await isSound(name, without)) && (name === nearest || (await failsAgain(name, before))))
      return { by: name, isLate }
    left = left.filter((test) => test !== name)
  }
  return undefined
}

/** A test that fails now and then would be taken for one that notices the mutant. */
async function failsAgain(test, before) {
  before()
  return (await vitest.run([test])).failed !== undefined
}

async function isSound(test, without) {
  if (!sound.has(test) && !broken.has(test)) {
    without()
    const { failed } = await vitest.run([test])
    const known = failed === undefined ? sound : broken
    known.add(test)
  }
  return sound.has(test)
}

async function firstOf(items, find) {
  for (const item of items) {
    const found = await find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function place({ file, source, start }) {
  return `${file}:${source.slice(0, start).split('\n').length}`
}

function print() {
  const survivors = outcomes.filter(({ verdict }) => verdict === 'SURVIVED')
  console.log('\n| place | mutation | was | became |\n|---|---|---|---|')
  for (const mutant of survivors) {
    console.log(`| ${place(mutant)} | ${mutant.operator} | ${change(mutant)} |`)
  }
  const number = (verdict) => outcomes.filter((outcome) => outcome.verdict === verdict).length
  const caught = outcomes.length - survivors.length
  const share = ((caught / outcomes.length) * 100).toFixed(1)
  const seconds = ((Date.now() - started) / 1000 / outcomes.length).toFixed(1)
  console.log(
    `\ncaught ${caught} of ${outcomes.length} (${share} %): ${number('types')} by types, ${number('lint')} by lint, ${number('tests')} by tests, ${number('timeout')} by a time limit; ${seconds} s each`,
  )
  if (broken.size > 0) console.log(`left out, because they fail without a mutant: ${[...broken].join(', ')}`)
}

function change({ source, start, end, became }) {
  return `${cell(source.slice(start, end))} | ${cell(became)}`
}

function cell(text) {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
  return line === '' ? '(removed)' : `\`${line}\``
}
