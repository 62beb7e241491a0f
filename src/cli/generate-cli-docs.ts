import type { Command } from 'commander'
import { buildProgram } from './program.ts'

const WIDTH = 100

/** The help of every command as Markdown: docs/reference/cli.md, kept equal to the code by a check. */
export async function generateCliDocs(): Promise<string> {
  const program = await buildProgram('*')
  const commands = [program, ...program.commands.flatMap(withChildren)]
  const parts = commands.map((command) => `## ${fullName(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`)
  return `# Command line\n\nGenerated from the commands by \`npm run generate\`; do not edit.\n\n${parts.join('\n')}`
}

function withChildren(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withChildren)]
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
