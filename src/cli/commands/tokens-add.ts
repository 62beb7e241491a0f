import { dirname } from 'node:path'
import type { Command } from 'commander'
import { ToolError } from '../../errors.ts'
import type { NewToken } from '../../serve/api/service.ts'
import { addConfigOption } from '../input/add-options.ts'
import { print, printJson, say } from '../output/print.ts'
import { UsageError } from '../usage-error.ts'
import { readTokenPolicy } from './tokens-policy.ts'
import { type LimitFlags, readBudget, readExpiry, readRate, readRoots, readScopes } from './tokens-read-flags.ts'
import { withTokens } from './tokens-register.ts'

interface Flags extends LimitFlags {
  readonly config?: string
  readonly json?: boolean
  readonly profile?: string
  readonly policy?: string
  readonly allowDanger?: boolean
}

const EXAMPLES = `
The secret is printed once, alone on stdout; only its hash is kept.
Commands and calls that destroy something are off for a token unless it has --allow-danger; policy decides then.

Examples:
  tool-hub tokens add ci
  tool-hub tokens add ci --scopes call,read --profile coding --expires 30d
  tool-hub tokens add nightly --budget calls=1000,time=10m --rate 10/s --root ./data:read --root ./out
  tool-hub tokens add deputy --scopes read,approve
  tool-hub tokens add builder --policy builder.yaml --allow-danger    a file with policy: [ … ]`

/** `tokens add`: makes a token. */
export function describeTokensAdd(command: Command): void {
  addConfigOption(command)
    .description('Make a token, and print its secret.')
    .argument('<name>', 'Who it is for; recorded with every call as token:NAME')
    .option('--scopes <list>', 'What it may do: call, approve, read, admin', 'call')
    .option('--profile <name>', 'Which tools it sees: minimal, coding, messaging, full')
    .option('--policy <file>', 'Rules that hold for it beside those of the config')
    .option('--budget <list>', 'What it may use a day: calls=, time=, bytes=, cost=')
    .option('--rate <rate>', 'How often it may ask, e.g. 10/s')
    .option('--root <path>', 'A folder instead of those of the config; with :read only to read', append)
    .option('--expires <duration>', 'When it expires: a time such as 30d, or never', '90d')
    .option('--allow-danger', 'Let policy decide about commands and destruction, which are off otherwise')
    .addHelpText('after', EXAMPLES)
    .action(add)
}

async function add(name: string, flags: Flags): Promise<void> {
  const policy = flags.policy === undefined ? undefined : await readTokenPolicy(flags.policy)
  const expiresAt = readExpiry(flags.expires)
  const wish = {
    name,
    scopes: readScopes(flags.scopes),
    ...(flags.profile !== undefined && { profile: flags.profile as NewToken['profile'] }),
    ...(policy && { policy: policy.rules }),
    ...(flags.budget !== undefined && { budget: readBudget(flags.budget) }),
    ...(flags.rate !== undefined && { rate: readRate(flags.rate) }),
    ...(flags.root && { roots: readRoots(flags.root) }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(flags.allowDanger && { allowDanger: true }),
  }
  const base = policy ? dirname(policy.file) : process.cwd()
  const created = await withTokens(flags, (tokens) => tokens.create(wish, { mayAllow: true, base })).catch(asUsage)
  if (flags.json) return printJson(created)
  const end = expiresAt === undefined ? '' : ` until ${new Date(expiresAt).toISOString().slice(0, 10)}`
  say(`Token ${name} may ${wish.scopes.join(', ')}${end}. This is its secret; it is not shown again:`)
  await print(created.secret)
  say(USE)
}

const USE = `Use it where tool-hub serve says that it listens:
  export TOOL_HUB_TOKEN=…
  curl -H "Authorization: Bearer $TOOL_HUB_TOKEN" URL/v1/tools
  MCP:  { "type": "http", "url": "URL/mcp", "headers": { "Authorization": "Bearer \${env:TOOL_HUB_TOKEN}" } }`

/** What is wrong with the token was said on the command line. */
function asUsage(error: unknown): never {
  if (!ToolError.is(error) || (error.code !== 'INPUT_SCHEMA_INVALID' && error.code !== 'CONFLICT')) throw error
  throw new UsageError(error.message, error.fix.hint)
}

function append(value: string, known: readonly string[] = []): readonly string[] {
  return [...known, value]
}
