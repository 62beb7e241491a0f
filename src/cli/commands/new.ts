import { existsSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { assertToolName } from '../../names.ts'
import { print, printJson, say } from '../output/print.ts'
import { ownCommand } from '../own-command.ts'
import { UsageError } from '../usage-error.ts'
import { pluginTemplate, toolTemplate, toolTestTemplate } from './new-tool-template.ts'

const EXAMPLES = `
Examples:
  tool-hub new tool notes.save          writes notes-save.ts and notes-save.test.ts, for your code
  tool-hub new tool notes.save --js     writes notes-save.mjs, for plugins in tool-hub.yaml`

/** `new`: a beginning for what people write themselves. */
export function describeNew(command: Command): void {
  command.description('Write the beginning of something of your own.')
  command
    .command('tool')
    .summary('Write one tool and its test')
    .description('Write one tool and its test into the current folder (TypeScript); nothing is overwritten.')
    .argument('<name>', 'Name of the tool: notes.save, acme/tickets.close')
    .option('--js', 'Write it as a plugin file (JavaScript), which the command line can load')
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
