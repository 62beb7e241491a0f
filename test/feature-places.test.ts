import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { FEATURES } from '@tool-hub/core'
import { catalogue } from '@tool-hub/library/builtin-tools'
import { features } from '@tool-hub/library/generated/list'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { linkModules } from '../scripts/packages.mjs'
import { sourceFiles } from './support/source-files.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// A renamed copy of the tree is compiled.
vi.setConfig({ testTimeout: 600_000 })

/**
 * A production file outside of packages/features/src names a feature if one of these is true:
 * - it no longer compiles when the folder of the feature, its key (in `ctx`, the hub, its options and the config) and its
 *   keys in the store have other names
 * - it has the canonical name of one of its tools, or an SQL statement about one of its tables
 * Generated files do not count, nor does the default policy, which has the rules of `policy.yaml`, nor the steps of the
 * database, which never change once they are released. The names that dialects have for tools do not count either:
 * the tool groups of packages/policy/src list them with those of all other tools.
 */
const MAX_PLACES = 2
const GENERATED = /\.generated\.ts$|\/generated\//
const NOT_COUNTED = /\.generated\.ts$|\/generated\/|^packages\/runtime\/src\/store\/sqlite\/migrations\.ts$/
const EXPORTED = 'Config|Store|Suite|Routes|Command'

const run = promisify(execFile)

/** The folder of a feature: its name in kebab-case. */
const folderOf = (feature: string) => feature.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
/** Features with heavy dependencies are packages of their own. */
const OWN_PACKAGES = ['browser', 'code']
/** The folder with the sources of a feature. */
const sourcesOf = (feature: string) =>
  OWN_PACKAGES.includes(feature) ? `packages/${feature}/src` : `packages/features/src/${folderOf(feature)}`
const OF_FEATURES = /^packages\/((renamed-)?(browser|code)|features)\/src\//
const production = sourceFiles('packages').filter(
  (file) =>
    !/\.(test|test-d|examples)\.ts$/.test(file) && !OF_FEATURES.test(file) && !file.startsWith('packages/console/'),
)

/** Files that name the canvas in every way that the compiler finds. */
const PROBES = {
  'packages/server/src/a.probe.ts': "import type { A } from '@tool-hub/features/canvas/types'\nexport type Probe = A",
  'packages/server/src/b.probe.ts':
    "import type { HubOptions } from '@tool-hub/core'\nexport const b = ({ canvas }: HubOptions) => canvas",
  'packages/server/src/c.probe.ts':
    "import type { Store } from '@tool-hub/core'\nexport const c = ({ canvases }: Store) => canvases",
  'packages/server/src/d.probe.ts':
    "import type { Hub } from '@tool-hub/runtime/hub'\nexport const d = (hub: Hub) => hub.canvas.list()",
}

describe('a feature', () => {
  let problems: readonly Problem[]

  beforeAll(async () => {
    problems = await compileRenamed()
  })

  it.each(FEATURES)('is named in few places outside of its folder: %s', (feature) => {
    const compiled = placesOf(problems, feature).filter((file) => !Object.hasOwn(PROBES, file) && !GENERATED.test(file))
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
  for (const path of ['packages', 'scripts/generate-features.mjs', 'package.json']) {
    const isKept = (file: string) => !/\.test(-d)?\.ts$|\/(dist|node_modules)$|^packages\/console$/.test(file)
    cpSync(path, join(copy, path), { recursive: true, filter: isKept })
  }
  const compilerOptions = { typeRoots: [resolve('node_modules/@types')] }
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      include: ['packages/*/src'],
      exclude: ['**/*.examples.ts'],
      compilerOptions,
    }),
  )
  for (const [file, text] of Object.entries(PROBES)) writeFileSync(join(copy, file), text)
  const list = FEATURES.map(
    (feature) =>
      `export { renamed_${feature} } from '@tool-hub/${OWN_PACKAGES.includes(feature) ? `renamed-${feature}` : `features/renamed-${folderOf(feature)}/index`}'\n`,
  )
  writeFileSync(join(copy, 'packages/library/src/features.ts'), list.join(''))
  for (const feature of FEATURES) renameFeature(join(copy, sourcesOf(feature)), feature)
  linkModules(resolve('node_modules'), copy)
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
    .filter(
      ({ file, message }) =>
        !OF_FEATURES.test(file) && !NOT_COUNTED.test(file) && !/implicitly has an 'any' type/.test(message),
    )
}

/** Renames the folder, what its files export by the name of the feature, and the keys that it declares. */
function renameFeature(folder: string, feature: string): void {
  const moved = OWN_PACKAGES.includes(feature) ? dirname(folder) : folder
  const target = join(dirname(moved), `renamed-${basename(moved)}`)
  renameSync(moved, target)
  const manifest = join(target, 'package.json')
  if (moved !== folder)
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"@tool-hub/', '"@tool-hub/renamed-'))
  const renamed = moved === folder ? target : join(target, 'src')
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
  const source = readFileSync(`${sourcesOf(feature)}/index.ts`, 'utf8')
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
    ...readIfThere(`${sourcesOf(feature)}/store.ts`).matchAll(/(?:CREATE VIRTUAL TABLE |defineTable\(\s*')(\w+)/g),
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
