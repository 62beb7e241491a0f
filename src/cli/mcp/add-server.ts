import { mcpServersSchema } from '../../config/mcp-schema.ts'
import { UsageError } from '../usage-error.ts'
import { serversIn } from './edit-servers.ts'
import { holdsSecret } from './holds-secret.ts'
import { makeEdit } from './make-edit.ts'
import { ownConfigFile, planServers } from './own-config.ts'

/** What the options of `mcp add` and `mcp remove` say. */
export interface AddFlags {
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

/** Puts a server into the config. */
export async function addServer(name: string, words: string[], flags: AddFlags): Promise<void> {
  const entry = entryOf(words, flags)
  const checked = mcpServersSchema.safeParse({ [name]: entry })
  if (!checked.success) throw invalid(name, checked.error.issues)
  const file = await ownConfigFile(flags)
  const edit = planServers(file, [{ name, entry }])
  if (!flags.force && Object.hasOwn(serversIn(file, edit.before ?? '', 'mcpServers'), name))
    throw new UsageError(`There is a server ${name} already.`, 'Use --force to replace it, or choose another name.')
  await makeEdit(edit, flags, [`Then: tool-hub mcp test ${name}`])
}

/** Takes a server out of the config. */
export async function removeServer(name: string, flags: AddFlags): Promise<void> {
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
