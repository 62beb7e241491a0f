import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** One number that describes the source tree, and what it counts, for a message that helps. */
export interface Measure {
  readonly value: number
  readonly offenders: readonly string[]
}

export interface House {
  readonly files: Measure
  readonly lines: Measure
  /** In percent of the files, like every share. */
  readonly shareUnder30: Measure
  /** Its offenders are the files that are smaller or larger. */
  readonly shareFrom60To250: Measure
  readonly shareWithSingleImporter: Measure
  readonly namesWithTwoHomes: Measure
  readonly importsPastIndex: Measure
  /** Folders that import each other, directly or through others; types count. */
  readonly foldersInCycles: Measure
  readonly awkwardWords: Measure
  readonly privateLabels: Measure
  readonly castsThroughUnknown: Measure
  readonly mixins: Measure
  readonly proxies: Measure
}

interface Source {
  readonly path: string
  readonly text: string
  readonly lines: number
}

interface Import {
  readonly from: string
  readonly to: string
}

const ROOT = 'src'

/** Folders that are not part of the repository. */
const SKIPPED = /(^|\/)(\.git|node_modules|dist|\.tool-hub)$|^runs$/

const TEST = /\.(test|test-d|examples|bench)\.tsx?$/
const GENERATED = /\.generated\.tsx?$/
const INDEX = /\/index\.tsx?$/

/** Regular expressions are exact enough for the style of this code. */
const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'";]*?from\s*['"](\.[^'"]+)['"]|import\(\s*['"](\.[^'"]+)['"]\s*\)/g
const EXPORT =
  /(?:^|\n)export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+([A-Za-z_$][\w$]*)/g

/** Words that CONVENTIONS.md replaces by the words of the field. */
const AWKWARD_WORDS =
  /\b(unless said|give back|gives back|given back|goes on|at once|whoever|is told|are told|hears of|doorkeeper|visitor|post[- ]office|letter box|(?:ask|question|approval|session|memory|message|token|policy|call)[- ]?desk|ask[- ]board|browser[- ]house|waiting[- ]room|MOST_[A-Z_]+|LONGEST_[A-Z_]+|DEEPEST_[A-Z_]+|LARGEST_[A-Z_]+)\b/gi

/** Names of the documents that tool-hub was written from, which a reader cannot know. */
const PRIVATE_LABELS = /\bS[0-4](?:-\d+|'s|\b(?= (?:form|asks|says|format|config)))/g

const CASTS_THROUGH_UNKNOWN = /\bas unknown as\b/g
/** A class expression with a parent: a function that makes one for the parent it is given. */
const MIXINS = /(?:\breturn|=>?|[(,?:])\s*class\b[^{]*\bextends\b/g
const PROXIES = /\bnew Proxy\b|\bProxy\.revocable\b/g

/** Measures the sources of this project as they are on disk, without tests and generated files. */
export function measureHouse(): House {
  const paths = filesBelow('.')
  const sources = paths.filter((path) => path.startsWith(`${ROOT}/`) && isOwnCode(path)).map(read)
  const imports = importsBetween(sources)
  const texts = [...sources, ...paths.filter(isShownToReaders).map(read)]
  return {
    files: { value: sources.length, offenders: sizesOfFolders(sources, () => 1) },
    lines: { value: linesOf(sources), offenders: sizesOfFolders(sources, ({ lines }) => lines) },
    ...sharesOf(sources, imports),
    namesWithTwoHomes: count(namesWithTwoHomes(sources)),
    importsPastIndex: count(importsPastIndex(imports)),
    foldersInCycles: foldersInCycles(imports),
    awkwardWords: occurrences(texts, AWKWARD_WORDS),
    privateLabels: occurrences(texts, PRIVATE_LABELS),
    castsThroughUnknown: occurrences(sources, CASTS_THROUGH_UNKNOWN),
    mixins: occurrences(sources, MIXINS),
    proxies: occurrences(sources, PROXIES),
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED.test(path) ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

function isOwnCode(path: string): boolean {
  return /\.tsx?$/.test(path) && !TEST.test(path) && !GENERATED.test(path)
}

/** Pages and the console, whose words people read; the sources are read for words anyway, the changelog is history. */
function isShownToReaders(path: string): boolean {
  if (TEST.test(path) || /CHANGELOG|generated/.test(path)) return false
  return path.endsWith('.md') || (/^(docs|console\/src)\//.test(path) && /\.tsx?$/.test(path))
}

function read(path: string): Source {
  const text = readFileSync(path, 'utf8')
  return { path, text, lines: text.split('\n').length - 1 }
}

function importsBetween(sources: readonly Source[]): Import[] {
  const known = new Set(sources.map(({ path }) => path))
  return sources.flatMap(({ path: from, text }) =>
    [...text.matchAll(IMPORT)].flatMap((match) => {
      const base = normalize(join(dirname(from), match[1] ?? match[2]!))
      const spellings = [base, `${base}.ts`, `${base}.tsx`, base.replace(/\.js$/, '.ts'), `${base}/index.ts`]
      const to = spellings.find((path) => known.has(path))
      return to === undefined || to === from ? [] : [{ from, to }]
    }),
  )
}

function sharesOf(sources: readonly Source[], imports: readonly Import[]) {
  const importers = groupBy(imports, ({ to, from }) => [to, from])
  const isSmall = ({ lines }: Source) => lines < 30
  const isNormal = ({ lines }: Source) => lines >= 60 && lines <= 250
  const hasOneImporter = ({ path }: Source) => importers.get(path)?.size === 1 && !/index\.tsx?$/.test(path)
  const share = (matches: (source: Source) => boolean) => (100 * sources.filter(matches).length) / sources.length
  const named = (matches: (source: Source) => boolean) =>
    sources.filter(matches).map(({ path, lines }) => `${path} (${lines} lines)`)
  return {
    shareUnder30: { value: share(isSmall), offenders: named(isSmall) },
    shareFrom60To250: { value: share(isNormal), offenders: named((source) => !isNormal(source)) },
    shareWithSingleImporter: {
      value: share(hasOneImporter),
      offenders: sources.filter(hasOneImporter).map(({ path }) => `${path} by ${[...importers.get(path)!].join()}`),
    },
  }
}

function namesWithTwoHomes(sources: readonly Source[]): string[] {
  const exported = sources.flatMap(({ path, text }) => [...text.matchAll(EXPORT)].map((match) => [match[1]!, path]))
  const homes = groupBy(exported, ([name, path]) => [name!, path!])
  return [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
}

function importsPastIndex(imports: readonly Import[]): string[] {
  return imports
    .filter(({ from, to }) => folderOf(from) !== folderOf(to) && folderOf(to) !== ROOT && !INDEX.test(to))
    .map(({ from, to }) => `${from} imports ${to}`)
}

/** Folders are in one cycle if each can be reached from the other. */
function foldersInCycles(imports: readonly Import[]): Measure {
  const between = imports.map(({ from, to }) => [folderOf(from), folderOf(to)] as const)
  const next = groupBy(
    between.filter(([from, to]) => from !== to),
    (edge) => edge,
  )
  const reached = new Map([...next.keys()].map((folder) => [folder, reachableFrom(folder, next)]))
  const cycleOf = (folder: string) =>
    [...reached.get(folder)!].filter((other) => reached.get(other)?.has(folder)).sort()
  const inCycles = [...reached.keys()].filter((folder) => cycleOf(folder).length > 0)
  const cycles = new Set(inCycles.map((folder) => cycleOf(folder).join(' ')))
  return { value: inCycles.length, offenders: [...cycles] }
}

/** Includes the folder itself only if a cycle leads back to it. */
function reachableFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const other of next.get(folder) ?? []) {
      if (reached.has(other)) continue
      reached.add(other)
      open.push(other)
    }
  return reached
}

/** The folder directly below the sources, or the root of the sources for a file that is in none. */
function folderOf(path: string): string {
  const parts = path.split('/')
  return parts.length === 2 ? ROOT : parts[1]!
}

/** Counts every occurrence; names each word once a file. */
function occurrences(sources: readonly Source[], pattern: RegExp): Measure {
  let value = 0
  const offenders = sources.flatMap(({ path, text }) => {
    const found = [...text.matchAll(pattern)].map(([word]) => word.trim().replaceAll(/\s+/g, ' '))
    value += found.length
    return found.length === 0 ? [] : [`${path}: ${[...new Set(found)].join(', ')}`]
  })
  return { value, offenders }
}

function count(offenders: readonly string[]): Measure {
  return { value: offenders.length, offenders }
}

function linesOf(sources: readonly Source[]): number {
  return sources.reduce((sum, { lines }) => sum + lines, 0)
}

function sizesOfFolders(sources: readonly Source[], sizeOf: (source: Source) => number): string[] {
  const sizes = new Map<string, number>()
  for (const source of sources) {
    const folder = folderOf(source.path)
    sizes.set(folder, (sizes.get(folder) ?? 0) + sizeOf(source))
  }
  return [...sizes].sort(([, one], [, other]) => other - one).map(([folder, size]) => `${folder} ${size}`)
}

function groupBy<T>(items: readonly T[], pair: (item: T) => readonly [string, string]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>()
  for (const item of items) {
    const [key, value] = pair(item)
    groups.set(key, (groups.get(key) ?? new Set()).add(value))
  }
  return groups
}
