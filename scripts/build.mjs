// Builds dist/: declarations with plain tsc, the code with rolldown; a stale dist never survives a build, and one that
// was built from the same files is kept.
// Many small files are pleasant to read and slow to load: joined, `import('tool-hub')` takes half the time.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rolldown } from 'rolldown'

/** What people import. */
const PUBLIC = [
  'index',
  'testing/index',
  'public/config',
  'public/mcp',
  'public/serve',
  'client/index',
  'sources/openapi/from-open-api',
  ...['ai-sdk', 'langchain', 'openai', 'anthropic', 'openai-agents', 'agent-tools'].map((name) => `adapters/${name}`),
]
/** What is run by the name of its file: src/system/own-file.ts knows where they are. */
const RUN = [
  'cli/main',
  'records/log/verify-worker',
  'sandbox/pages/page-worker',
  'sandbox/exec/spawner/spawner-main',
  'features/code/engine/engine-worker',
  // For the conformance suite, which signs in as a person would.
  'sources/mcp/manage/sign-in',
]
/** Packages that are loaded at a start: taken in as far as they are used, they load in a third of the time. */
const TAKEN_IN = /^(zod|yaml|commander|image-size|picomatch|ipaddr\.js|lru-cache|@modelcontextprotocol\/[a-z]+)(\/|$)/
/** What processes load before they are of use: the library, the client, each program, `tool-hub list` and `tool-hub mcp`. */
const STARTS = [
  ...['index', 'client/index', ...RUN, 'cli/commands/list'].map((name) => [name]),
  ['cli/commands/mcp', 'config/read-config', 'server/mcp/index', 'server/mcp/connect-stdio'],
]
const OWN_FILE = '#own-file'
/** What is read as it is. */
const READ = [
  ['src/policy/default.yaml', 'policy/default.yaml'],
  ['node_modules/tree-sitter-bash/tree-sitter-bash.wasm', 'hub/tree-sitter-bash.wasm'],
  ...[
    'sandbox/exec/bridge/bridge-main.mjs',
    'features/code/engine/guest.mjs',
    ...['child-main', 'child-context', 'child-wire'].map((name) => `sources/plugins/isolated/${name}.mjs`),
  ].map((path) => [`src/${path}`, path]),
]

/** The digest of everything dist was built from; written last, so an interrupted build has none. */
const BUILT_FROM = 'dist/.built-from'

const inputs = digestInputs()
if (existsSync(BUILT_FROM) && readFileSync(BUILT_FROM, 'utf8') === inputs) process.exit()
console.error('Building dist/: about 20 seconds.')
rmSync('dist', { recursive: true, force: true })
declareTypes()
keepComments()
await join(['system/own-file'])
await join([...PUBLIC, ...RUN], { plugins: [keepOwnFile()] })
for (const [from, to] of READ) copyFileSync(from, `dist/${to}`)
chmodSync('dist/cli/main.js', 0o755)
await buildConsole()
writeFileSync(BUILT_FROM, inputs)

function digestInputs() {
  const hash = createHash('sha256').update(process.version)
  const files = [
    'src',
    'console',
    'scripts/build.mjs',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ]
  for (const file of files.flatMap(filesBelow)) hash.update(`\0${file}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

function filesBelow(path) {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .sort()
}

/** The page of the service; its own workspace, its own tools. */
async function buildConsole() {
  const { build } = await import('vite')
  await build({ configFile: 'console/vite.config.ts', root: 'console', logLevel: 'warn' })
}

function declareTypes() {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--emitDeclarationOnly']
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** Editors show the comments of a schema's properties for the type that is inferred of it; tsc declares schemas without them. */
function keepComments() {
  for (const file of filesBelow('src').filter((path) =>
    /^src\/(protocol\/[^/]+|features\/[^/]+\/schema)\.ts$/.test(path),
  )) {
    const declared = file.replace(/^src(.*)\.ts$/, 'dist$1.d.ts')
    const comments = propertyComments(readFileSync(file, 'utf8'))
    let schema
    const lines = readFileSync(declared, 'utf8').split('\n')
    const commented = lines.flatMap((line) => {
      schema = /^(?:export )?declare const (\w+):/.exec(line)?.[1] ?? schema
      const comment = comments.get(schema)?.get(/^ {4}(\w+):/.exec(line)?.[1])
      return comment === undefined ? line : [`    ${comment.replaceAll('\n', '\n  ')}`, line]
    })
    writeFileSync(declared, commented.join('\n'))
  }
}

/** The comments of the properties of each schema, with those of the schemas that it extends. */
function propertyComments(source) {
  const schemas = new Map()
  let current = new Map()
  const take = (name) => {
    for (const [property, comment] of schemas.get(name) ?? []) current.set(property, comment)
  }
  const parts = /^(?:export )?const (\w+) = (\w*)|^ {2}(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n {2}(\w+)\b|\.\.\.(\w+)/gm
  for (const [, schema, base, comment, property, spread] of source.matchAll(parts)) {
    if (schema !== undefined) {
      current = new Map()
      schemas.set(schema, current)
      take(base)
    } else if (comment !== undefined) current.set(property, comment)
    else take(spread)
  }
  return schemas
}

async function join(names, options = {}) {
  const input = {
    input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    preserveEntrySignatures: 'allow-extension',
    external: (id) => /^[a-z@]/.test(id) && !TAKEN_IN.test(id),
    logLevel: 'warn',
    // The library has what the command line imports later.
    checks: { ineffectiveDynamicImport: false },
    ...options,
  }
  const comments = { jsdoc: false, annotation: false, legal: true }
  const output = { dir: 'dist', format: 'esm', comments, chunkFileNames: 'chunks/[name]-[hash].js' }
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
  for (const [index, names] of STARTS.entries()) {
    const isFirst = ({ facadeModuleId }) => names.some((name) => facadeModuleId?.endsWith(`/src/${name}.ts`))
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

/** It tells where the others are, so it is imported from its own place. */
function keepOwnFile() {
  return {
    name: 'keep-own-file',
    resolveId: (id) => (id.endsWith('/own-file.ts') ? { id: OWN_FILE, external: true } : null),
    renderChunk: (code, { fileName }) =>
      code.replaceAll(`"${OWN_FILE}"`, `"${'../'.repeat(fileName.split('/').length - 1) || './'}system/own-file.js"`),
  }
}
