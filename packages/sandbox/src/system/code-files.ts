import { existsSync, realpathSync, type Stats } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { realIfThere, statsIfThere } from './paths.ts'
import { readWithoutWaiting } from './trusted-files.ts'

const MAX_FILES = 2_000
const MAX_PACKAGES = 20
const MAX_BYTES = 4 * 1024 ** 2
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'])
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.json', '.node', '/index.js', '/index.mjs', '/index.ts']
/** What `from`, `import` and `require` name, in any of the three quotes, and the code that `new URL` names. */
const SPECIFIER = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*(?:\/\*.*?\*\/\s*)?(['"`])([^'"`\n]+)\1/g
const CODE_URL = /\bURL\s*\(\s*(['"`])([^'"`\n]+\.[cm]?[jt]s)\1/g
const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import|import[ \t]+([\w., \t]+))/gm

/**
 * Returns a file of code with everything it imports, as far as its text shows: files named by a path, with their
 * imports; packages, with their dependencies; and the nearer places where those would be searched for first.
 */
export function codeFiles(file: string): string[] {
  const found = new Set<string>()
  const places = new Set<string>()
  const open = [resolve(file)]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path) || found.size >= MAX_FILES) continue
    found.add(path)
    // The target of a link imports from its own folder, not from that of the link.
    const real = realIfThere(path)
    if (real !== path) open.push(real)
    const text = real === path ? readCode(path) : undefined
    if (text === undefined) continue
    const imported = extname(path) === '.py' ? pythonImports(path, text) : javascriptImports(path, text)
    open.push(...imported.files)
    for (const place of imported.places) places.add(place)
  }
  return joinPackages(new Set([...found, ...places]))
}

/** A package.json by which a package name means the project around it. */
export interface SelfReference {
  readonly manifest: string
  readonly name: string
}

/**
 * Returns the package.json through which a file, or one that it imports, would import its own project by a package
 * name: Node looks there before `node_modules`. Returns `undefined` if there is none.
 */
export function selfReference(file: string): SelfReference | undefined {
  for (const path of codeFiles(file)) {
    const text = path.includes('/node_modules/') ? undefined : readCode(path)
    const names = text === undefined ? [] : packagesIn(text)
    const manifest = names.length > 0 ? nearestManifest(dirname(path)) : undefined
    const name = manifest && nameIn(manifest)
    if (manifest && name !== undefined && names.includes(name)) return { manifest, name }
  }
  return undefined
}

/** Returns the package.json that applies to code in this folder. */
export function nearestManifest(folder: string): string | undefined {
  const manifest = join(folder, 'package.json')
  if (statsIfThere(manifest)) return manifest
  return dirname(folder) === folder ? undefined : nearestManifest(dirname(folder))
}

function nameIn(manifest: string): string | undefined {
  try {
    const { name } = readManifest(manifest)
    return typeof name === 'string' ? name : undefined
  } catch {
    // Node cannot read it either, and reports it.
    return undefined
  }
}

/** Returns the folders in which Node searches for packages that code in this folder imports, nearest first. */
export function nodeModulesOf(folder: string): string[] {
  const above = dirname(folder) === folder ? [] : nodeModulesOf(dirname(folder))
  return basename(folder) === 'node_modules' ? above : [join(folder, 'node_modules'), ...above]
}

interface Imports {
  /** Files to read next. */
  readonly files: readonly string[]
  readonly places: readonly string[]
}

function javascriptImports(path: string, text: string): Imports {
  const names = namesIn(text)
  const files = names
    .filter((name) => /^\.{0,2}\//.test(name))
    .flatMap((name) => existing(resolve(dirname(path), name)))
  // The nearest package.json says where `#names` lead.
  const manifest = names.some((name) => name.startsWith('#')) ? nearestManifest(dirname(path)) : undefined
  return { files, places: [...(manifest ? [manifest] : []), ...packagePlaces(dirname(path), packagesIn(text))] }
}

function namesIn(text: string): string[] {
  return [...text.matchAll(SPECIFIER), ...text.matchAll(CODE_URL)].map((match) => match[2]!)
}

function packagesIn(text: string): string[] {
  return namesIn(text)
    .filter((name) => /^[@\w]/.test(name) && !name.includes(':'))
    .map(packageName)
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Returns where packages are found from a folder, with their dependencies, and where others could shadow them. */
function packagePlaces(folder: string, names: readonly string[]): string[] {
  const places = new Set<string>()
  const open = names.map((name) => ({ folder, name }))
  for (let wanted = open.pop(); wanted && places.size < MAX_FILES; wanted = open.pop()) {
    for (const modules of nodeModulesOf(wanted.folder)) {
      const place = join(modules, wanted.name)
      const isNew = !places.has(place)
      places.add(place)
      if (!statsIfThere(place)) continue
      const real = realpathSync(place)
      places.add(real)
      if (isNew) open.push(...dependenciesOf(real).map((name) => ({ folder: real, name })))
      break
    }
  }
  return [...places]
}

function dependenciesOf(folder: string): string[] {
  try {
    const manifest = readManifest(join(folder, 'package.json'))
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest
    return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  } catch {
    // A package that cannot be read cannot be imported.
    return []
  }
}

/** Replaces many packages of one `node_modules` by the whole folder: each place costs every command a mount. */
function joinPackages(found: ReadonlySet<string>): string[] {
  const folders = new Map<string, number>()
  const modulesOf = (path: string) => /^(.*\/node_modules)\/(?:@[^/]+\/)?[^/]+$/.exec(path)?.[1]
  for (const path of found) {
    const modules = modulesOf(path)
    if (modules) folders.set(modules, (folders.get(modules) ?? 0) + 1)
  }
  const whole = [...folders].filter(([, count]) => count > MAX_PACKAGES).map(([folder]) => folder)
  return [...whole, ...[...found].filter((path) => !whole.some((folder) => path.startsWith(`${folder}/`)))]
}

/** Python searches the folder of the script first, also for modules of its standard library. */
function pythonImports(path: string, text: string): Imports {
  const names = [...text.matchAll(PYTHON_IMPORT)].flatMap((match) => (match[1] ?? match[2]!).split(','))
  const places = names
    .map((name) => name.trim().split(/\s/)[0]!.replace(/^\.+/, '').split('.')[0]!)
    .filter((name) => name !== '')
    .flatMap((name) => [join(dirname(path), `${name}.py`), join(dirname(path), name)])
  return { files: places.filter((place) => place.endsWith('.py') && fileAt(place)), places }
}

function existing(path: string): string[] {
  const found = ENDINGS.map((ending) => path + ending).find((candidate) => fileAt(candidate))
  return [found ?? path]
}

function readCode(path: string): string | undefined {
  if (!JAVASCRIPT.has(extname(path)) && extname(path) !== '.py') return undefined
  const stats = fileAt(path)
  return stats && readNow(path)
}

/** A command may have put a pipe in its place, which would be waited for. Undefined for what is not a file. */
function readNow(path: string): string | undefined {
  return readWithoutWaiting(realIfThere(path), MAX_BYTES)?.toString('utf8')
}

function readManifest(path: string) {
  return JSON.parse(readNow(path) ?? '{}')
}

/** Returns the stats of a regular file, also through a link; what cannot be reached cannot be imported. */
function fileAt(path: string): Stats | undefined {
  const stats = statsIfThere(realIfThere(path))
  return stats?.isFile() ? stats : undefined
}

const CHECK_MS = 5_000

/**
 * Returns the 1-based line of a module at which importing it failed with this SyntaxError. Node prints the line of text
 * that it cannot parse only on a terminal, so `node --check` is run, which parses the file without executing it.
 * Returns `undefined` for other errors, and if the error is in another file.
 */
export async function syntaxLine(path: string, error: unknown): Promise<number | undefined> {
  if (!(error instanceof Error) || error.name !== 'SyntaxError') return undefined
  // For a name that another module does not export, the stack has the line.
  const said = (await checkSyntax(path)) ?? error.stack ?? ''
  const [, file = '', line] = /^([^\n]*):(\d+)\n/.exec(said) ?? []
  return file.includes(basename(path)) ? Number(line) : undefined
}

/** Returns what Node reports, from `/srv/tools/a.mjs:3` on. */
async function checkSyntax(path: string): Promise<string | undefined> {
  const { execFile } = await import('node:child_process')
  try {
    await promisify(execFile)(process.execPath, ['--check', path], { timeout: CHECK_MS, env: {} })
    return undefined
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr)
  }
}

const NODE = /(^|\/)(node|bun|deno|tsx|ts-node)$/
/** `npx NAME`; the others run a package by a subcommand. */
const RUNS_PACKAGE = /(^|\/)(npx|pnpx|bunx)$/
const HAS_SUBCOMMAND = /(^|\/)(npm|pnpm|yarn|bun)$/
const SUBCOMMANDS = new Set(['exec', 'x', 'dlx'])

/**
 * Returns the package.json through which a command line that names a package would run a program of the project around
 * it: anybody who can write that file chooses what runs. Returns `undefined` if there is none.
 */
export function takenOver(argv: readonly string[], cwd: string = process.cwd()): SelfReference | undefined {
  const [program = '', ...words] = argv
  const manifest = nearestManifest(resolve(cwd))
  const name = manifest && packagesNamed(program, words).find((each) => programsIn(manifest).includes(each))
  if (manifest && name !== undefined) return { manifest, name }
  const files = [program.includes('/') ? program : '', ...(NODE.test(program) ? words : [])]
  for (const file of files.filter((each) => each !== '' && !each.startsWith('-'))) {
    const path = resolve(cwd, file)
    const found = existsSync(path) ? selfReference(path) : undefined
    if (found) return found
  }
  return undefined
}

/** Returns the packages that a command line names, without versions. */
function packagesNamed(program: string, words: readonly string[]): string[] {
  const plain = words.filter((word) => !word.startsWith('-'))
  const isSubcommand = HAS_SUBCOMMAND.test(program) && SUBCOMMANDS.has(plain[0] ?? '')
  if (!isSubcommand && !RUNS_PACKAGE.test(program)) return []
  const options = words.flatMap((word, index) => {
    if (word === '-p' || word === '--package') return words[index + 1] ?? []
    return word.startsWith('--package=') ? word.slice('--package='.length) : []
  })
  const named = [
    ...options,
    ...plain
      .slice(isSubcommand ? 1 : 0)
      .filter((word) => !options.includes(word))
      .slice(0, 1),
  ]
  return named.map((word) => word.replace(/(?!^)@.*$/, ''))
}

/** Returns the names by which a package runner would run the project itself. */
function programsIn(manifest: string): string[] {
  try {
    const { name, bin } = readManifest(manifest)
    const own = typeof name === 'string' ? [name, name.replace(/^.*\//, '')] : []
    if (typeof bin === 'string') return own
    return typeof bin === 'object' && bin !== null ? [...own, ...Object.keys(bin)] : []
  } catch {
    // The runner cannot read it either, and reports it.
    return []
  }
}
