// Builds packages/tool-hub/dist: declarations with plain tsc, the code with rolldown. A stale dist never survives a build,
// and one that was built from the same files is kept.
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
import { declareTypes } from './build/declare-types.mjs'

const PACKAGES = resolve('packages')
const DIST = 'packages/tool-hub/dist'
/** What people import: the declarations and the code of each entry of the package. */
const ENTRIES = Object.values(JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')).exports).filter(
  ({ types }) => types,
)
const DECLARATIONS = ENTRIES.map(({ types }) => types.replace('./dist/types/', ''))
/** The name of the file of each entry, and the source that its declarations are of. */
const PUBLIC = new Map(
  ENTRIES.map((entry, at) => {
    const [, unit, path] = /^([^/]+)\/(.+)\.d\.ts$/.exec(DECLARATIONS[at])
    return [/([^/]+)\.js$/.exec(entry.default)[1], `${PACKAGES}/${unit}/src/${path}.ts`]
  }),
)
/** What is run by the name of its file: packages/sandbox/src/system/own-file.ts knows where they are. */
const RUN = [
  'cli/main',
  'runtime/records/log/verify-worker',
  'sandbox/pages/page-worker',
  'sandbox/exec/spawner/spawner-main',
  'code/engine/engine-worker',
  // For the conformance suite, which signs in as a person would.
  'mcp/manage/sign-in',
]
/**
 * Packages that are loaded at a start: taken in as far as they are used, they load in a third of the time. With them what
 * they import: package.json lists none of that, so a strict package manager would not find it.
 */
const TAKEN_IN =
  /^(zod|yaml|commander|image-size|picomatch|ipaddr\.js|lru-cache|get-east-asian-width|@modelcontextprotocol\/[a-z]+|eventsource(-parser)?|pkce-challenge)(\/|$)/
/** The packages of this workspace: tool-hub has them inside. */
const OWN_PACKAGE = /^@tool-hub\//
/** What processes load before they are of use: the library, the client, each program, `tool-hub list` and `tool-hub mcp`. */
const STARTS = [
  ...['index', 'client', ...RUN, 'cli/commands/list'].map((name) => [sourceOf(name)]),
  [
    sourceOf('cli/commands/mcp'),
    ...['config/src/read-config', 'server/src/mcp/index', 'server/src/mcp/connect-stdio'].map(
      (path) => `${PACKAGES}/${path}.ts`,
    ),
  ],
]
const OWN_FILE = '#own-file'
/** What is read as it is. */
const READ = [
  ['packages/policy/src/default.yaml', 'policy/default.yaml'],
  ['node_modules/tree-sitter-bash/tree-sitter-bash.wasm', 'runtime/hub/tree-sitter-bash.wasm'],
  ...[
    'sandbox/exec/bridge/bridge-main.mjs',
    'code/engine/guest.mjs',
    ...['child-main', 'child-context', 'child-wire'].map((name) => `adapters/sources/plugins/isolated/${name}.mjs`),
  ].map((path) => [`packages/${path.replace('/', '/src/')}`, path]),
]

/** The digest of everything dist was built from; written last, so an interrupted build has none. */
const BUILT_FROM = `${DIST}/.built-from`

stageFiles()
const inputs = digestInputs()
if (existsSync(BUILT_FROM) && readFileSync(BUILT_FROM, 'utf8') === inputs) process.exit()
console.error(`Building ${DIST}: about 20 seconds.`)
rmSync(DIST, { recursive: true, force: true })
declareTypes(`${DIST}/types`, DECLARATIONS)
await join(['system/own-file'])
await join([...PUBLIC.keys(), ...RUN], { plugins: [keepOwnFile()] })
for (const [from, to] of READ) {
  mkdirSync(dirname(`${DIST}/${to}`), { recursive: true })
  copyFileSync(from, `${DIST}/${to}`)
}
chmodSync(`${DIST}/cli/main.js`, 0o755)
await buildConsole()
writeFileSync(BUILT_FROM, inputs)

/** What the package has besides its own folder, as copies: npm packs no links. */
function stageFiles() {
  for (const name of ['docs', 'deploy', 'README.md', 'SCOPE.md', 'CHANGELOG.md', 'LICENSE']) {
    rmSync(`packages/tool-hub/${name}`, { recursive: true, force: true })
    cpSync(name, `packages/tool-hub/${name}`, { recursive: true })
  }
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
  const own = PUBLIC.get(name) ?? `${PACKAGES}/tool-hub/src/${name}.ts`
  if (existsSync(own)) return own
  const [unit, ...rest] = (name === 'system/own-file' ? `sandbox/${name}` : name).split('/')
  return `${PACKAGES}/${unit}/src/${rest.join('/')}.ts`
}

/** The page of the service, with its own tools. */
async function buildConsole() {
  const { build } = await import('vite')
  await build({ configFile: 'packages/console/vite.config.ts', root: 'packages/console', logLevel: 'warn' })
}

async function join(names, options = {}) {
  const input = {
    input: Object.fromEntries(names.map((name) => [name, sourceOf(name)])),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: (id) => /^[a-z@]/.test(id) && !TAKEN_IN.test(id) && !OWN_PACKAGE.test(id),
    logLevel: 'warn',
    // The library has what the command line imports later.
    checks: { ineffectiveDynamicImport: false },
    ...options,
  }
  const comments = { jsdoc: false, annotation: false, legal: true }
  const output = { dir: DIST, format: 'esm', comments, chunkFileNames: 'chunks/[name]-[hash].js' }
  const split = await rolldown({ ...input, logLevel: 'silent' })
  const name = partOf((await split.generate(output)).output.filter(({ type }) => type === 'chunk'))
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
function partOf(chunks) {
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]))
  const startsOf = new Map()
  for (const [index, sources] of STARTS.entries()) {
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
