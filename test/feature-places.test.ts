import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { FEATURES } from '../src/core/index.ts'
import { features } from '../src/features/generated/list/index.ts'
import { catalogue } from '../src/tools/index.ts'
import { sourceFiles } from './support/source-files.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/**
 * A production file outside of src/features names a feature if one of these is true:
 * - it no longer compiles when the folder of the feature, its key (in `ctx`, the hub, its options and the config) and its
 *   keys in the store have other names
 * - it has the canonical name of one of its tools, or an SQL statement about one of its tables
 * Generated files do not count, nor does the default policy, which has the rules of `policy.yaml`, nor the steps of the
 * database, which never change once they are released. The names that dialects have for tools do not count either:
 * the tool groups of src/policy list them with those of all other tools.
 */
const MAX_PLACES = 2
const NOT_COUNTED = /\.generated\.ts$|^src\/store\/sqlite\/migrations\.ts$/
const EXPORTED = 'Config|Store|Suite|Routes|Client|Command'

const run = promisify(execFile)

/** The folder of a feature: its name in kebab-case. */
const folderOf = (feature: string) => feature.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const production = sourceFiles('src').filter(
  (file) => !/\.(test|test-d|examples)\.ts$/.test(file) && !file.startsWith('src/features/'),
)

/** Files that name the canvas in every way that the compiler finds. */
const PROBES = {
  'src/server/a.probe.ts': "import type { A } from '../features/canvas/types.ts'\nexport type Probe = A",
  'src/server/b.probe.ts':
    "import type { HubOptions } from '../core/index.ts'\nexport const b = ({ canvas }: HubOptions) => canvas",
  'src/server/c.probe.ts':
    "import type { Store } from '../core/index.ts'\nexport const c = ({ canvases }: Store) => canvases",
  'src/server/d.probe.ts':
    "import type { Hub } from '../hub/index.ts'\nexport const d = (hub: Hub) => hub.canvas.list()",
}

describe('a feature', () => {
  let problems: readonly Problem[]

  beforeAll(async () => {
    problems = await compileRenamed()
  }, 180_000)

  it.each(FEATURES)('is named in few places outside of its folder: %s', (feature) => {
    const compiled = placesOf(problems, feature).filter((file) => !Object.hasOwn(PROBES, file))
    expect([...new Set([...compiled, ...placesInText(feature)])].slice(MAX_PLACES)).toEqual([])
  })

  it('is found by imports, by the keys of the hub, of its options and of the store, and by texts', () => {
    expect(placesOf(problems, 'canvas')).toEqual(expect.arrayContaining(Object.keys(PROBES)))
    const texts = ["call('core/canvas')", 'SELECT id FROM canvases', 'a canvas, canvases', "'core/canvasses'"]
    expect(texts.map((text) => textsOf('canvas').test(text))).toEqual([true, true, false, false])
  })

  it('is what every problem after the renaming is about', () => {
    const named = new Set(FEATURES.flatMap((feature) => placesOf(problems, feature)))
    expect(problems.filter(({ file }) => !named.has(file))).toEqual([])
  })
})

interface Problem {
  readonly file: string
  readonly message: string
}

/** The problems that the compiler has outside of the features, once all of them and their keys have other names. */
async function compileRenamed(): Promise<readonly Problem[]> {
  const copy = temporaryFolder('feature-places')
  for (const path of ['src', 'scripts/generate-features.mjs', 'package.json']) {
    cpSync(path, join(copy, path), { recursive: true, filter: (file) => !/\.test(-d)?\.ts$/.test(file) })
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const compilerOptions = { typeRoots: [resolve('node_modules/@types')] }
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      include: ['src'],
      exclude: ['src/**/*.examples.ts'],
      compilerOptions,
    }),
  )
  for (const [file, text] of Object.entries(PROBES)) writeFileSync(join(copy, file), text)
  const list = FEATURES.map(
    (feature) => `export { renamed_${feature} } from './renamed-${folderOf(feature)}/index.ts'\n`,
  )
  writeFileSync(join(copy, 'src/features/index.ts'), list.join(''))
  for (const feature of FEATURES) renameFeature(join(copy, 'src/features'), feature)
  const { generateFeatureLists } = await import(join(copy, 'scripts/generate-features.mjs'))
  for (const [file, text] of generateFeatureLists()) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  const { stdout } = await run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.'], {
    cwd: copy,
    maxBuffer: 50_000_000,
  }).catch((error) => error)
  const lines: readonly string[] = stdout.split(/\n(?=\S)/)
  return lines
    .map((line) => /^([^(]+)\(\d+,\d+\): error TS\d+: ([\s\S]*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, file, message]) => ({ file: file!, message: message! }))
    .filter(({ file, message }) => !file.startsWith('src/features/') && !/implicitly has an 'any' type/.test(message))
}

/** Renames the folder, what its files export by the name of the feature, and the keys that it declares. */
function renameFeature(folder: string, feature: string): void {
  const renamed = join(folder, `renamed-${folderOf(feature)}`)
  renameSync(join(folder, folderOf(feature)), renamed)
  for (const name of readdirSync(renamed).filter((file) => file.endsWith('.ts'))) {
    const file = join(renamed, name)
    const text = readFileSync(file, 'utf8')
      .replaceAll(new RegExp(`^(export (?:const|function) )(${feature}(?:${EXPORTED})?)\\b`, 'gm'), '$1renamed_$2')
      .replaceAll(/^ {4}readonly (?=\w+\??: )/gm, basename(file) === 'index.ts' ? '    readonly renamed_' : '$&')
      .replace(`  name: '${feature}',`, `  name: 'renamed_${feature}',`)
    writeFileSync(file, text)
  }
}

/** Its folder, and the keys that its `declare module` adds. */
function keysOf(feature: string): readonly string[] {
  const source = readFileSync(`src/features/${folderOf(feature)}/index.ts`, 'utf8')
  return [
    ...new Set([
      feature,
      folderOf(feature),
      ...[...source.matchAll(/^ {4}readonly (\w+)\??: /gm)].map(([, key]) => key!),
    ]),
  ]
}

/** The files with a problem that mentions a key of the feature: in quotes, in a path, or in a list of properties. */
function placesOf(problems: readonly Problem[], feature: string): readonly string[] {
  const keys = new RegExp(`(?<![\\w-])(?:${keysOf(feature).join('|')})(?![\\w-])`)
  return problems.filter(({ message }) => keys.test(message)).map(({ file }) => file)
}

/** Whether a text has the canonical name of one of its tools, or a statement about one of its tables. */
function textsOf(feature: string): RegExp {
  const { capability } = features.find(({ name }) => name === feature)!
  const tools = catalogue.flatMap(({ tool }) => (tool.capabilities.includes(capability) ? tool.name : []))
  const names = tools.map((name) => name.replaceAll('.', String.raw`\.`))
  const tables = [
    ...readIfThere(`src/features/${folderOf(feature)}/store.ts`).matchAll(/CREATE (?:VIRTUAL )?TABLE (\w+)/g),
  ]
  const statements = tables.map(([, table]) => `\\b(?:FROM|INTO|UPDATE|TABLE|JOIN) ${table}`)
  return new RegExp(`(?<![\\w/.])(?:${[...names, ...statements].join('|')})\\b`)
}

function placesInText(feature: string): readonly string[] {
  const texts = textsOf(feature)
  return production.filter((file) => !NOT_COUNTED.test(file) && texts.test(readFileSync(file, 'utf8')))
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // A feature without tables has no such file.
    return ''
  }
}
