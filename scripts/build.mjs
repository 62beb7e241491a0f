// Builds dist of the packages that are published: declarations with plain tsc, the code with rolldown. A stale dist never
// survives a build, and one that was built from the same files is kept.
// Many small files are pleasant to read and slow to load: joined, `import('tool-hub')` takes half the time.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { compileTypes, writeDeclarations } from './build/declare-types.mjs'

const PACKAGES = resolve('packages')
/** What the library runs by the name of its file: packages/sandbox/src/system/own-file.ts knows where they are. */
const LIBRARY_RUNS = [
  'runtime/records/log/verify-worker',
  'sandbox/pages/page-worker',
  'sandbox/exec/spawner/spawner-main',
]
/** What the library reads as it is. */
const LIBRARY_READS = [
  ['packages/policy/src/default.yaml', 'policy/default.yaml'],
  ['node_modules/tree-sitter-bash/tree-sitter-bash.wasm', 'runtime/hub/tree-sitter-bash.wasm'],
  asItIs('sandbox/exec/bridge/bridge-main.mjs'),
]

/** The packages that are published, each with everything of this workspace that it needs inside. */
const PUBLISHED = [
  {
    unit: 'tool-hub',
    runs: [
      'cli/main',
      ...LIBRARY_RUNS,
      'code/engine/engine-worker',
      // For the conformance suite, which signs in as a person would.
      'mcp/manage/sign-in',
    ],
    reads: [
      ...LIBRARY_READS,
      asItIs('code/engine/guest.mjs'),
      ...['child-main', 'child-context', 'child-wire'].map((name) =>
        asItIs(`adapters/sources/plugins/isolated/${name}.mjs`),
      ),
    ],
    /** What processes load before they are of use, besides entries and programs: `tool-hub list` and `tool-hub mcp`. */
    starts: [
      ['tool-hub/src/cli/commands/list'],
      [
        'tool-hub/src/cli/commands/mcp',
        'config/src/read-config',
        'server/src/mcp/index',
        'server/src/mcp/connect-stdio',
      ],
    ],
    /** What the package has besides its own folder, as copies: npm packs no links. */
    copies: ['docs', 'deploy', 'README.md', 'SCOPE.md', 'CHANGELOG.md', 'LICENSE'],
  },
  { unit: 'base', runs: LIBRARY_RUNS, reads: LIBRARY_READS, starts: [], copies: ['CHANGELOG.md', 'LICENSE'] },
]
/** The entries that processes start with. */
const FIRST_ENTRIES = ['index', 'client']
/**
 * Packages that are loaded at a start: taken in as far as they are used, they load in a third of the time. With them what
 * they import: package.json lists none of that, so a strict package manager would not find it.
 */
const TAKEN_IN =
  /^(zod|yaml|commander|image-size|picomatch|ipaddr\.js|lru-cache|get-east-asian-width|@modelcontextprotocol\/[a-z]+|eventsource(-parser)?|pkce-challenge)(\/|$)/
/** The packages of this workspace: published ones have them inside. */
const OWN_PACKAGE = /^@tool-hub\//
const OWN_FILE = '#own-file'

/** The digest of everything dist was built from; written last, so an interrupted build has none. */
const BUILT_FROM = 'packages/tool-hub/dist/.built-from'

for (const { unit, copies } of PUBLISHED) {
  for (const name of copies) {
    rmSync(`packages/${unit}/${name}`, { recursive: true, force: true })
    cpSync(name, `packages/${unit}/${name}`, { recursive: true })
  }
}
const inputs = digestInputs()
if (existsSync(BUILT_FROM) && readFileSync(BUILT_FROM, 'utf8') === inputs) process.exit()
console.error(`Building dist of ${PUBLISHED.map(({ unit }) => unit).join(' and ')}: about 20 seconds.`)
rmSync(BUILT_FROM, { force: true })
compileTypes(PUBLISHED.map(({ unit }) => unit))
for (const published of PUBLISHED) await buildPackage(published)
await buildConsole()
writeFileSync(BUILT_FROM, inputs)

async function buildPackage({ unit, runs, reads, starts }) {
  const dist = `packages/${unit}/dist`
  const { exports } = JSON.parse(readFileSync(`packages/${unit}/package.json`, 'utf8'))
  /** What people import: the declarations and the code of each entry of the package. */
  const entries = Object.values(exports).filter(({ types }) => types)
  const declarations = entries.map(({ types }) => types.replace('./dist/types/', ''))
  /** The modules that keep a name: the source of each by its name in dist. */
  const named = new Map([
    ...entries.map((entry, at) => [/([^/]+)\.js$/.exec(entry.default)[1], sourceOfDeclaration(declarations[at])]),
    ...runs.map((name) => [name, sourceOf(name)]),
  ])
  const first = [...FIRST_ENTRIES.filter((name) => named.has(name)), ...runs].map((name) => [named.get(name)])
  const startSources = [...first, ...starts.map((paths) => paths.map((path) => `${PACKAGES}/${path}.ts`))]
  rmSync(dist, { recursive: true, force: true })
  writeDeclarations(`${dist}/types`, declarations)
  await join(dist, new Map([['system/own-file', sourceOf('sandbox/system/own-file')]]), startSources)
  await join(dist, named, startSources, { plugins: [keepOwnFile()] })
  for (const [from, to] of reads) {
    mkdirSync(dirname(`${dist}/${to}`), { recursive: true })
    copyFileSync(from, `${dist}/${to}`)
  }
  if (named.has('cli/main')) chmodSync(`${dist}/cli/main.js`, 0o755)
}

function digestInputs() {
  const hash = createHash('sha256').update(process.version)
  const files = [
    'packages',
    'scripts/build.mjs',
    'scripts/build',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ]
  for (const file of files.flatMap(filesBelow)) hash.update(`\0${file}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

/** The files that a build reads: no tests, and nothing that it wrote. */
function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !/^(dist|docs|deploy|node_modules)$|\.test\.ts$|\.md$/.test(name))
    .flatMap(({ name }) => filesBelow(`${path}/${name}`))
    .sort()
}

/** The source of a module by its name in dist: its package and its path there; the package tool-hub is the root of dist. */
function sourceOf(name) {
  const own = `${PACKAGES}/tool-hub/src/${name}.ts`
  if (existsSync(own)) return own
  const [unit, ...rest] = name.split('/')
  return `${PACKAGES}/${unit}/src/${rest.join('/')}.ts`
}

function sourceOfDeclaration(path) {
  const [, unit, file] = /^([^/]+)\/(.+)\.d\.ts$/.exec(path)
  return `${PACKAGES}/${unit}/src/${file}.ts`
}

/** A file of a package that is read or run as it is, and where it is in dist. */
function asItIs(path) {
  return [`packages/${path.replace('/', '/src/')}`, path]
}

/** The page of the service, with its own tools. */
async function buildConsole() {
  const { build } = await import('vite')
  await build({ configFile: 'packages/console/vite.config.ts', root: 'packages/console', logLevel: 'warn' })
}

/** Joins the modules that these need to few files. `starts`: the modules that each process loads before it is of use. */
async function join(dist, named, starts, options = {}) {
  const input = {
    input: Object.fromEntries(named),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: (id) => /^[a-z@]/.test(id) && !TAKEN_IN.test(id) && !OWN_PACKAGE.test(id),
    logLevel: 'warn',
    // The library has what the command line imports later.
    checks: { ineffectiveDynamicImport: false },
    ...options,
  }
  const comments = { jsdoc: false, annotation: false, legal: true }
  const output = { dir: dist, format: 'esm', comments, chunkFileNames: 'chunks/[name]-[hash].js' }
  const split = await rolldown({ ...input, logLevel: 'silent' })
  const chunks = (await split.generate(output)).output.filter(({ type }) => type === 'chunk')
  const name = partOf(chunks, starts)
  await split.close()
  const bundle = await rolldown(input)
  // Not minified: Node prints the line that threw, and people read it.
  const codeSplitting = { includeDependenciesRecursively: false, groups: [{ name, debugName: 'parts' }] }
  await bundle.write({ ...output, codeSplitting })
  await bundle.close()
}

/**
 * Names the file that a module goes to. Without it every module that something imports later is a file of its own: what
 * `import 'tool-hub'` needs was 87 files, and is 16 now, which takes 50 of 160 ms off.
 */
function partOf(chunks, starts) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const startsOf = new Map()
  for (const [index, sources] of starts.entries()) {
    const isFirst = ({ facadeModuleId }) => sources.includes(facadeModuleId)
    const loaded = new Set(chunks.filter(isFirst))
    // A set also iterates over what is added meanwhile.
    for (const { imports } of loaded) for (const file of imports) if (byFile.has(file)) loaded.add(byFile.get(file))
    for (const module of [...loaded].flatMap(({ moduleIds }) => moduleIds))
      startsOf.set(module, `${startsOf.get(module) ?? ''} ${index}`)
  }
  // A program runs as soon as its own module is loaded, so nothing else may be in the same file.
  for (const { isEntry, facadeModuleId } of chunks) if (isEntry) startsOf.delete(facadeModuleId)
  // Modules that the same starts load are one part; it imports only parts that all of those load, too.
  const parts = [...new Set(startsOf.values())]
  return (module) => (startsOf.has(module) ? `part-${parts.indexOf(startsOf.get(module))}` : null)
}

/** It says where the others are, so it is imported by its own path. */
function keepOwnFile() {
  return {
    name: 'keep-own-file',
    resolveId: (id) => (id.endsWith('/own-file.ts') ? { id: OWN_FILE, external: true } : null),
    renderChunk: (code, { fileName }) =>
      code.replaceAll(`"${OWN_FILE}"`, `"${'../'.repeat(fileName.split('/').length - 1) || './'}system/own-file.js"`),
  }
}
