import type { Command, CommanderError } from 'commander'
import { didYouMean } from '../../names.ts'
import { addConfigOption } from '../input/add-options.ts'
import { UsageError } from '../usage-error.ts'
import { describeMcpAdd, describeMcpRemove } from './mcp-add.ts'
import { describeMcpImport } from './mcp-import.ts'
import { describeMcpInstall } from './mcp-install.ts'
import { describeMcpList } from './mcp-list.ts'
import { describeMcpLogin, describeMcpLogout } from './mcp-login.ts'
import { describeMcpPin } from './mcp-pin.ts'
import { serve } from './mcp-serve.ts'
import { describeMcpTest } from './mcp-test.ts'

const EXAMPLES = `
Without a command it serves the tools of this config to whoever started it, over standard input and output; with --http
over HTTP. What policy asks is put to the client as a form, where it can show one. It is not when approvals.inbox is set (it
waits for tool-hub approvals then), over HTTP without a token, or with --no-elicitation; approvals.elicitation decides otherwise.
With a config whose path is absolute, runs and data are beside that config unless it says where; with --no-config they are
in ~/.tool-hub.

Examples:
  tool-hub mcp install claude-code       puts tool-hub into Claude Code, for this project
  tool-hub mcp add github --env GITHUB_TOKEN='\${secret:github}' -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp
  tool-hub mcp test github
  tool-hub mcp --root . --http 8808`

/** `mcp`: serves the tools, and manages the servers whose tools are here too. */
export function describeMcp(command: Command): void {
  addConfigOption(command)
    .description('Serve the tools over MCP, and manage the MCP servers whose tools are here too.')
    .option('--no-config', 'Read no config, and load no tools from the folder it is started in')
    .option('--root <dir>', 'Folder that tools may read and write')
    .option(
      '--dialect <name>',
      "Names and arguments that the client sees: coding, files; the profile's own unless said",
    )
    .option('--http [port]', 'Serve over HTTP instead; any free port unless said')
    .option('--host <address>', 'Address to listen on; 127.0.0.1 unless said. Any other needs --token-env')
    .option('--token-env <name>', 'Environment variable with the bearer token that HTTP clients must send')
    .option('--no-elicitation', 'Never put what policy asks to the client')
    .option('--watch', 'Load folders of tools that the config names again whenever they change')
    .option('--debug', 'Print the stack of an error')
    .addHelpText('after', EXAMPLES)
    .action(serve)
  describeMcpInstall(command.command('install'))
  describeMcpAdd(command.command('add'))
  describeMcpRemove(command.command('remove'))
  describeMcpList(command.command('list'))
  describeMcpTest(command.command('test'))
  describeMcpPin(command.command('pin'))
  describeMcpLogin(command.command('login'))
  describeMcpLogout(command.command('logout'))
  describeMcpImport(command.command('import'))
  // Last, so that the commands below keep their own.
  command.exitOverride((error) => {
    throw inWords(error, command)
  })
}

/** A word that is no command, told with those there are. */
function inWords(error: CommanderError, { args, commands }: Command): Error {
  const [word] = args
  const isWord = error.code === 'commander.excessArguments' || error.code === 'commander.unknownCommand'
  if (!isWord || word === undefined) return error
  const names = commands.map((each) => each.name())
  return new UsageError(
    `There is no command mcp ${word}.`,
    didYouMean(word, names) || `There are: ${names.join(', ')}; without one, mcp serves the tools.`,
  )
}
