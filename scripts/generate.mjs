// Writes every generated file, or with --check says which are stale and exits 1. Run by npm run generate, which lets Node
// load the sources.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { generateDefaultPolicy } from './generate-default-policy.mjs'
import {
  generateFeatureCommands,
  generateFeatureLists,
  generateFeatureRules,
  generateFeatureToolNames,
} from './generate-features.mjs'
import { generateOptionKeys } from './generate-option-keys.mjs'
import { generateToolIndex } from './generate-tools.mjs'

const isCheck = process.argv.includes('--check')
const stale = []

/** Sources first: what is made below loads them. */
await produce('packages/policy/src/default.yaml', generateFeatureRules)
await produce('packages/policy/src/default-policy.generated.ts', generateDefaultPolicy)
await produce('packages/runtime/src/tools/index.generated.ts', generateToolIndex)
for (const [file, source] of generateFeatureLists()) await produce(file, () => formatted(file, source))
const OPTION_KEYS = 'packages/runtime/src/hub/option-keys.generated.ts'
await produce(OPTION_KEYS, () => formatted('packages/runtime/src/hub/option-keys.ts', generateOptionKeys()))
const COMMANDS = 'packages/tool-hub/src/cli/generated/index.ts'
await produce(COMMANDS, async () => formatted(COMMANDS, await generateFeatureCommands()))

const { featureToolLoaders } = await import('../packages/library/src/generated/tool-loaders/index.ts')
const TOOL_NAMES = 'packages/core/src/feature-tools.generated.ts'
await produce(TOOL_NAMES, async () =>
  formatted('packages/core/src/feature-tools.ts', await generateFeatureToolNames(featureToolLoaders)),
)

const { generateClient } = await import('./generate-client.mjs')
await produce('packages/client/src/routes.generated.ts', async () =>
  formatted('packages/client/src/routes.ts', await generateClient()),
)
const { generateToolCatalogue } = await import('./generate-tool-catalogue.mjs')
const { toolLoaders } = await import('../packages/runtime/src/tools/index.generated.ts')
await produce('packages/runtime/src/tools/catalogue.generated.ts', () =>
  generateToolCatalogue(toolLoaders, './catalogue.ts'),
)
await produce('packages/library/src/generated/feature-tools.generated.ts', () =>
  generateToolCatalogue(featureToolLoaders, '@tool-hub/runtime/tools'),
)
const { generateConfigDocs, generateConfigSchema } = await import('./generate-config-schema.mjs')
const { generateToolDocs } = await import('./generate-tool-docs.mjs')
const { generateCliDocs } = await import('../packages/tool-hub/src/cli/generate-cli-docs.ts')
const { generateErrorDocs } = await import('./generate-error-docs.mjs')
await produce('packages/tool-hub/config.schema.json', generateConfigSchema)
await produce('docs/reference/config.md', generateConfigDocs)
await produceReference(await generateToolDocs())
await produceReference(await generateCliDocs())
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

/** Writes the pages of docs/reference, and removes other pages from the folders that they are in. */
async function produceReference(pages) {
  const files = new Map([...pages].map(([page, text]) => [path.posix.join('docs/reference', page), text]))
  for (const [file, text] of files) await produce(file, () => text)
  const folders = new Set([...files.keys()].map((file) => path.posix.dirname(file)))
  folders.delete('docs/reference')
  for (const folder of folders) {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const file = path.posix.join(folder, name)
      if (files.has(file)) continue
      if (isCheck) stale.push(file)
      else rmSync(file)
    }
  }
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
