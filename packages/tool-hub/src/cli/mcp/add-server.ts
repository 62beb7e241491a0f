import { describeIssue, mcpServersSchema, toJsonSchema } from '@tool-hub/config'
import { formatPath, SERVER_NAME } from '@tool-hub/core'
import { isPlainObject } from '@tool-hub/core/lib'
import { UsageError } from '../exit.ts'
import { ownCommand, quoteShellWord } from '../invocation.ts'
import { ownConfigFile, planServers, serversIn } from './edit-servers.ts'
import { makeEdit } from './file-edit.ts'
import { type TakenOut, withoutSecrets } from './secrets.ts'

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
  const fault = findFault(name, entry)
  if (fault) throw new UsageError(`The server ${name} cannot be added: ${fault.message}.`, fault.hint)
  const [secret] = withoutSecrets(name, entry).taken
  if (secret) throw holdsSecret(secret)
  const config = await ownConfigFile(flags)
  const edit = planServers(config, [{ name, entry }])
  if (!flags.force && Object.hasOwn(serversIn(config.file, edit.before ?? '', 'mcpServers'), name))
    throw new UsageError(`There is a server ${name} already.`, 'Use --force to replace it, or choose another name.')
  await makeEdit(edit, flags, [`Then: ${ownCommand()} mcp test ${name}`])
}

/** Takes a server out of the config. */
export async function removeServer(name: string, flags: AddFlags): Promise<void> {
  const config = await ownConfigFile(flags)
  const edit = planServers(config, [{ name, entry: undefined }])
  const known = Object.keys(serversIn(config.file, edit.before ?? '', 'mcpServers'))
  if (!known.includes(name))
    throw new UsageError(
      `Server ${name} not found in ${config.file}.`,
      known.length > 0 ? `There are: ${known.join(', ')}.` : 'It names no servers at all.',
    )
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

function pairs(option: string, written: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    written.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1)
        throw new UsageError(`${option} takes NAME=VALUE, not ${JSON.stringify(pair)}.`, `Write ${option} NAME=VALUE.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** A secret in the config would be read by everybody who reads the config. */
function holdsSecret({ part, key, variable, now }: TakenOut): UsageError {
  const what = { env: `The value of ${key}`, headers: `The header ${key}`, url: 'The address' }[part] ?? 'A word'
  const option = { env: '--env ', headers: '--header ', url: '--url ' }[part] ?? ''
  const word = quoteShellWord(key === undefined ? now : `${key}=${now}`)
  return new UsageError(
    `${what} looks like a secret, which does not belong into a config.`,
    `Set ${variable} in your environment and write ${option}${word}.`,
  )
}

/** What is wrong with a server, and what to do about it. */
interface Fault {
  readonly message: string
  readonly hint: string
}

/** What keeps a server out of the config; nothing when it is right. */
export function findFault(name: string, entry: unknown): Fault | undefined {
  if (!SERVER_NAME.test(name))
    return {
      message: `${JSON.stringify(name.slice(0, 64))} cannot be its name`,
      hint: 'Names have letters, digits, _ and -, a letter first, at most 32.',
    }
  if (!isPlainObject(entry)) return { message: `it is ${kindOf(entry)}, no object`, hint: SHAPE }
  const servers = { [name]: entry }
  const { error } = mcpServersSchema.safeParse(servers)
  if (!error) return undefined
  if (entry.command === undefined && entry.url === undefined)
    return { message: 'it has neither a command nor a url', hint: SHAPE }
  const [first] = error.issues.flatMap((issue) => describeIssue(issue, servers, toJsonSchema(mcpServersSchema)))
  const where = formatPath(first?.path.slice(1) ?? [])
  const told = first?.message.replace(/\.$/, '') ?? 'it cannot be read'
  return { message: `${where ? `${where}: ` : ''}${told}`, hint: where === 'url' ? ADDRESS : SHAPE }
}

const SHAPE = 'A server is { "command": "npx", "args": [ … ] } or { "url": "https://…" }.'
const ADDRESS = 'Write the address whole: https://mcp.example.org/mcp.'

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
