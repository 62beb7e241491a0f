import { didYouMean } from '@tool-hub/core'
import type { Command, CommanderError } from 'commander'
import { UsageError } from '../exit.ts'
import { addConfigOption } from '../input/options.ts'
import { agentPrograms } from '../mcp/agent-programs.ts'
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

const ADD_EXAMPLES = `
Examples:
  tool-hub mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  tool-hub mcp add github --env GITHUB_TOKEN='\${env:GITHUB_TOKEN}' --sandbox -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp --header 'Authorization=Bearer \${secret:docs}'`

const PROGRAM = 'tool-hub mcp add NAME -- npx -y some-server'

/** `mcp add`: a server into the config. */
function describeMcpAdd(command: Command): void {
  addConfigOption(command)
    .summary('Add an MCP server to the config')
    .description('Add an MCP server to the config: a program after --, or a service by its URL.')
    .argument('<name>', 'Name of the server; its tools are called mcp/NAME.TOOL')
    .argument('[words...]', 'The program and its arguments, after --')
    .option('--url <url>', 'URL of a service, instead of a program')
    .option('--header <name=value...>', 'Header of every request, may contain ${env:X} and ${secret:x}')
    .option('--env <name=value...>', 'Environment variable, may contain ${env:X} and ${secret:x}')
    .option('--cwd <dir>', 'Folder that the program runs in')
    .option('--trust', 'Trust what it says about its tools: read-only ones need no approval')
    .option('--sandbox', 'Run the program in the sandbox, like a command')
    .option('--force', 'Replace an existing server of this name')
    .option('--dry-run', 'Show the change without making it')
    .addHelpText('after', ADD_EXAMPLES)
    .exitOverride((error) => {
      // An option of the program, most likely.
      if (error.code !== 'commander.unknownOption' || error.message.includes('Did you mean')) throw error
      const option = /'(.*)'/.exec(error.message)?.[1]
      throw new UsageError(`mcp add has no option ${option}.`, `Put the program after --: ${PROGRAM}`)
    })
    .action(async (...words: Parameters<typeof import('../mcp/add-server.ts').addServer>) =>
      (await import('../mcp/add-server.ts')).addServer(...words),
    )
}

/** `mcp remove`: a server out of the config. */
function describeMcpRemove(command: Command): void {
  addConfigOption(command)
    .summary('Remove an MCP server from the config')
    .description('Remove an MCP server from the config.')
    .argument('<name>', 'Name of the server')
    .option('--dry-run', 'Show the change without making it')
    .action(async (...words: Parameters<typeof import('../mcp/add-server.ts').removeServer>) =>
      (await import('../mcp/add-server.ts')).removeServer(...words),
    )
}

const PROGRAM_NAMES = agentPrograms().map(({ name }) => name)
const IMPORT_CHOICES = `Give one of: ${PROGRAM_NAMES.join(', ')}; or the path of a file.`

const IMPORT_EXAMPLES = `
Secrets in that file are not copied: the config gets \${env:NAME}, and the output lists which variables to set. Settings of
trust, sandbox and approvals are not copied either. The servers also stay in that file: remove them there.

Examples:
  tool-hub mcp import claude-code
  tool-hub mcp import ./team/mcp.json --dry-run`

/** `mcp import`: servers of another program's config into ours. */
function describeMcpImport(command: Command): void {
  addConfigOption(command)
    .summary('Copy the servers of Claude, Cursor or VS Code')
    .description('Copy the MCP servers of another program into the config, so that their tools are governed here.')
    .argument('<from>', `${PROGRAM_NAMES.join(', ')}, or the path of a file`)
    .option('--force', 'Replace servers of the same name')
    .option('--dry-run', 'Show the change without making it')
    .addHelpText('after', IMPORT_EXAMPLES)
    .exitOverride((error) => {
      throw error.code === 'commander.missingArgument'
        ? new UsageError('Copy the servers of which program?', IMPORT_CHOICES)
        : error
    })
    .action(async (...words: Parameters<typeof import('../mcp/import-servers.ts').importServers>) =>
      (await import('../mcp/import-servers.ts')).importServers(...words),
    )
}

const INSTALL_CHOICES = `Give one of: ${PROGRAM_NAMES.join(', ')}.`

const INSTALL_EXAMPLES = `
The change is shown as a diff, and a copy of the previous file is kept next to it. The program starts tool-hub by the absolute
paths of Node and of this installation, so nothing in a project decides what runs; with npx, it starts a copy in
~/.tool-hub/versions. An installation inside the project is refused: use npm install -g tool-hub. For all projects (--user,
claude-desktop) only the config that you name is used, or none.

A project without a config gets a tool-hub.yaml for a coding agent: the coding profile, this folder as root; commands that only
read (group:read-only), tests and local git changes run without approval, every other command needs one.

The own tools of the program (its shell, edit and write) bypass tool-hub as long as they are on. For Claude Code, --exclusive adds
them to permissions.deny in .claude/settings.local.json of the project (with --user in ~/.claude/settings.json); other keys stay.
For the other programs, the output says what you can do. tool-hub doctor reports it.

Examples:
  tool-hub mcp install claude-code --exclusive
  tool-hub mcp install cursor --dry-run
  tool-hub mcp install vscode --user --root ~/notes --config ~/notes/tool-hub.yaml`

/** `mcp install`: puts tool-hub into the config of another program. */
function describeMcpInstall(command: Command): void {
  command
    .summary('Add tool-hub to Claude Code, Cursor or VS Code')
    .description('Add tool-hub to the config of the program that your agent runs in.')
    .argument('<client>', PROGRAM_NAMES.join(', '))
    .option('--user', 'For all your projects, instead of this one')
    .option('--root <dir>', 'Folder that tools may read and write. Default: that of the project')
    .option('--config <file>', 'Config file that tool-hub uses there')
    .option('--name <name>', 'Name of the server there', 'tool-hub')
    .option('--exclusive', 'Also switch off the own tools of Claude Code for files and commands, in its settings')
    .option('--no-starter', 'Write no tool-hub.yaml if the project has none')
    .option('--dry-run', 'Show the change without making it')
    .addHelpText('after', INSTALL_EXAMPLES)
    .exitOverride((error) => {
      throw error.code === 'commander.missingArgument'
        ? new UsageError('Add tool-hub to which program?', INSTALL_CHOICES)
        : error
    })
    .action(async (...words: Parameters<typeof import('../mcp/install-into.ts').installInto>) =>
      (await import('../mcp/install-into.ts')).installInto(...words),
    )
}
