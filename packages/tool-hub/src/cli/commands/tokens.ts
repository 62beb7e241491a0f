import { dirname, resolve } from 'node:path'
import { checkConfig, parseRate, parseSize, readDocument } from '@tool-hub/config'
import { type CommandFlags, didYouMean, messageOf, ToolError } from '@tool-hub/core'
import { type NewToken, normalName, SCOPES, type Scope, type TokenEntry } from '@tool-hub/core/protocol'
import type { TokenRegister } from '@tool-hub/server/auth'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { readCliConfig } from '../hub/config.ts'
import { addCommand, parseTime } from '../input/options.ts'
import { minuteOf } from '../output/layout.ts'
import { print, printTable, say } from '../output/print.ts'

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

const TOKEN = { '<token>': 'Name or id of the token' }

/** `tokens`: who may come in over the network. */
export function describeTokens(command: Command): void {
  command.description('Create, list, rotate and revoke the tokens that programs and people use to call the service.')
  addCommand(command, {
    name: 'list',
    summary: 'List the tokens, oldest first',
    run: (flags: CommandFlags) => withTokens(flags, (register) => register.list()),
    show: (tokens) => printTable(tokens.map(row), 'No tokens. Create one with tool-hub tokens add NAME.'),
  })
  command.addHelpText('after', EXAMPLES)
  describeTokensAdd(command)
  addCommand(command, {
    name: 'rotate',
    summary: 'Give a token a new secret',
    description: 'Give a token a new secret and print it; the current one stays valid for a while.',
    words: TOKEN,
    options: (to) => to.option('--overlap <duration>', 'How long the current secret stays valid, at most 30d', '24h'),
    help: ROTATE_EXAMPLES,
    run({ overlap, ...flags }: CommandFlags & { readonly overlap: string }, wanted: string) {
      const overlapMs = overlap === '0' ? 0 : parseTime('--overlap', overlap)
      return withTokens(flags, async (register) => {
        const { id } = await find(register, wanted)
        return (await register.rotate(id, { overlapMs }, { mayAllow: true })) ?? refuseUnknown(wanted, [])
      }).catch(asUsage)
    },
    show({ token: { name, previous }, secret }) {
      const old = previous ? `stays valid until ${minuteOf(previous.expiresAt)} UTC` : 'has been revoked'
      say(`Token ${name} has a new secret; the one before ${old}. This is the new one; it is not shown again:`)
      return secret
    },
  })
  addCommand(command, {
    name: 'revoke',
    summary: 'Revoke a token',
    description: 'Revoke a token with all its secrets; a running server refuses it within two seconds.',
    words: TOKEN,
    help: '\nExamples:\n  tool-hub tokens revoke ci\n  tool-hub tokens revoke token-b513ab00c0dc9f03',
    run: (flags: CommandFlags, wanted: string) =>
      withTokens(flags, async (register) => {
        const { id, name } = await find(register, wanted)
        return (await register.remove(id)) ? { revoked: id, name } : refuseUnknown(wanted, [])
      }),
    show: ({ revoked, name }) => `Revoked ${name} (${revoked}).`,
  })
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
  const end = expiresAt === undefined ? 'no end' : `${isOver ? 'expired' : 'until'} ${minuteOf(expiresAt)}`
  const used = usedAt === undefined ? 'never used' : `used ${minuteOf(usedAt)}`
  return [id, name, scopes.join(','), end, used, limits.join(', ')]
}

function previousOf({ expiresAt, usedAt }: NonNullable<TokenEntry['previous']>): string {
  return `until ${minuteOf(expiresAt)} (${usedAt === undefined ? 'never used' : `used ${minuteOf(usedAt)}`})`
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

const UNITS = new Map<string, (text: string) => { calls?: number; wallMs?: number; bytes?: number; cost?: number }>([
  ['calls', (text) => ({ calls: readNumber(text) })],
  ['time', (text) => ({ wallMs: parseTime('--budget', text) })],
  ['bytes', (text) => ({ bytes: orUsage('--budget', () => parseSize(text)) })],
  ['cost', (text) => ({ cost: readNumber(text) })],
])

const KEYS = new Set(['policy', 'version'])

interface Flags extends LimitFlags {
  readonly config?: string
  readonly profile?: string
  readonly policy?: string
  readonly allowDanger?: boolean
}

const ADD_EXAMPLES = `
The secret is printed once, alone on stdout; only its hash is stored.
A token may not run commands or destructive calls unless it has --allow-danger; then the policy decides.

Examples:
  tool-hub tokens add ci
  tool-hub tokens add ci --scopes call,read --profile coding --expires 30d
  tool-hub tokens add nightly --budget calls=1000,time=10m --rate 10/s --root ./data:read --root ./out
  tool-hub tokens add deputy --scopes read,approve
  tool-hub tokens add builder --policy builder.yaml --allow-danger    a file with policy: [ … ]`

/** `tokens add`: makes a token. */
function describeTokensAdd(group: Command): void {
  addCommand(group, {
    name: 'add',
    summary: 'Create a token',
    description: 'Create a token and print its secret.',
    words: { '<name>': 'Who it is for; recorded with every call as token:NAME' },
    options: (to) =>
      (to as Command)
        .option('--scopes <list>', 'What it may do: call, approve, read, admin', 'call')
        .option('--profile <name>', 'Which tools it sees: minimal, coding, messaging, full')
        .option('--policy <file>', 'Rules that apply to it in addition to those of the config')
        .option('--budget <list>', 'Budget per day: calls=, time=, bytes=, cost=')
        .option('--rate <rate>', 'Rate of requests, e.g. 10/s')
        .option('--root <path>', 'Folder to use instead of those of the config; :read makes it read-only', append)
        .option('--expires <duration>', 'When it expires: a duration such as 30d, or never', '90d')
        .option(
          '--allow-danger',
          'Let the policy decide about commands and destructive calls, which are denied otherwise',
        ),
    help: ADD_EXAMPLES,
    run: (flags: Flags, name: string) => create(name, flags),
    async show({ token: { name, expiresAt }, secret }, { scopes }) {
      const end = expiresAt === undefined ? '' : ` until ${new Date(expiresAt).toISOString().slice(0, 10)}`
      say(`Token ${name} may ${parseScopeFlags(scopes).join(', ')}${end}. This is its secret; it is not shown again:`)
      await print(secret)
      say(USE)
    },
  })
}

async function create(name: string, flags: Flags) {
  const policy = flags.policy === undefined ? undefined : await readTokenPolicy(flags.policy)
  const expiresAt = readExpiry(flags.expires)
  const wanted = {
    name,
    scopes: parseScopeFlags(flags.scopes),
    ...(flags.profile !== undefined && { profile: flags.profile as NewToken['profile'] }),
    ...(policy && { policy: policy.rules }),
    ...(flags.budget !== undefined && { budget: readBudget(flags.budget) }),
    ...(flags.rate !== undefined && { rate: readRate(flags.rate) }),
    ...(flags.root && { roots: readRoots(flags.root) }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(flags.allowDanger && { allowDanger: true }),
  }
  const base = policy ? dirname(policy.file) : process.cwd()
  return withTokens(flags, (tokens) => tokens.create(wanted, { mayAllow: true, base })).catch(asUsage)
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

/** The rules of a token as they are written, with the file they come from. */
interface TokenPolicy {
  readonly file: string
  readonly rules: Record<string, unknown>[]
}

/** Reads a file with `policy: [ … ]`; whatever is wrong with it is reported with its line. */
async function readTokenPolicy(path: string): Promise<TokenPolicy> {
  const cwd = process.cwd()
  const document = await readDocument(resolve(cwd, path), cwd)
  checkConfig(document)
  const { policy } = Object(document.value) as { policy?: Record<string, unknown>[] }
  const other = Object.keys(Object(document.value)).find((key) => !KEYS.has(key))
  if (!Array.isArray(policy) || other !== undefined) {
    const what = other === undefined ? 'has no list of rules' : `says ${JSON.stringify(other)}, which no token heeds`
    throw new UsageError(`${document.label} ${what}.`, 'Write policy: and below it the rules, as in tool-hub.yaml.')
  }
  return { file: document.file, rules: policy }
}

/** What the options of `tokens add` say, as they were written. */
interface LimitFlags {
  readonly scopes: string
  readonly budget?: string
  readonly rate?: string
  readonly root?: readonly string[]
  readonly expires: string
}

/** `call,read` as scopes. */
export function parseScopeFlags(written: string): Scope[] {
  return written.split(',').map((word) => {
    const scope = SCOPES.find((each) => each === word.trim())
    if (scope) return scope
    const hint = didYouMean(word.trim(), SCOPES) || `There are: ${SCOPES.join(', ')}.`
    throw new UsageError(`--scopes: ${JSON.stringify(word)} is not a scope.`, hint)
  })
}

/** `calls=1000,time=10m` as a budget. */
export function readBudget(written: string): NonNullable<NewToken['budget']> {
  return Object.assign(
    {},
    ...written.split(',').map((part) => {
      const [unit = '', amount = ''] = part.trim().split('=', 2)
      const read = UNITS.get(unit)
      if (read) return read(amount)
      const hint = didYouMean(unit, [...UNITS.keys()]) || 'Write calls=1000,time=10m,bytes=10MB,cost=5.'
      throw new UsageError(`--budget: ${JSON.stringify(part)} is not known.`, hint)
    }),
  )
}

/** `10/s` as a rate. */
export function readRate(written: string): NonNullable<NewToken['rate']> {
  return orUsage('--rate', () => parseRate(written))
}

/** `./data:read` as a root. */
export function readRoots(written: readonly string[]): NonNullable<NewToken['roots']> {
  return written.map((text) => {
    const [, path = text, mode = 'write'] = /^(.+):(read|write)$/.exec(text) ?? []
    return { path: resolve(path), mode: mode === 'read' ? 'read' : 'write' }
  })
}

/** `30d` as the time when the token expires; `never` has none. */
export function readExpiry(written: string): number | undefined {
  return written === 'never' ? undefined : Date.now() + parseTime('--expires', written)
}

function readNumber(text: string): number {
  if (/^\d{1,15}(\.\d{1,6})?$/.test(text)) return Number(text)
  throw new UsageError(`--budget: ${JSON.stringify(text)} is not a number.`, 'Write calls=1000 or cost=2.5.')
}

function orUsage<T>(option: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(`${option}: ${messageOf(error)}`, ToolError.is(error) ? error.fix.hint : undefined)
  }
}

/** Works with the tokens of the data folder that the config names, whether a server uses it at the time or not. */
async function withTokens<T>(
  { config }: { readonly config?: string },
  use: (tokens: TokenRegister) => Promise<T>,
): Promise<T> {
  const { options } = await readCliConfig({ config, plugins: false })
  const { openStoreOf } = await import('@tool-hub/library/stores')
  const { createTokenRegister } = await import('@tool-hub/server/auth')
  const store = openStoreOf(options)
  try {
    return await use(createTokenRegister({ store }))
  } finally {
    await store.close()
  }
}
