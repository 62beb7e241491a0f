import type { Command } from 'commander'
import { addConfigOption } from '../input/add-options.ts'
import { agentPrograms } from '../mcp/agent-programs.ts'
import { UsageError } from '../usage-error.ts'

const NAMES = agentPrograms().map(({ name }) => name)
const CHOICES = `Give one of: ${NAMES.join(', ')}; or the path of a file.`

const EXAMPLES = `
Secrets that stand in that file are not copied: the config gets \${env:NAME}, and the output lists which names to set. Nor is
what it says of trust, fences and approvals. The servers stay in that file too: take them out there.

Examples:
  tool-hub mcp import claude-code
  tool-hub mcp import ./team/mcp.json --dry-run`

/** `mcp import`: servers of another program's config into ours. */
export function describeMcpImport(command: Command): void {
  addConfigOption(command)
    .summary('Take over the servers of Claude, Cursor or VS Code')
    .description('Copy the MCP servers of another program into the config, so that their tools are governed here.')
    .argument('<from>', `${NAMES.join(', ')}, or the path of a file`)
    .option('--force', 'Replace servers of the same name')
    .option('--dry-run', 'Only show the change')
    .addHelpText('after', EXAMPLES)
    .exitOverride((error) => {
      throw error.code === 'commander.missingArgument'
        ? new UsageError('Take over the servers of which program?', CHOICES)
        : error
    })
    .action(async (...words: Parameters<typeof import('../mcp/import-servers.ts').importServers>) =>
      (await import('../mcp/import-servers.ts')).importServers(...words),
    )
}
