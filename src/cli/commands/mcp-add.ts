import type { Command } from 'commander'
import { addConfigOption } from '../input/add-options.ts'
import { UsageError } from '../usage-error.ts'

const EXAMPLES = `
Examples:
  tool-hub mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  tool-hub mcp add github --env GITHUB_TOKEN='\${env:GITHUB_TOKEN}' --sandbox -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp --header 'Authorization=Bearer \${secret:docs}'`

const PROGRAM = 'tool-hub mcp add NAME -- npx -y some-server'

/** `mcp add`: a server into the config. */
export function describeMcpAdd(command: Command): void {
  addConfigOption(command)
    .summary('Add an MCP server to the config')
    .description('Add an MCP server to the config: a program after --, or a service by its URL.')
    .argument('<name>', 'Its name here; its tools are mcp/NAME.TOOL')
    .argument('[words...]', 'The program and its arguments, after --')
    .option('--url <url>', 'A service, instead of a program')
    .option('--header <name=value...>', 'Header of every request; ${env:X} and ${secret:x} are filled in')
    .option('--env <name=value...>', 'Variable of its environment; ${env:X} and ${secret:x} are filled in')
    .option('--cwd <dir>', 'Folder it runs in')
    .option('--trust', 'Believe what it says of its tools: read-only ones run unasked')
    .option('--sandbox', 'Fence the program in like a command')
    .option('--force', 'Replace a server of this name')
    .option('--dry-run', 'Only show the change')
    .addHelpText('after', EXAMPLES)
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
export function describeMcpRemove(command: Command): void {
  addConfigOption(command)
    .summary('Take an MCP server out of the config')
    .description('Take an MCP server out of the config.')
    .argument('<name>', 'Its name')
    .option('--dry-run', 'Only show the change')
    .action(async (...words: Parameters<typeof import('../mcp/add-server.ts').removeServer>) =>
      (await import('../mcp/add-server.ts')).removeServer(...words),
    )
}
