import { didYouMean } from '@tool-hub/core'
import type { Command, CommanderError } from 'commander'
import { UsageError } from '../exit.ts'
import { addConfigOption } from '../input/options.ts'
import { describeMcpAdd, describeMcpImport, describeMcpInstall, describeMcpRemove } from './mcp-edit.ts'
import { serve } from './mcp-serve.ts'
import { describeMcpList, describeMcpLogin, describeMcpLogout, describeMcpPin, describeMcpTest } from './mcp-servers.ts'

const EXAMPLES = `
Without a command, serves the tools of this config to the process that started it, over standard input and output; with --http
over HTTP. A client that can show forms is asked for approvals, except if approvals.inbox is set (calls then wait for tool-hub
approvals) or over HTTP without a token. approvals.elicitation overrides that; --no-elicitation always switches it off.
Without --config, the config is the nearest one, here or above; if there is none, that of the folder of --root. Two different
ones are refused. If the path of the config is absolute, runs and data are beside the config unless it says where; with --no-config they are in
~/.tool-hub.

Examples:
  tool-hub mcp install claude-code       add tool-hub to Claude Code, for this project
  tool-hub mcp add github --env GITHUB_TOKEN='\${secret:github}' -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp
  tool-hub mcp test github
  tool-hub mcp --root . --http 8808`

/** `mcp`: serves the tools, and manages the servers whose tools are here too. */
export function describeMcp(command: Command): void {
  addConfigOption(command)
    .description('Serve the tools over MCP, and manage the MCP servers that add tools to the hub.')
    .option('--no-config', 'Read no config, and load no tools from the current folder')
    .option('--root <dir>', 'Folder that tools may read and write')
    .option('--dialect <name>', 'Dialect that the client sees: coding, files. Default: that of the profile')
    .option('--http [port]', 'Serve over HTTP instead of stdio. Default: any free port')
    .option('--host <address>', 'Address to listen on. Default: 127.0.0.1; any other needs --token-env')
    .option('--token-env <name>', 'Environment variable with the bearer token that HTTP clients must send')
    .option('--no-elicitation', 'Never ask the client for approvals')
    .option('--watch', 'Reload the folders of tools that the config names when they change')
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

/** The error for an unknown command names the known ones. */
function inWords(error: CommanderError, { args, commands }: Command): Error {
  const [word] = args
  const isWord = error.code === 'commander.excessArguments' || error.code === 'commander.unknownCommand'
  if (!isWord || word === undefined) return error
  const names = commands.map((each) => each.name())
  return new UsageError(
    `Unknown command mcp ${word}.`,
    didYouMean(word, names) || `There are: ${names.join(', ')}; without one, mcp serves the tools.`,
  )
}
