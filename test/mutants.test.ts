import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { mutantsOf } from '../scripts/mutants/operators.mjs'

const SCRIPT = resolve('scripts/mutants.mjs')
const WITHIN = "import { LIMIT } from './limit.ts'\nexport const isWithin = (used: number) => used < LIMIT\n"
const FILES = {
  'package.json': '{"type":"module"}',
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","allowImportingTsExtensions":true,"types":[]},"include":["src"]}',
  'vitest.config.ts': 'export default {}\n',
  'src/limit.ts': 'export const LIMIT: 3 | 5 = 3\n',
  'src/within.ts': WITHIN,
  'src/within.test.ts': `import { expect, it } from 'vitest'
import { isWithin } from './within.ts'
it('ends at the limit', () => expect([isWithin(2), isWithin(3)]).toEqual([true, false]))
`,
  'src/unbounded.ts': 'export const isUnbounded = (used: number) => used < 3\n',
  'src/unbounded.test.ts': `import { expect, it } from 'vitest'
import { isUnbounded } from './unbounded.ts'
it('ends somewhere', () => expect([isUnbounded(1), isUnbounded(9)]).toEqual([true, false]))
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
})
afterAll(() => rm(base, { recursive: true, force: true }))

async function mutants(only: string): Promise<string> {
  const args = [SCRIPT, '--seed', '1', '--count', '9', '--only', only]
  const env = { ...process.env, TMPDIR: temporary }
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project, env })
  return stdout
}

it('a mutant that a test notices is caught, and the tree is as before', async () => {
  expect(await mutants('src/within.ts')).toMatch(/^caught 1 of 1 \(100\.0 %\): 0 by types, 1 by tests/m)
  expect(await readFile(join(project, 'src/within.ts'), 'utf8')).toBe(WITHIN)
  expect(await readdir(temporary)).toEqual([])
}, 240_000)

it('a mutant that a type forbids is caught without a test', async () => {
  expect(await mutants('src/limit.ts')).toMatch(/^caught 1 of 1 \(100\.0 %\): 1 by types, 0 by tests/m)
}, 240_000)

it('a mutant that nothing notices survives, with its place', async () => {
  const report = await mutants('src/unbounded.ts')
  expect(report).toContain('| src/unbounded.ts:1 | bound | `<` | `<=` |')
  expect(report).toMatch(/^caught 0 of 2/m)
}, 240_000)

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
