import { existsSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { assertToolName } from '../../names.ts'
import { print, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'
import { toolTemplate, toolTestTemplate } from './new-tool-template.ts'

const EXAMPLES = `
Examples:
  tool-hub new tool notes.save          writes notes-save.ts and notes-save.test.ts`

/** `new`: a beginning for what people write themselves. */
export function describeNew(command: Command): void {
  command.description('Write the beginning of something of your own.')
  command
    .command('tool')
    .summary('Write one tool and its test')
    .description('Write one tool and its test into the current folder (TypeScript); nothing is overwritten.')
    .argument('<name>', 'Name of the tool: notes.save, acme/tickets.close')
    .addHelpText('after', EXAMPLES)
    .action(newTool)
}

async function newTool(name: string, { json }: { readonly json?: boolean }): Promise<void> {
  assertToolName(name)
  const base = kebab(name)
  const variable = camel(base)
  const files = [
    { file: `${base}.ts`, text: toolTemplate({ name, variable }) },
    { file: `${base}.test.ts`, text: toolTestTemplate({ file: base, variable }) },
  ]
  const taken = files.find(({ file }) => existsSync(file))
  if (taken) throw new UsageError(`${taken.file} is there already.`, 'Choose another name, or another folder.')
  for (const { file, text } of files) writeFileSync(file, text, { flag: 'wx' })
  const names = files.map(({ file }) => file)
  await (json ? printJson({ tool: name, files: names }) : print(names.join('\n')))
  if (!json)
    say(`\nNext: npx vitest run ${names[1]}, write your own execute, then createToolHub({ tools: [${variable}] })`)
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
