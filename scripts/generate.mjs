// Writes every generated file, or with --check says which are stale and exits 1. Run by npm run generate, which lets Node
// load the sources.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { generateDefaultPolicy } from './generate-default-policy.mjs'
import { generateFeatureCommands, generateFeatureLists, generateFeatureRules } from './generate-features.mjs'
import { generateToolIndex } from './generate-tools.mjs'

const isCheck = process.argv.includes('--check')
const stale = []

/** Sources first: what is made below loads them. */
await produce('src/policy/default.yaml', generateFeatureRules)
await produce('src/policy/default-policy.generated.ts', generateDefaultPolicy)
await produce('src/tools/index.generated.ts', generateToolIndex)
for (const [file, source] of generateFeatureLists()) await produce(file, () => formatted(file, source))
const COMMANDS = 'src/features/generated/commands/index.ts'
await produce(COMMANDS, async () => formatted(COMMANDS, await generateFeatureCommands()))

const { generateToolCatalogue } = await import('./generate-tool-catalogue.mjs')
await produce('src/tools/catalogue.generated.ts', generateToolCatalogue)
const { generateConfigDocs, generateConfigSchema } = await import('./generate-config-schema.mjs')
const { generateToolDocs } = await import('./generate-tool-docs.mjs')
const { generateCliDocs } = await import('./generate-cli-docs.mjs')
const { generateErrorDocs } = await import('./generate-error-docs.mjs')
await produce('config.schema.json', generateConfigSchema)
await produce('docs/reference/config.md', generateConfigDocs)
await produce('docs/reference/tools.md', generateToolDocs)
await produce('docs/reference/cli.md', generateCliDocs)
await produce('docs/reference/errors.md', generateErrorDocs)

if (stale.length > 0) {
  console.error(`Stale, run npm run generate: ${stale.join(', ')}`)
  process.exit(1)
}

/** True when the file was not as it has to be. */
async function produce(file, generate) {
  const wanted = await generate()
  if (wanted === read(file)) return false
  if (isCheck) stale.push(file)
  else {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, wanted)
  }
  return true
}

/** The source as Biome formats it. */
function formatted(file, source) {
  if (file.endsWith('.generated.ts')) return source
  const args = ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', `--stdin-file-path=${file}`]
  return execFileSync(process.execPath, args, { input: source, encoding: 'utf8' })
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
