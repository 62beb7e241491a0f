import type { Command } from 'commander'
import { mcpServersSchema } from '../../config/mcp-schema.ts'
import { addConfigOption } from '../input/add-options.ts'
import { serversIn } from '../mcp/edit-servers.ts'
import { holdsSecret } from '../mcp/holds-secret.ts'
import { makeEdit } from '../mcp/make-edit.ts'
import { ownConfigFile, planServers } from '../mcp/own-config.ts'
import { UsageError } from '../usage-error.ts'

interface AddFlags {
  readonly config?: string
  readonly url?: string
  readonly header?: readonly string[]
  readonly env?: readonly string[]
  readonly cwd?: string
  readonly trust?: boolean
  readonly sandbox?: boolean
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  tool-hub mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  tool-hub mcp add github --env GITHUB_TOKEN='\${env:GITHUB_TOKEN}' --sandbox -- npx -y some-github-server
  tool-hub mcp add docs --url https://mcp.example.org/mcp --header 'Authorization=Bearer \${secret:docs}'`

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
    .action(add)
}

/** `mcp remove`: a server out of the config. */
export function describeMcpRemove(command: Command): void {
  addConfigOption(command)
    .summary('Take an MCP server out of the config')
    .description('Take an MCP server out of the config.')
    .argument('<name>', 'Its name')
    .option('--dry-run', 'Only show the change')
    .action(remove)
}

async function add(name: string, words: string[], flags: AddFlags): Promise<void> {
  const entry = entryOf(words, flags)
  const checked = mcpServersSchema.safeParse({ [name]: entry })
  if (!checked.success) throw invalid(name, checked.error.issues)
  const file = await ownConfigFile(flags)
  const edit = planServers(file, [{ name, entry }])
  if (!flags.force && Object.hasOwn(serversIn(file, edit.before ?? '', 'mcpServers'), name))
    throw new UsageError(`There is a server ${name} already.`, 'Use --force to replace it, or choose another name.')
  await makeEdit(edit, flags, [`Then: tool-hub mcp test ${name}`])
}

async function remove(name: string, flags: AddFlags): Promise<void> {
  const file = await ownConfigFile(flags)
  const edit = planServers(file, [{ name, entry: undefined }])
  const known = Object.keys(serversIn(file, edit.before ?? '', 'mcpServers'))
  if (!known.includes(name))
    throw new UsageError(`There is no server ${name}.`, known.length > 0 ? `There are: ${known.join(', ')}.` : '')
  await makeEdit(edit, flags, [])
}

function entryOf(words: readonly string[], flags: AddFlags): Record<string, unknown> {
  const { url, cwd, trust, sandbox } = flags
  const [command, ...args] = words
  if ((url === undefined) === (command === undefined))
    throw new UsageError('Give a program after --, or --url, one of the two.', 'tool-hub mcp add --help shows both.')
  if (url !== undefined && (flags.env || cwd || sandbox))
    throw new UsageError('--env, --cwd and --sandbox are for programs.', 'For a service use --header.')
  if (url === undefined && flags.header) throw new UsageError('--header is for services.', 'For a program use --env.')
  return {
    ...(url === undefined ? { command } : { url }),
    ...(args.length > 0 && { args }),
    ...(flags.env && { env: pairs('--env', flags.env) }),
    ...(flags.header && { headers: pairs('--header', flags.header) }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox && { sandbox }),
    ...(trust && { trust }),
  }
}

/** A secret in the config would be read by everybody who reads the config. */
function pairs(option: string, written: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    written.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new UsageError(`${option} takes NAME=VALUE, not ${JSON.stringify(pair)}.`, '')
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
      if (holdsSecret(value))
        throw new UsageError(
          `The value of ${name} looks like a secret, which does not belong into a config.`,
          `Set it in your environment and write ${option} ${name}='\${env:${name}}'.`,
        )
      return [name, value]
    }),
  )
}

function invalid(
  name: string,
  [issue]: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[],
) {
  const where = issue?.path.slice(1).join('.')
  return new UsageError(
    `The server ${name} cannot be added: ${where ? `${where}: ` : ''}${issue?.message}.`,
    'Names have letters, digits, _ and -, at most 32.',
  )
}
