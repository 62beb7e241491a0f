import type { Command } from 'commander'
import { buildProgram } from './program.ts'

const WIDTH = 100
const NOTE = '<!-- Generated from the commands by npm run generate; do not edit. -->'

/** The help of every command as Markdown, by the path of its page in docs/reference: an index, and a page per command. */
export async function generateCliDocs(): Promise<ReadonlyMap<string, string>> {
  const program = await buildProgram('*')
  const rows = program.commands.map((command) => {
    const name = command.name()
    return `| [${fullName(command)}](cli/${name}.md) | ${command.description().replaceAll('|', '\\|')} |`
  })
  const table = ['| command | purpose |', '|---|---|', ...rows].join('\n')
  return new Map([
    ['cli.md', `# Command line\n\n${NOTE}\n\n${table}\n\n${section(program)}`],
    ...program.commands.map((command): [string, string] => [
      `cli/${command.name()}.md`,
      `# ${fullName(command)}\n\n${NOTE}\n\n${withChildren(command).map(section).join('\n')}`,
    ]),
  ])
}

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)]
}

function section(command: Command): string {
  return `## ${fullName(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name()
}

/** As `--help` prints it, without colours and always of one width. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({
    writeOut: (piece) => {
      text += piece
    },
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  })
  command.outputHelp()
  return text.trim()
}
