import { Command } from 'commander'
import { VERSION } from '../lib/index.ts'
import { COMMANDS } from './commands.ts'
import { lineWidth } from './output/fit-line.ts'

const EXIT_CODES = `
Exit codes:
  0    it worked
  1    a tool failed, or a check found something
  2    wrong usage or configuration; no such tool
  3    denied by policy or by a person
  4    an approval is needed and nobody answered
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)

Results go to stdout, everything said to people goes to stderr.
More about a command: tool-hub <command> --help`

/** The whole command line; only the command that was `asked` for is loaded, all of them for `*`. */
export async function buildProgram(asked: string): Promise<Command> {
  const program = new Command('tool-hub')
    .description('The governed tool runtime for AI agents.')
    .version(VERSION, '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    // An option after a command belongs to that command: `call x --version 2` is an argument of the tool.
    .enablePositionalOptions()
    .exitOverride()
    // Errors are reported in one place, `reportError`, in one form.
    .configureOutput({ outputError: () => {}, getOutHelpWidth: () => lineWidth(process.stdout, 80) })
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .addHelpText('after', EXIT_CODES)
  for (const { name, summary, load } of COMMANDS) {
    const command = program.command(name).summary(summary)
    if (asked !== name && asked !== '*') continue
    const describe = await load()
    describe(command)
    addCommonOptions(command)
  }
  return program
}

function addCommonOptions(command: Command): void {
  command.helpOption('-h, --help', 'Show this help').helpCommand(false)
  if (command.commands.length > 0) {
    for (const child of command.commands) addCommonOptions(child)
    return
  }
  command.option('--json', 'Print JSON').option('--debug', 'Print the stack of an error')
}
