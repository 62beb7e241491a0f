import { didYouMean } from '@tool-hub/core'
import { normalName, type TokenEntry } from '@tool-hub/core/protocol'
import type { TokenRegister } from '@tool-hub/server/auth'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { addConfigOption, addDefaultList, parseTime } from '../input/options.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { asUsage, describeTokensAdd, withTokens } from './tokens-add.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  tool-hub tokens
  tool-hub tokens add ci --scopes call,read --profile coding --expires 30d
  tool-hub tokens rotate ci
  tool-hub tokens revoke ci`

const ROTATE_EXAMPLES = `
The token keeps its name, limits and lifetime, which begins again. Its runs and sessions belong to the name, so they go on.
Only the new secret is printed on stdout. Without --overlap 0, the secret before the current one must have ended.

Examples:
  tool-hub tokens rotate ci                     give ci's users 24 hours to take the new secret
  tool-hub tokens rotate ci --overlap 7d
  tool-hub tokens rotate ci --overlap 0         the secret is known to others: end it and what it has open`

/** `tokens`: who may come in over the network. */
export function describeTokens(command: Command): void {
  command.description('Create, list, rotate and revoke the tokens that programs and people use to call the service.')
  addConfigOption(addDefaultList(command, 'List the tokens, oldest first')).action(list)
  command.addHelpText('after', EXAMPLES)
  describeTokensAdd(command.command('add').summary('Create a token'))
  addConfigOption(command.command('rotate'))
    .summary('Give a token a new secret')
    .description('Give a token a new secret and print it; the current one stays valid for a while.')
    .argument('<token>', 'Name or id of the token')
    .option('--overlap <duration>', 'How long the current secret stays valid, at most 30d', '24h')
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(rotate)
  addConfigOption(command.command('revoke'))
    .summary('Revoke a token')
    .description('Revoke a token with all its secrets; a running server refuses it within two seconds.')
    .argument('<token>', 'Name or id of the token')
    .addHelpText('after', '\nExamples:\n  tool-hub tokens revoke ci\n  tool-hub tokens revoke token-b513ab00c0dc9f03')
    .action(revoke)
}

async function list(flags: Flags): Promise<void> {
  const tokens = await withTokens(flags, (register) => register.list())
  if (flags.json) return printJson(tokens)
  if (tokens.length === 0) return say('No tokens. Create one with tool-hub tokens add NAME.')
  await print(table(tokens.map(row)))
}

async function rotate(wanted: string, flags: Flags & { readonly overlap: string }): Promise<void> {
  const overlapMs = flags.overlap === '0' ? 0 : parseTime('--overlap', flags.overlap)
  const rotated = await withTokens(flags, async (register) => {
    const { id } = await find(register, wanted)
    return (await register.rotate(id, { overlapMs }, { mayAllow: true })) ?? refuseUnknown(wanted, [])
  }).catch(asUsage)
  if (flags.json) return printJson(rotated)
  const { name, previous } = rotated.token
  const old = previous ? `stays valid until ${dateOf(previous.expiresAt)} UTC` : 'has been revoked'
  say(`Token ${name} has a new secret; the one before ${old}. This is the new one; it is not shown again:`)
  await print(rotated.secret)
}

async function revoke(wanted: string, flags: Flags): Promise<void> {
  const { id, name } = await withTokens(flags, async (register) => {
    const token = await find(register, wanted)
    return (await register.remove(token.id)) ? token : refuseUnknown(wanted, [])
  })
  await (flags.json ? printJson({ revoked: id, name }) : print(`Revoked ${name} (${id}).`))
}

async function find(register: TokenRegister, wanted: string): Promise<TokenEntry> {
  const tokens = await register.list()
  const found = tokens.find((each) => each.id === wanted) ?? tokens.find((each) => each.name === normalName(wanted))
  const names = tokens.map((each) => each.name)
  return found ?? refuseUnknown(wanted, names)
}

function refuseUnknown(wanted: string, known: readonly string[]): never {
  throw new UsageError(
    `Token ${JSON.stringify(wanted)} not found.`,
    didYouMean(wanted, known) || 'List them with tool-hub tokens.',
  )
}

function row(token: TokenEntry): string[] {
  const {
    id,
    name,
    scopes,
    profile,
    policy = [],
    budget = {},
    rate,
    roots = [],
    allowDanger,
    expiresAt,
    usedAt,
    previous,
  } = token
  const limits = [
    ...(previous ? [`previous secret ${previousOf(previous)}`] : []),
    ...(profile ? [`profile ${profile}`] : []),
    ...(policy.length > 0 ? [`${policy.length} rules`] : []),
    ...(allowDanger ? ['danger allowed'] : []),
    ...(Object.keys(budget).length > 0 ? [`a day ${budgetOf(budget)}`] : []),
    ...(rate ? [`${rate.perSecond}/s`] : []),
    ...roots.map(({ path, mode }) => `root ${path}${mode === 'read' ? ' (only to read)' : ''}`),
  ]
  const isOver = expiresAt !== undefined && expiresAt <= Date.now()
  const end = expiresAt === undefined ? 'no end' : `${isOver ? 'expired' : 'until'} ${dateOf(expiresAt)}`
  const used = usedAt === undefined ? 'never used' : `used ${dateOf(usedAt)}`
  return [id, name, scopes.join(','), end, used, limits.join(', ')]
}

function previousOf({ expiresAt, usedAt }: NonNullable<TokenEntry['previous']>): string {
  return `until ${dateOf(expiresAt)} (${usedAt === undefined ? 'never used' : `used ${dateOf(usedAt)}`})`
}

function budgetOf({ calls, wallMs, bytes, cost }: NonNullable<TokenEntry['budget']>): string {
  const parts = [
    calls !== undefined && `${calls} calls`,
    wallMs !== undefined && `${wallMs / 1_000} s`,
    bytes !== undefined && `${bytes} bytes`,
    cost !== undefined && `cost ${cost}`,
  ]
  return parts.filter(Boolean).join(' + ')
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
