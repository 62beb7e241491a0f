import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { copyTree } from '../scripts/mutants/copy-tree.mjs'
import { isolatedCommand } from '../scripts/mutants/isolation.mjs'
import { mutantsOf } from '../scripts/mutants/operators.mjs'

const SCRIPT = resolve('scripts/mutants.mjs')
const WITHIN = "import { LIMIT } from './limit.ts'\nexport const isWithin = (used: number) => used < LIMIT\n"
const FILES = {
  'package.json': '{"type":"module"}',
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","allowImportingTsExtensions":true,"types":["node"]},"include":["src"]}',
  '.oxlintrc.json':
    '{"plugins":["typescript"],"options":{"typeAware":true},"rules":{"typescript/no-floating-promises":"error"}}',
  'vitest.config.ts': 'export default {}\n',
  'src/limit.ts': 'export const LIMIT: 3 | 5 = 3\n',
  'src/within.ts': WITHIN,
  'src/within.test.ts': `import { expect, it } from 'vitest'
import { isWithin } from './within.ts'
it('ends at the limit', () => expect([isWithin(2), isWithin(3)]).toEqual([true, false]))
`,
  'src/saves.ts':
    "import { appendFile } from 'node:fs/promises'\nexport async function save() {\n  await appendFile('x', '')\n}\n",
  'src/unbounded.ts': 'export const isUnbounded = (used: number) => used < 3\n',
  'src/unbounded.test.ts': `import { expect, it } from 'vitest'
import { isUnbounded } from './unbounded.ts'
it('ends somewhere', () => expect([isUnbounded(1), isUnbounded(9)]).toEqual([true, false]))
`,
  'src/writes.ts': 'export const isWritten = true\n',
  // With its mutant it writes outside the copy.
  'src/writes.test.ts': `import { writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { isWritten } from './writes.ts'
it('is written', () => {
  if (!isWritten) writeFileSync(process.env.OUTSIDE!, '')
  expect(isWritten).toBe(true)
})
`,
  'src/endless.ts': 'export const isEndless = false\n',
  'src/endless.test.ts': `import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { isEndless } from './endless.ts'
it('ends', () => {
  while (isEndless) writeFileSync('t/endless', '')
})
`,
  'src/left.ts': 'export const isLeft = false\n',
  'src/left.test.ts': `import { it } from 'vitest'
import { isLeft } from './left.ts'
it('leaves nothing', () => {
  if (isLeft) void Promise.reject(new Error('left'))
})
`,
  'src/left-beside.test.ts': `import { expect, it } from 'vitest'
import { isLeft } from './left.ts'
it('is a flag', () => expect(typeof isLeft).toBe('boolean'))
`,
  'test/.keep': '',
}

let base: string
let project: string
let temporary: string
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'mutants-'))
  project = join(base, 'project')
  temporary = join(base, 'tmp')
  for (const folder of [project, temporary, join(project, 'src'), join(project, 'test')]) await mkdir(folder)
  for (const [path, text] of Object.entries(FILES)) await writeFile(join(project, path), text)
  await symlink(resolve('node_modules'), join(project, 'node_modules'))
  await mkdir(join(base, 'run/modules/of-another-run'), { recursive: true })
})
afterAll(() => rm(base, { recursive: true, force: true }))

const argsFor = (only: string) => [SCRIPT, '--seed', '1', '--count', '9', '--only', only]
const options = () => ({
  cwd: project,
  env: { ...process.env, TMPDIR: temporary, OUTSIDE: join(base, 'outside'), TOOL_HUB_TEST_FOLDER: join(base, 'run') },
})

async function mutants(only: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, argsFor(only), options())
  return stdout
}

it('a mutant that a test notices is caught, and the tree is as before', async () => {
  expect(await mutants('src/within.ts')).toMatch(/^caught 1 of 1 \(100\.0 %\): 0 by types, 0 by lint, 1 by tests/m)
  expect(await readFile(join(project, 'src/within.ts'), 'utf8')).toBe(WITHIN)
  expect(await readdir(temporary)).toEqual([])
  expect(await readdir(join(base, 'run/modules'))).toEqual(['of-another-run'])
})

it('a mutant that a type forbids is caught without a test', async () => {
  expect(await mutants('src/limit.ts')).toMatch(/^caught 1 of 1 \(100\.0 %\): 1 by types, 0 by lint, 0 by tests/m)
})

it('a promise that nobody awaits is caught by lint', async () => {
  expect(await mutants('src/saves.ts')).toMatch(/^lint +src\/saves\.ts:3 drop-await /m)
})

it('a mutant that nothing notices survives, with its place', async () => {
  const report = await mutants('src/unbounded.ts')
  expect(report).toContain('| src/unbounded.ts:1 | bound | `<` | `<=` |')
  expect(report).toMatch(/^caught 0 of 2/m)
})

it('a mutant that fails no test but the run is caught by the file that does it', async () => {
  const report = await mutants('src/left.ts')
  expect(report).toMatch(/^tests +src\/left\.ts:1 boolean src\/left\.test\.ts \(\d+ s\)$/m)
  expect(report).not.toContain('left out')
})

it('as root, a mutant changes nothing outside the copy', async () => {
  expect(await mutants('src/writes.ts')).toMatch(/^caught 1 of 1 .* 1 by tests/m)
  // Others are held back by the rights of their user, if at all.
  expect(existsSync(join(base, 'outside'))).toBe(process.getuid?.() !== 0)
})

const PLACES: readonly (readonly [name: string, folder: string])[] = [
  ['below the temporary folder', tmpdir()],
  ['in shared memory', '/dev/shm'],
]
const places = PLACES.filter(([, folder]) => existsSync(folder))
it.each(places)('a tree %s is tested with the packages that are installed in it', async (_, place) => {
  const folder = await mkdtemp(join(place, 'mutants-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const tree = join(folder, 'a clone')
  await mkdir(join(tree, 'node_modules/installed'), { recursive: true })
  const outside = join(tree, 'outside')
  const write = `try { require("fs").writeFileSync(${JSON.stringify(outside)}, "x") } catch {}`
  await writeFile(join(tree, 'node_modules/installed/index.js'), `console.log("found"); ${write}`)
  const copy = copyTree(tree)
  const [file, ...args] = isolatedCommand(copy, [process.execPath, '-e', 'require("installed")'], tree).command
  try {
    expect(execFileSync(file!, args, { cwd: copy, encoding: 'utf8' })).toBe('found\n')
    expect(existsSync(outside)).toBe(process.getuid?.() !== 0)
  } finally {
    await rm(copy, { recursive: true })
  }
})

it('a script that is ended ends its tests and removes its copy', async () => {
  const script = spawn(process.execPath, argsFor('src/endless.ts'), { ...options(), stdio: 'ignore' })
  const end = once(script, 'exit')
  const isRunning = async () =>
    (await readdir(temporary)).some((copy) => existsSync(join(temporary, copy, 't/endless')))
  await expect
    .poll(isRunning)
    .toBe(true)
    .finally(() => script.kill('SIGTERM'))
  expect(await end).toEqual([143, null])
  expect(await readdir(temporary)).toEqual([])
})

const MUTATIONS: readonly (readonly [operator: string, was: string, became: string])[] = [
  ['regex-anchor', 'x = /^a$/g', 'x = /a$/g'],
  ['regex-anchor', 'x = /^a$/g', 'x = /^a/g'],
  ['arithmetic', 'x = a + b', 'x = a - b'],
  ['constant', 'x = 1', 'x = 2'],
  ['equality', 'x = a === b', 'x = a !== b'],
  ['bound', 'x = a <= b', 'x = a < b'],
  ['boolean', 'x = true', 'x = false'],
  ['logic', 'x = (a) && b', 'x = (a) || b'],
  ['drop-operand', 'x = a && (b || c)', 'x = (b || c)'],
  ['drop-not', 'x = !a', 'x = (a)'],
  ['drop-await', 'x = await a()', 'x = a()'],
  ['drop-element', 'x = [a, ...b]', 'x = [ ...b]'],
  ['drop-field', 'x = { a, b: 1 }', 'x = { a,  }'],
  ['drop-call', 'await a()', ';'],
  ['drop-throw', 'throw a', ';'],
  ['drop-exit', 'function f() { if (a) return b; return c }', 'function f() { if (a) {} return c }'],
  ['drop-exit', 'for (;;) { break }', 'for (;;) { {} }'],
  ['return-default', 'function f() { return c }', 'function f() { return false }'],
  ['return-default', 'function f() { return false }', 'function f() { return undefined }'],
]
it.each(MUTATIONS)('%s: %s', (operator, was, became) => {
  const mutated = mutantsOf(was)
    .filter((mutant) => mutant.operator === operator)
    .map(({ start, end, becomes }) => was.slice(0, start) + becomes[0] + was.slice(end))
  expect(mutated).toContain(became)
})

it('types, imports and comments have no mutants', () => {
  expect(mutantsOf("import a from 'b'\ntype T = { a: 1 }\n// x === 1\nlet b: 1 | true\nexport { a, b }")).toEqual([])
})
