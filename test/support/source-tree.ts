import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Source {
  readonly path: string
  /** The package that the file belongs to or, where there are none, the folder of `src`. */
  readonly unit: string
  readonly text: string
  readonly lines: number
}

export interface Import {
  readonly from: Source
  /** Undefined for an import of a package by its name. */
  readonly to: Source | undefined
  readonly unit: string
}

export interface SourceTree {
  /** What is shipped: no tests, no generated files, no console. */
  readonly sources: readonly Source[]
  readonly imports: readonly Import[]
  /** What people read besides the sources: pages and the console. The changelog is history. */
  readonly shown: readonly Source[]
  /** Tests and scripts. */
  readonly behind: readonly Source[]
  readonly isWorkspace: boolean
}

/** The files of `src` that are in no folder of it. */
export const ROOT_UNIT = '(root)'

/** Folders that are not part of the repository. */
const SKIPPED =
  /(^|\/)(\.git|node_modules|dist|\.tool-hub)$|^runs$|^packages\/tool-hub\/(docs|deploy|README\.md|SCOPE\.md|CHANGELOG\.md)$/
const TEST = /\.(test|test-d|examples|bench)\.tsx?$|(^|\/)test\/|store-suite/
const CONSOLE = /^(packages\/)?console\//
const SCRIPT = /^(scripts|conformance|lab)\/|^(packages\/[^/]+\/)?test\//

/** Regular expressions are exact enough for the style of this code. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g

/** Reads this project as it is on disk: a workspace of packages, or one package whose units are the folders of `src`. */
export function readSourceTree(): SourceTree {
  const isWorkspace = existsSync('packages')
  const paths = filesBelow('.').filter((path) => !/generated|CHANGELOG/.test(path))
  const isTypeScript = (path: string) => /\.tsx?$/.test(path)
  const isOwn = (path: string) => isTypeScript(path) && path.startsWith(isWorkspace ? 'packages/' : 'src/')
  const read = (path: string): Source => {
    const text = readFileSync(path, 'utf8')
    return { path, unit: unitOf(path, isWorkspace), text, lines: text.split('\n').length - 1 }
  }
  const sources = paths.filter((path) => isOwn(path) && !TEST.test(path) && !CONSOLE.test(path)).map(read)
  const shipped = new Set(sources.map(({ path }) => path))
  const isShown = (path: string) =>
    path.endsWith('.md') || (isTypeScript(path) && !TEST.test(path) && (CONSOLE.test(path) || path.startsWith('docs/')))
  const isBehind = (path: string) =>
    (isTypeScript(path) || path.endsWith('.mjs')) && (TEST.test(path) || SCRIPT.test(path))
  return {
    sources,
    imports: importsBetween(sources, isWorkspace ? unitsByName() : new Map()),
    shown: paths.filter((path) => !shipped.has(path) && isShown(path)).map(read),
    behind: paths.filter((path) => !shipped.has(path) && isBehind(path)).map(read),
    isWorkspace,
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED.test(path) ? [] : filesBelow(path)
    return entry.isFile() && !SKIPPED.test(path) ? [path] : []
  })
}

function unitOf(path: string, isWorkspace: boolean): string {
  const parts = path.split('/')
  return isWorkspace || parts.length > 2 ? parts[1]! : ROOT_UNIT
}

/** The packages of the workspace by the names that others import. */
function unitsByName(): Map<string, string> {
  const folders = readdirSync('packages').filter((folder) => existsSync(`packages/${folder}/package.json`))
  return new Map(
    folders.map((folder) => [JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8')).name, folder]),
  )
}

function importsBetween(sources: readonly Source[], units: ReadonlyMap<string, string>): Import[] {
  const known = new Map(sources.map((source) => [source.path, source]))
  return sources.flatMap((from) =>
    [...from.text.matchAll(IMPORT)].flatMap((match): Import[] => {
      const specifier = match[1] ?? match[2]!
      if (!specifier.startsWith('.')) {
        const unit = units.get(packageOf(specifier))
        return unit === undefined ? [] : [{ from, to: undefined, unit }]
      }
      const base = normalize(join(dirname(from.path), specifier))
      const spellings = [base, `${base}.ts`, `${base}.tsx`, base.replace(/\.js$/, '.ts'), `${base}/index.ts`]
      const to = spellings.map((path) => known.get(path)).find((source) => source !== undefined)
      return to === undefined || to === from ? [] : [{ from, to, unit: to.unit }]
    }),
  )
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
