import type { Command } from 'commander'
import { agentPrograms } from '../mcp/agent-programs.ts'
import { UsageError } from '../usage-error.ts'

const NAMES = agentPrograms().map(({ name }) => name)
const CHOICES = `Give one of: ${NAMES.join(', ')}.`

const EXAMPLES = `
The change is shown as a diff, and the file as it was is kept beside it. tool-hub is started by the absolute paths of Node and
of this installation, so nothing in a project decides what runs; from npx, a copy in ~/.tool-hub/versions is started. A
tool-hub that is installed in the project itself is refused: npm install -g tool-hub. For all projects (--user,
claude-desktop) only the config that you name counts, or none.

A project without a config gets a tool-hub.yaml for a coding agent: the coding profile, this folder as root, commands that only
read (group:read-only), tests and local git changes without an approval, and an approval for every other command.

Examples:
  tool-hub mcp install claude-code
  tool-hub mcp install cursor --dry-run
  tool-hub mcp install vscode --user --root ~/notes --config ~/notes/tool-hub.yaml`

/** `mcp install`: puts tool-hub into the config of another program. */
export function describeMcpInstall(command: Command): void {
  command
    .summary('Put tool-hub into Claude Code, Cursor or VS Code')
    .description('Put tool-hub into the config of the program that your agent runs in.')
    .argument('<client>', NAMES.join(', '))
    .option('--user', 'For all your projects, instead of this one')
    .option('--root <dir>', 'Folder that tools may read and write. Default: that of the project')
    .option('--config <file>', 'Config file that tool-hub shall use there')
    .option('--name <name>', 'Its name there', 'tool-hub')
    .option('--no-starter', 'Write no tool-hub.yaml where the project has none')
    .option('--dry-run', 'Only show the change')
    .addHelpText('after', EXAMPLES)
    .exitOverride((error) => {
      throw error.code === 'commander.missingArgument' ? new UsageError('Put it into which program?', CHOICES) : error
    })
    .action(async (...words: Parameters<typeof import('../mcp/install-into.ts').installInto>) =>
      (await import('../mcp/install-into.ts')).installInto(...words),
    )
}
