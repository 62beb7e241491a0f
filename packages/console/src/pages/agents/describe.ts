import type { AgentEntry, AgentStatus, PrincipalEntry } from '../../api/types.ts'
import { formatBytes, formatDuration } from '../../lib/format.ts'

const KINDS: Record<PrincipalEntry['kind'], string> = {
  owner: 'owner of the hub',
  token: 'token',
  user: 'user signed in with OIDC',
  config: 'schedules of the config',
  cli: 'command line',
  mcp: 'MCP client on this machine',
  program: 'program',
}
const SCOPES = { call: 'calls tools', approve: 'answers approvals', read: 'reads everything', admin: 'administers' }
const UNITS: Record<PrincipalEntry['budgets'][number]['unit'], (value: number) => string> = {
  calls: (value) => value.toLocaleString('en'),
  wallMs: formatDuration,
  bytes: formatBytes,
  cost: (value) => value.toLocaleString('en'),
}
const UNIT_WORDS = { calls: 'calls', wallMs: 'of tool time', bytes: 'of output', cost: 'of cost' }

/** The kind of a principal. */
export function describeKind({ kind }: Pick<PrincipalEntry, 'kind'>): string {
  return KINDS[kind]
}

/** The permissions of a principal, one phrase each. */
export function describeRights(principal: PrincipalEntry): string[] {
  const { kind, state, scopes = [], limits = {}, rules = 0 } = principal
  if (state === 'gone') return ['nothing: the token was revoked']
  if (kind === 'owner') return ['everything that the rules allow', ...Object.values(SCOPES).slice(1)]
  if (kind === 'user') return ['what service.oidc grants this user']
  if (kind !== 'token') return ['everything that the rules allow, as the owner of the hub']
  const { profile, roots = [], rate, allowDanger = false } = limits
  const mayCall = scopes.includes('call')
  return [
    ...(state === 'expired' ? ['nothing: the token has expired'] : []),
    ...scopes.map((scope) => SCOPES[scope]),
    ...(profile === undefined ? [] : [`tools of the profile ${profile}`]),
    ...roots.map(({ path, mode }) => `${mode === 'read' ? 'reads' : 'reads and writes'} ${path}`),
    ...(mayCall
      ? [allowDanger ? 'commands and destructive calls as the rules allow' : 'no commands or destructive calls']
      : []),
    ...(rules > 0 ? [rules === 1 ? '1 own rule' : `${rules.toLocaleString('en')} own rules`] : []),
    ...(rate === undefined ? [] : [`${rate.perSecond.toLocaleString('en')} requests per second`]),
  ]
}

/** How much of a budget is used today: “12 of 200 calls”. */
export function describeUse({ unit, used, limit }: PrincipalEntry['budgets'][number]): string {
  return `${UNITS[unit](used)} of ${UNITS[unit](limit)} ${UNIT_WORDS[unit]}`
}

/** The used part of a budget; units without a limit are listed without one. */
export function describeBudget({ used, limits }: NonNullable<AgentStatus['budget']>): string {
  const of = (limit: number | undefined, write: (value: number) => string) =>
    limit === undefined ? '' : ` of ${write(limit)}`
  const count = (value: number) => value.toLocaleString('en')
  return [
    `${count(used.calls)}${of(limits.calls, count)} ${(limits.calls ?? used.calls) === 1 ? 'call' : 'calls'}`,
    `${formatDuration(used.wallMs)}${of(limits.wallMs, formatDuration)}`,
    ...(used.cost > 0 || limits.cost !== undefined ? [`cost ${count(used.cost)}${of(limits.cost, count)}`] : []),
  ].join(', ')
}

/** A session and its depth in the tree. */
export interface AgentRow {
  readonly agent: AgentEntry
  readonly depth: number
}

const MAX_DEPTH = 20

/** Orders sessions as a tree: each below the session that started it. A session with an unknown parent is a root. */
export function orderAsTree(agents: readonly AgentEntry[]): AgentRow[] {
  const known = new Set(agents.map(({ id }) => id))
  const children = new Map<string | undefined, AgentEntry[]>()
  for (const agent of agents) {
    const above = agent.parent !== agent.id && known.has(agent.parent ?? '') ? agent.parent : undefined
    children.set(above, [...(children.get(above) ?? []), agent])
  }
  const rows: AgentRow[] = []
  const place = (of: string | undefined, depth: number) => {
    for (const agent of children.get(of) ?? []) {
      rows.push({ agent, depth })
      if (depth < MAX_DEPTH) place(agent.id, depth + 1)
    }
  }
  place(undefined, 0)
  const placed = new Set(rows.map(({ agent }) => agent.id))
  return [...rows, ...agents.filter(({ id }) => !placed.has(id)).map((agent) => ({ agent, depth: 0 }))]
}
