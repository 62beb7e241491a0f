import type { PrincipalEntry } from '../../api/types.ts'
import { formatBytes } from '../../components/format-bytes.ts'
import { formatDuration } from '../../components/format-duration.ts'

const KINDS: Record<PrincipalEntry['kind'], string> = {
  owner: 'owner of the hub',
  token: 'token',
  user: 'person signed in with OIDC',
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

/** What somebody is, in a word or two. */
export function describeKind({ kind }: Pick<PrincipalEntry, 'kind'>): string {
  return KINDS[kind]
}

/** What somebody may do, a phrase each. */
export function describeRights(principal: PrincipalEntry): string[] {
  const { kind, state, scopes = [], limits = {}, rules = 0 } = principal
  if (state === 'gone') return ['nothing any more: the token was revoked']
  if (kind === 'owner') return ['everything that the rules allow', ...Object.values(SCOPES).slice(1)]
  if (kind === 'user') return ['what service.oidc gives to this person']
  if (kind !== 'token') return ['everything that the rules allow, as the owner of the hub']
  const { profile, roots = [], rate, allowDanger = false } = limits
  const mayCall = scopes.includes('call')
  return [
    ...(state === 'expired' ? ['nothing any more: the token has expired'] : []),
    ...scopes.map((scope) => SCOPES[scope]),
    ...(profile === undefined ? [] : [`tools of the profile ${profile}`]),
    ...roots.map(({ path, mode }) => `${mode === 'read' ? 'reads' : 'reads and writes'} ${path}`),
    ...(mayCall
      ? [allowDanger ? 'commands and destructive calls as the rules say' : 'no commands, nothing destructive']
      : []),
    ...(rules > 0 ? [rules === 1 ? '1 rule of its own' : `${rules.toLocaleString('en')} rules of its own`] : []),
    ...(rate === undefined ? [] : [`${rate.perSecond.toLocaleString('en')} requests per second`]),
  ]
}

/** How much of a budget is used today: “12 of 200 calls”. */
export function describeUse({ unit, used, limit }: PrincipalEntry['budgets'][number]): string {
  return `${UNITS[unit](used)} of ${UNITS[unit](limit)} ${UNIT_WORDS[unit]}`
}
