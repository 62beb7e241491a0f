import { existsSync, writeFileSync } from 'node:fs'
import { assertToolName } from '@tool-hub/core'
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
