import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { CONFIG_NAMES, configTemplate, type TemplatePlaces } from '@tool-hub/config'
import { assertToolName } from '@tool-hub/core'
import { ownPackageFolder } from '@tool-hub/sandbox/system'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { ownCommand } from '../invocation.ts'
import { print, printJson, say } from '../output/print.ts'

const BODY = `  // What it needs of the world: ['write:fs'], and then what each call touches: targets: ({ path }) => ({ 'write:fs': path })
  capabilities: [],
  examples: [{ input: { text: 'hello' } }, { input: { text: 'Straße' }, note: 'any language' }],
  execute({ text }, ctx) {
    // Replace this: your own code. Throw a ToolError for what can go wrong.
    if (text.trim() === '') {
      throw new ToolError('INPUT_SCHEMA_INVALID', 'The text is blank.', { hint: 'Give at least one word.' })
    }
    ctx.progress(\`\${text.length} characters\`)
    return { text: text.toUpperCase() }
  },
`

const EXAMPLES = `
Examples:
  tool-hub new tool notes.save          writes notes-save.ts and notes-save.test.ts, for your code
  tool-hub new tool notes.save --js     writes notes-save.mjs, for plugins in tool-hub.yaml`

/** `new`: a beginning for what people write themselves. */
export function describeNew(command: Command): void {
  command.description('Generate code of your own to start from.')
  command
    .command('tool')
    .summary('Write one tool and its test')
    .description('Write one tool and its test (TypeScript) into the current folder. Nothing is overwritten.')
    .argument('<name>', 'Name of the tool: notes.save, acme/tickets.close')
    .option('--js', 'Write a plugin file (JavaScript) that the command line can load')
    .addHelpText('after', EXAMPLES)
    .action(newTool)
}

async function newTool(name: string, { js, json }: { readonly js?: boolean; readonly json?: boolean }): Promise<void> {
  assertToolName(name)
  const file = kebab(name)
  const names = { name, file, variable: camel(file) }
  const files = js
    ? [{ path: `${file}.mjs`, text: pluginTemplate(names) }]
    : [
        { path: `${file}.ts`, text: toolTemplate(names) },
        { path: `${file}.test.ts`, text: toolTestTemplate(names) },
      ]
  const taken = files.find(({ path }) => existsSync(path))
  if (taken) throw new UsageError(`${taken.path} is there already.`, 'Choose another name, or another folder.')
  for (const { path, text } of files) writeFileSync(path, text, { flag: 'wx' })
  const paths = files.map(({ path }) => path)
  if (json) return printJson({ tool: name, files: paths })
  await print(paths.join('\n'))
  say(js ? nextForPlugin(name, file) : nextForCode(name, file, names.variable))
}

function nextForCode(name: string, file: string, variable: string): string {
  return `
Next, in a project with tool-hub, zod and vitest:
  npx vitest run ${file}.test.ts
  Write your own code where ${file}.ts says "Replace this".
  Use it in code: createToolHub({ tools: [${variable}] })
For the command line, a plugin file: ${ownCommand()} new tool ${name} --js`
}

function nextForPlugin(name: string, file: string): string {
  return `
Next, in a project with tool-hub (npm install tool-hub):
  Add this line to tool-hub.yaml: plugins: [./${file}.mjs]
  ${ownCommand()} call ${name} --text hello
  Write your own code where ${file}.mjs says "Replace this".`
}

/** `core/fs.readText` -> `core-fs-read-text`. */
function kebab(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .toLowerCase()
}

function camel(base: string): string {
  return `${base.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Tool`
}

/** What the templates are about. */
interface Names {
  /** `notes.save`. */
  readonly name: string
  /** `notes-save`. */
  readonly file: string
  /** `notesSaveTool`. */
  readonly variable: string
}

/** The beginning of a tool: it works as it is. */
function toolTemplate({ name, variable }: Names): string {
  return `import { defineTool, ToolError } from 'tool-hub'
import { z } from 'zod'

/** Replace this: say in one sentence what the tool does. */
export const ${variable} = defineTool({
  name: '${name}',
  // Replace this: say when a model should use the tool, and when not.
  description: 'Write a text in capitals. Not for texts that a person reads later.',
  input: z.strictObject({ text: z.string().min(1).max(10_000) }),
  output: z.strictObject({ text: z.string() }),
${BODY}  toModel: ({ text }) => text,
})
`
}

/** The same as a plugin file for the command line, in JavaScript and without a schema library. */
function pluginTemplate({ name }: Names): string {
  return `import { defineTool, ToolError } from 'tool-hub'

const text = { type: 'string', minLength: 1, maxLength: 10_000 }
const input = { type: 'object', properties: { text }, required: ['text'], additionalProperties: false }

/** Replace this: say in one sentence what the tool does. */
export default defineTool({
  name: '${name}',
  // Replace this: say when a model should use the tool, and when not.
  description: 'Write a text in capitals. Not for texts that a person reads later.',
  input,
  output: input,
${BODY}  toModel: ({ text }) => text,
})
`
}

/** Its test, which calls it through a hub. */
function toolTestTemplate({ file, variable }: Names): string {
  return `import { testHub, toolContract } from 'tool-hub/testing'
import { expect, it } from 'vitest'
import { ${variable} } from './${file}.js'

it('keeps what every tool promises', async () => {
  expect(await toolContract(${variable})).toEqual([])
})

// Replace the rest with what your tool does.
it('writes a text in capitals', async () => {
  const hub = testHub({ tools: [${variable}] })
  const result = await hub.call(${variable}, { text: 'hello' })
  await hub.close()
  expect(result).toMatchObject({ ok: true, data: { text: 'HELLO' } })
})

it('refuses a blank text', async () => {
  const hub = testHub({ tools: [${variable}] })
  const result = await hub.call(${variable}, { text: '  ' })
  await hub.close()
  expect(result.error?.code).toBe('INPUT_SCHEMA_INVALID')
})
`
}

const FILE = 'tool-hub.yaml'

const INIT_EXAMPLES = `
Examples:
  tool-hub init
  tool-hub init --force     start over; the existing tool-hub.yaml is lost`

/** `init`: a config to start from. */
export function describeInit(command: Command): void {
  command
    .description('Write a commented tool-hub.yaml with safe settings into the current folder.')
    .option('--force', 'Overwrite an existing tool-hub.yaml')
    .addHelpText('after', INIT_EXAMPLES)
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
