import { cyclesOf } from './cycles.ts'
import { type Import, ROOT_UNIT, readSourceTree, type Source } from './source-tree.ts'

/** One number that describes the source tree, and what it counts, for a message that helps. */
export interface Measure {
  readonly value: number
  readonly offenders: readonly string[]
}

export type House = ReturnType<typeof measureHouse>

const INDEX = /\/index\.tsx?$/
const EXPORT =
  /(?:^|\n)export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+([A-Za-z_$][\w$]*)/g

/** Words that CONVENTIONS.md replaces by the words of the field. */
const AWKWARD_WORDS =
  /\b(unless\s+said|give\s+back|gives\s+back|given\s+back|goes\s+on|at\s+once|whoever|is\s+told|are\s+told|hears\s+of|doorkeeper|visitor|post[- ]office|letter\s+box|(?:ask|question|approval|session|memory|message|token|policy|call)[- ]?desk|ask[- ]board|browser[- ]house|waiting[- ]room|MOST_[A-Z_]+|LONGEST_[A-Z_]+|DEEPEST_[A-Z_]+|LARGEST_[A-Z_]+)\b/gi
/** Those, and pictures that tests and scripts are still full of. */
const PICTURES =
  /\b(unless\s+said|gives?\s+back|given\s+back|goes\s+on|at\s+once|whoever|(?:is|are|was|were)\s+told|hears?\s+of|\w*[Dd]esks?|shel(?:f|ves)|jails?|fenc(?:ed?|es)|ProgramFences?|refuseUnfenced|this\s+very|is\s+no\s+[a-z]+|(?:MOST|LONGEST|DEEPEST|LARGEST)_[A-Z_]+)\b/g

/** Names of the documents that tool-hub was written from, which a reader cannot know. */
const PRIVATE_LABELS = /\bS[0-4](?:-\d+|'s|\b(?= (?:form|asks|says|format|config)))/g

const CASTS_THROUGH_UNKNOWN = /\bas unknown as\b/g
/** A class expression with a parent: a function that makes one for the parent it is given. */
const MIXINS = /(?:\breturn|=>?|[(,?:])\s*class\b[^{]*\bextends\b/g
const PROXIES = /\bnew Proxy\b|\bProxy\.revocable\b/g
const CONDITIONAL_SPREADS = /\.\.\.\(\s*[\w.?!]+(?:\s*!==\s*undefined)?\s*&&\s*\{/g
const PARTICIPLE_TYPES =
  /(?:^|\n)(?:export )?(?:type|interface) (?:Known|Said|Given|Taken|Made|Left|Held|Wanted|Told|Asked|Kept|Found|Shown|Lost)\b/g
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/.*/g
const MANY_MACHINES = /\b(cluster|ClusterMember|workerLabels|sharedStore|isShared|runOn|RunLease)\b/i
/** Where many machines are at home. */
const WING = /^packages\/cluster\/|^src\/(?:.*\/)?(?:cluster|worker|shipping)[/.-]|postgres|block-budgets/

/** Measures the sources of this project as they are on disk, without tests, generated files and the console. */
export function measureHouse() {
  const { sources, imports, shown, behind, isWorkspace } = readSourceTree()
  const texts = [...sources, ...shown]
  return {
    files: { value: sources.length, offenders: sizesOfUnits(sources, () => 1) },
    lines: { value: linesOf(sources), offenders: sizesOfUnits(sources, ({ lines }) => lines) },
    linesOfLargestUnit: largestUnit(sources),
    longestFile: longestFile(sources),
    shareUnder30: share(sources, ({ lines }) => lines < 30),
    shareFrom60To250: shareFrom60To250(sources),
    shareWithOneUser: shareWithOneUser(sources, imports),
    namesWithTwoHomes: count(namesWithTwoHomes(sources)),
    importsPastIndex: count(importsPastIndex(imports, isWorkspace)),
    unitsInCycles: unitsInCycles(imports),
    filesInLargestCycle: filesInLargestCycle(imports),
    fieldsOfCall: count(fieldsOfCall(sources)),
    filesThatKnowManyMachines: count(filesThatKnowManyMachines(sources)),
    conditionalSpreads: occurrences(sources, CONDITIONAL_SPREADS),
    participleTypes: occurrences(sources, PARTICIPLE_TYPES),
    awaitables: occurrences(sources, /\bAwaitable</g),
    checksForPromises: occurrences(sources, /instanceof Promise/g),
    awkwardWords: occurrences(texts, AWKWARD_WORDS),
    awkwardWordsEverywhere: occurrences([...texts, ...behind], PICTURES),
    privateLabels: occurrences(texts, PRIVATE_LABELS),
    castsThroughUnknown: occurrences(sources, CASTS_THROUGH_UNKNOWN),
    mixins: occurrences(sources, MIXINS),
    proxies: occurrences(sources, PROXIES),
  }
}

function largestUnit(sources: readonly Source[]): Measure {
  const offenders = sizesOfUnits(sources, ({ lines }) => lines)
  const units = new Set(sources.map(({ unit }) => unit))
  const sizes = [...units].map((unit) => linesOf(sources.filter((source) => source.unit === unit)))
  return { value: Math.max(...sizes), offenders }
}

function longestFile(sources: readonly Source[]): Measure {
  const largest = sources.toSorted((one, other) => other.lines - one.lines)
  return { value: largest[0]!.lines, offenders: largest.slice(0, 20).map(withLines) }
}

/** In percent of the files, like every share. */
function share(sources: readonly Source[], matches: (source: Source) => boolean): Measure {
  const found = sources.filter(matches)
  return { value: (100 * found.length) / sources.length, offenders: found.map(withLines) }
}

/** Its offenders are the files that are smaller or larger. */
function shareFrom60To250(sources: readonly Source[]): Measure {
  const other = share(sources, ({ lines }) => lines < 60 || lines > 250)
  return { value: 100 - other.value, offenders: other.offenders }
}

/** Files that one other file imports, and nothing else, not even an index: helpers that could lie beside their user. */
function shareWithOneUser(sources: readonly Source[], imports: readonly Import[]): Measure {
  const importers = groupBy(imports, ({ to, from }) => (to === undefined ? undefined : [to, from]))
  return share(sources, (source) => {
    const users = [...(importers.get(source) ?? [])]
    return users.length === 1 && !INDEX.test(users[0]!.path) && !INDEX.test(source.path)
  })
}

function namesWithTwoHomes(sources: readonly Source[]): string[] {
  const exported = sources.flatMap(({ path, text }) => [...text.matchAll(EXPORT)].map((match) => [match[1]!, path]))
  const homes = groupBy(exported, ([name, path]) => [name!, path!])
  return [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
}

/** Between packages, imports have names: a path into another package is past its entry points, even to an index. */
function importsPastIndex(imports: readonly Import[], isWorkspace: boolean): string[] {
  return imports.flatMap(({ from, to, unit }) => {
    if (to === undefined || from.unit === unit || unit === ROOT_UNIT) return []
    return isWorkspace || !INDEX.test(to.path) ? [`${from.path} imports ${to.path}`] : []
  })
}

function unitsInCycles(imports: readonly Import[]): Measure {
  const cycles = cyclesOf(groupBy(imports, ({ from, unit }) => (from.unit === unit ? undefined : [from.unit, unit])))
  return { value: cycles.flat().length, offenders: cycles.map((cycle) => cycle.sort().join(' ')) }
}

/** Types count, too: files that import each other are read together. */
function filesInLargestCycle(imports: readonly Import[]): Measure {
  const cycles = cyclesOf(groupBy(imports, ({ from, to }) => (to === undefined ? undefined : [from.path, to.path])))
  return {
    value: cycles[0]?.length ?? 0,
    offenders: cycles.map((cycle) => `${cycle.length}: ${cycle.sort().join(' ')}`),
  }
}

function fieldsOfCall(sources: readonly Source[]): string[] {
  const bodies = sources.flatMap(({ text }) => text.match(/\b(?:class|interface) Call\b[\s\S]*?\n}/)?.[0] ?? [])
  if (bodies.length !== 1) throw new Error(`${bodies.length} files declare Call: say here which one is measured.`)
  const fields = bodies[0]!.matchAll(/^ {2}(?:readonly |#|private |declare )*([a-zA-Z]\w*)[?!]?(?:: |\s=\s)/gm)
  return [...fields].map((match) => match[1]!)
}

function filesThatKnowManyMachines(sources: readonly Source[]): string[] {
  const outside = sources.filter(({ path }) => !WING.test(path))
  return outside.filter(({ text }) => MANY_MACHINES.test(text.replaceAll(COMMENT, ''))).map(({ path }) => path)
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

function withLines({ path, lines }: Source): string {
  return `${path} (${lines} lines)`
}

function sizesOfUnits(sources: readonly Source[], sizeOf: (source: Source) => number): string[] {
  const sizes = new Map<string, number>()
  for (const source of sources) sizes.set(source.unit, (sizes.get(source.unit) ?? 0) + sizeOf(source))
  return [...sizes].sort(([, one], [, other]) => other - one).map(([unit, size]) => `${unit} ${size}`)
}

function groupBy<T, K>(items: readonly T[], pair: (item: T) => readonly [K, K] | undefined): Map<K, Set<K>> {
  const groups = new Map<K, Set<K>>()
  for (const item of items) {
    const found = pair(item)
    if (found === undefined) continue
    groups.set(found[0], (groups.get(found[0]) ?? new Set()).add(found[1]))
  }
  return groups
}
