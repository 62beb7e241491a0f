import { isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { didYouMean } from '../../names.ts'
import { ownModule } from '../../own-file.ts'
import { type AgentProgram, agentPrograms } from '../mcp/agent-programs.ts'
import { changeServer } from '../mcp/edit-servers.ts'
import { planEdit } from '../mcp/file-edit.ts'
import { makeEdit } from '../mcp/make-edit.ts'
import { ownEntry } from '../mcp/own-entry.ts'
import { UsageError } from '../usage-error.ts'

interface InstallFlags {
  readonly user?: boolean
  readonly root?: string
  readonly config?: string
  readonly name: string
  readonly dryRun?: boolean
  readonly json?: boolean
}

const NAMES = agentPrograms().map(({ name }) => name)

const EXAMPLES = `
The change is shown as a diff, and the file as it was is kept beside it.

Examples:
  tool-hub mcp install claude-code
  tool-hub mcp install cursor --dry-run
  tool-hub mcp install vscode --user --root ~/work`

/** `mcp install`: puts tool-hub into the config of another program. */
export function describeMcpInstall(command: Command): void {
  command
    .summary('Put tool-hub into Claude Code, Cursor or VS Code')
    .description('Put tool-hub into the config of the program that your agent runs in.')
    .argument('<client>', NAMES.join(', '))
    .option('--user', 'For all your projects, instead of this one')
    .option('--root <dir>', 'Folder that tools may read and write; that of the project unless said')
    .option('--config <file>', 'Config file that tool-hub shall use there')
    .option('--name <name>', 'Its name there', 'tool-hub')
    .option('--dry-run', 'Only show the change')
    .addHelpText('after', EXAMPLES)
    .action(install)
}

async function install(client: string, flags: InstallFlags): Promise<void> {
  const program = agentPrograms().find(({ name }) => name === client)
  if (!program) throw unknown(client)
  const file = fileOf(program, flags)
  const entry = ownEntry(program, {
    ...placesOf(program, flags, file),
    main: fileURLToPath(ownModule('cli/main').file),
  })
  const edit = planEdit(file, (before) => changeServer(file, before, { key: program.key, name: flags.name, entry }))
  await makeEdit(edit, flags, [program.next])
}

function fileOf({ project, user }: AgentProgram, flags: InstallFlags): string {
  return flags.user || project === undefined ? user : resolve(project)
}

/** Of all projects, only a folder that is spelt out is the same for each. */
function placesOf({ title }: AgentProgram, { root, config }: InstallFlags, file: string) {
  const isForAll = !file.startsWith(join(process.cwd(), ''))
  if (isForAll && root === undefined)
    throw new UsageError(`${title} would start tool-hub in any folder.`, 'Say which one tools may use: --root DIR.')
  return {
    ...(root !== undefined && { root: resolve(root) }),
    ...(config !== undefined && { config: isAbsolute(config) || isForAll ? resolve(config) : config }),
  }
}

function unknown(client: string): UsageError {
  return new UsageError(
    `${JSON.stringify(client)} is no program that tool-hub can be put into.`,
    didYouMean(client, NAMES) || `There are: ${NAMES.join(', ')}. For others, docs/mcp.md has the lines to paste.`,
  )
}
