import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CONFIG_NAMES, configTemplate, type TemplatePlaces } from '@tool-hub/config'
import { ownPackageFolder } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { ownCommand } from '../invocation.ts'
import { print, printJson, say } from '../output/print.ts'

const FILE = 'tool-hub.yaml'

const EXAMPLES = `
Examples:
  tool-hub init
  tool-hub init --force     start over; the existing tool-hub.yaml is lost`

/** `init`: a config to start from. */
export function describeInit(command: Command): void {
  command
    .description('Write a commented tool-hub.yaml with safe settings into the current folder.')
    .option('--force', 'Overwrite an existing tool-hub.yaml')
    .addHelpText('after', EXAMPLES)
    .action(init)
}

async function init({ force = false, json }: { readonly force?: boolean; readonly json?: boolean }): Promise<void> {
  const present = CONFIG_NAMES.find((name) => existsSync(name))
  if (present !== undefined && !(force && present === FILE)) throw taken(present)
  writeFileSync(FILE, configTemplate(findPlaces(process.cwd())), { flag: force ? 'w' : 'wx' })
  if (json) return printJson({ file: FILE })
  await print(`Wrote ${FILE}.`)
  say(next(ownCommand()))
}

const SCHEMA = 'config.schema.json'
const REFERENCE = 'docs/reference/config.md'

/**
 * Where the files of the package are: in the `node_modules` of the project, which everybody who shares the config has;
 * otherwise in this installation, unless npx has put it into its cache, from which it may disappear.
 */
function findPlaces(folder: string): TemplatePlaces {
  const local = findAbove(folder, join('node_modules', 'tool-hub'))
  if (local !== undefined) {
    const path = relative(folder, local)
    const schema = join(path, SCHEMA)
    return { schema: schema.startsWith('.') ? schema : `./${schema}`, reference: join(path, REFERENCE) }
  }
  const own = fileURLToPath(ownPackageFolder())
  if (own.includes(`${sep}_npx${sep}`) || !existsSync(join(own, SCHEMA)))
    return { schema: undefined, reference: `${REFERENCE} in the package tool-hub` }
  // A URL, because the path may have spaces.
  return { schema: pathToFileURL(join(own, SCHEMA)).href, reference: join(own, REFERENCE) }
}

/** The path in the folder or in the nearest folder above it, if it has the schema. */
function findAbove(folder: string, path: string): string | undefined {
  const found = join(folder, path)
  if (existsSync(join(found, SCHEMA))) return found
  const above = dirname(folder)
  return above === folder ? undefined : findAbove(above, path)
}

function next(self: string): string {
  return `
Next:
  ${self} list             the tools an agent sees now
  ${self} policy show      the rules that hold
  ${self} doctor           what is weak or missing here`
}

function taken(present: string): UsageError {
  const hint =
    present === FILE
      ? 'Use --force to overwrite it.'
      : `Remove ${present} first; two configs in one folder are refused.`
  return new UsageError(`${present} is there already.`, hint)
}
