import type { Command } from 'commander'
import { didYouMean } from '../../core/index.ts'
import type { TokenEntry } from '../../protocol/index.ts'
import { UsageError } from '../exit.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'
import { describeTokensAdd, withTokens } from './tokens-add.ts'

interface Flags {
  readonly config?: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  tool-hub tokens
  tool-hub tokens add ci --scopes call,read --profile coding --expires 30d
  tool-hub tokens revoke ci`

/** `tokens`: who may come in over the network. */
export function describeTokens(command: Command): void {
  command.description('Create, list and revoke the tokens that programs and people use to call the service.')
  addConfigOption(addDefaultList(command, 'List the tokens, oldest first')).action(list)
  command.addHelpText('after', EXAMPLES)
  describeTokensAdd(command.command('add').summary('Create a token'))
  addConfigOption(command.command('revoke'))
    .summary('Revoke a token')
    .description('Revoke a token; a running server refuses it within two seconds.')
    .argument('<token>', 'Name or id of the token')
    .addHelpText('after', '\nExamples:\n  tool-hub tokens revoke ci\n  tool-hub tokens revoke token-b513ab00c0dc9f03')
    .action(revoke)
}

async function list(flags: Flags): Promise<void> {
  const tokens = await withTokens(flags, (register) => register.list())
  if (flags.json) return printJson(tokens)
  if (tokens.length === 0) return say('There is no token. Make one with tool-hub tokens add NAME.')
  await print(table(tokens.map(row)))
}

async function revoke(wanted: string, flags: Flags): Promise<void> {
  const { id, name } = await withTokens(flags, async (register) => {
    const tokens = await register.list()
    const token = tokens.find((each) => each.id === wanted) ?? tokens.find((each) => each.name === wanted)
    if (token && (await register.remove(token.id))) return token
    const known = tokens.map((each) => each.name)
    throw new UsageError(
      `There is no token ${JSON.stringify(wanted)}.`,
      didYouMean(wanted, known) || 'List them with tool-hub tokens.',
    )
  })
  await (flags.json ? printJson({ revoked: id, name }) : print(`Revoked ${name} (${id}).`))
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
  } = token
  const limits = [
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
