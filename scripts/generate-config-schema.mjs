// Writes packages/tool-hub/config.schema.json and docs/reference/config.md from the schema of packages/config/src.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const SCHEMA = path.join(import.meta.dirname, '../packages/tool-hub/config.schema.json')
const DOCS = path.join(import.meta.dirname, '../docs/reference/config.md')

/** The published JSON Schema, whole. */
export async function generateConfigSchema() {
  const { $schema, ...schema } = await readSchema()
  const published = {
    $schema,
    $id: 'tool-hub/config.schema.json',
    title: 'tool-hub configuration',
    description: 'What agents may see, do and use. Every key is optional.',
    examples: [EXAMPLE],
    ...schema,
  }
  return `${JSON.stringify(published, null, 2)}\n`
}

/** The page, whole. */
export async function generateConfigDocs() {
  const { properties } = await readSchema()
  const keys = Object.entries(properties).map(([name, node]) => ({ name, rows: [...rowsOf(name, node)] }))
  const nested = keys
    .filter(({ rows }) => rows.length > 1)
    .map(({ name, rows }) => `### ${name}\n\n${table(rows.slice(1))}`)
  return [HEAD, table(keys.map(({ rows }) => rows[0])), ...nested].join('\n')
}

async function readSchema() {
  const { toJsonSchema } = await import('../packages/config/src/check-config.ts')
  const { configSchema } = await import('../packages/config/src/schema.ts')
  return toJsonSchema(configSchema)
}

const EXAMPLE = {
  version: 1,
  tools: { profile: 'coding', deny: ['browser'] },
  policy: [{ ask: 'exec' }, { allow: 'exec', on: ['git status', 'git diff *'] }],
  sandbox: { root: '.', network: ['api.github.com'] },
  limits: { timeout: '60s', output: '30KB', calls: 200 },
}

const HEAD = `# Configuration

A hub needs no configuration. To change its defaults, write a \`tool-hub.yaml\`. It is searched in the working folder and
the folders above it; \`--config FILE\` names another file. \`tool-hub.yml\`, \`.json5\`, \`.jsonc\`, \`.json\` and \`.mjs\` (a default
export: the config, or a function that returns it) work too; two of them in one folder are an error. \`tool-hub init\`
writes a commented file, and \`tool-hub policy check\` reports mistakes with line and column.

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/tool-hub/config.schema.json
version: 1
tools: # which tools an agent sees
  profile: full
  deny: [clarify]
policy: # what tools may do: verb, subject, on, when, reason
  - { ask: exec }
  - { allow: exec, on: ["git status", "git diff *", "npm test *"] }
  - { allow: network, on: ["https://api.github.com/**"] }
  - { deny: "*", on: ["~/.ssh/**", "**/*.pem"], reason: "secrets stay on this machine" }
sandbox: { root: ., network: [api.github.com] }
limits: { timeout: 60s, output: 30KB, calls: 200 }
# plugins: [./plugins/redact.mjs, ["@acme/tool-hub-jira", { project: OPS }]]   # your own modules
runs: ./runs
\`\`\`

- **Paths** are relative to the folder of the config; \`~/\` is your home folder. If the config does not name \`runs\` and
  \`data\`, they are next to a config that was found, and in the working folder with \`--config\`. \`tool-hub mcp\` keeps them
  next to a config that is named by an absolute path, and in \`~/.tool-hub\` with \`--no-config\`.
- **Times** are \`250ms\`, \`60s\`, \`5m\` (or \`5min\`), \`1h\`, \`1d\`; a bare number is milliseconds.
- **Sizes** are \`512B\`, \`30KB\` (30,000), \`5MB\`, \`1GB\`, and \`64KiB\` (65,536), \`1MiB\`, \`1GiB\`; a bare number is bytes.
- **Rates** are \`10/s\`, \`100/min\`, \`1000/h\`: the burst, and the average over that time.
- **Unknown keys are errors**, so a typo never loosens a restriction. All mistakes of a file are reported together.
- **Plugins are code**: they are loaded only if the rest of the config is valid.

In code: \`const { options } = await loadConfig()\` from \`tool-hub/config\`, then \`createToolHub({ ...options, tools })\`.

## A policy.yaml with one entry per tool

Instead of \`profile\`, \`allow\` and \`deny\`, \`tools\` may contain a default action and one entry per tool. The same file works
alone (\`--config policy.yaml\`) and next to a config (\`policy: ./policy.yaml\`). \`tool-hub policy check\` reports entries for
unknown tools.

\`\`\`yaml
tools:
  default: ask
  read_file:
    action: allow
    constraints: { max_size: 10MB, allowed_paths: ["./"], denied_paths: ["~/.ssh/*", "**/*.pem"] }
  run_shell:
    action: ask
    whitelist: ["git status", "git diff *"]
    blacklist: ["rm -rf *", "sudo *"]
\`\`\`

## Every key

<!-- Generated from the schema by npm run generate; do not edit. -->
`

function table(rows) {
  const lines = rows.map(({ key, type, fallback, meaning }) => `| \`${key}\` | ${type} | ${fallback} | ${meaning} |`)
  return `| key | type | default | meaning |\n|---|---|---|---|\n${lines.join('\n')}\n`
}

function* rowsOf(key, node) {
  yield {
    key,
    type: typeOf(node).replaceAll('|', '\\|'),
    fallback: node.default === undefined ? '' : `\`${written(node.default)}\``,
    meaning: (node.description ?? '').replaceAll('|', '\\|'),
  }
  if (node.title) return // a time, a size, a rate: described above
  for (const form of formsOf(node)) {
    const list = form.items ? `${key}[]` : key
    for (const inner of form.items ? formsOf(form.items) : [form]) yield* keysOf(list, inner)
  }
}

function* keysOf(key, { properties = {}, additionalProperties }) {
  for (const [name, node] of Object.entries(properties)) yield* rowsOf(`${key}.${name}`, node)
  if (typeof additionalProperties !== 'object') return
  for (const [name, node] of Object.entries(additionalProperties.properties ?? {})) {
    yield* rowsOf(`${key}.NAME.${name}`, node)
  }
}

function formsOf(node) {
  return node.anyOf ?? [node]
}

function typeOf(node) {
  if (node.title) return node.title
  if (node.anyOf) return [...new Set(node.anyOf.map(typeOf))].join(' or ')
  if (node.enum) return node.enum.map((value) => `\`${written(value)}\``).join(', ')
  if (node.const !== undefined) return `\`${written(node.const)}\``
  if (node.prefixItems) return '[name, options]'
  if (node.type === 'array') return `list (${typeOf(node.items)})`
  const names = { string: 'text', object: 'mapping', integer: 'whole number', boolean: '`true`, `false`' }
  return names[node.type] ?? node.type
}

function written(value) {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(SCHEMA, await generateConfigSchema())
  mkdirSync(path.dirname(DOCS), { recursive: true })
  writeFileSync(DOCS, await generateConfigDocs())
}
