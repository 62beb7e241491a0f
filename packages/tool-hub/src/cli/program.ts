import { VERSION } from '@tool-hub/core/lib'
import { Command } from 'commander'
import { COMMANDS } from './commands.ts'
import { interruptCode } from './exit.ts'
import { lineWidth } from './output/layout.ts'
import { flush } from './output/print.ts'

/** Runs one command line and returns its exit code, after all output is written. */
export async function runCli(words: readonly string[]): Promise<number> {
  const asked = withHelp(words)
  try {
    const program = await buildProgram(asked[0]!)
    await program.parseAsync(asked, { from: 'user' })
    await flush()
  } catch (error) {
    const { reportError } = await import('./report-error.ts')
    const code = await reportError(error, { json: asked.includes('--json'), debug: wantsStack(asked) })
    return interruptCode() ?? code
  }
  return interruptCode() ?? Number(process.exitCode ?? 0)
}

/** No words and `help` mean `--help`; `help list` is `list --help`, and a mistyped command is reported as such. */
function withHelp(words: readonly string[]): readonly string[] {
  const [first, ...others] = words
  if (first !== undefined && first !== 'help') return words
  const [topic] = others
  const isKnown = topic === undefined || COMMANDS.some(({ name }) => name === topic)
  return isKnown ? [...others, '--help'] : others
}

function wantsStack(words: readonly string[]): boolean {
  return words.includes('--debug') || Boolean(process.env.TOOL_HUB_DEBUG)
}

const EXIT_CODES = `
Exit codes:
  0    success
  1    a tool failed, or a check found something
  2    wrong usage or configuration; no such tool
  3    denied by policy or by a person
  4    an approval is needed and nobody answered
  130  interrupted (Ctrl-C)
  143  terminated (SIGTERM)

Results go to stdout, messages to people go to stderr.
More about a command: tool-hub <command> --help`

/** The whole command line; only the command `asked` is loaded, or all of them for `*`. */
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
