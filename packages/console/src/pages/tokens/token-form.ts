import { isGivenName, NAME_SIGNS } from '@tool-hub/core/protocol/given-name'
import type { NewToken, Scope, TokenEntry } from '../../api/types.ts'
import { formatBytes, formatDuration } from '../../lib/format.ts'

/** The values of the token form, all as text. */
export interface TokenForm {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly days: string
  readonly profile: string
  readonly calls: string
  readonly minutes: string
  readonly megabytes: string
  readonly cost: string
  readonly perSecond: string
  readonly roots: string
  readonly rules: string
}

/** Problems by field. */
export type TokenProblems = Partial<Record<keyof TokenForm, string>>

/** The initial values of the form. */
export const EMPTY_TOKEN: TokenForm = {
  name: '',
  scopes: ['call'],
  days: '90',
  profile: '',
  calls: '',
  minutes: '',
  megabytes: '',
  cost: '',
  perSecond: '',
  roots: '',
  rules: '',
}

const AMOUNTS = ['calls', 'minutes', 'megabytes', 'cost', 'perSecond'] as const
const DAY_MS = 86_400_000

/** The problems of a form before it is sent; the server validates everything. */
export function checkTokenForm(form: TokenForm): TokenProblems {
  const problems: TokenProblems = {}
  if (!isGivenName(form.name, 64)) problems.name = `Use ${NAME_SIGNS}, at most 64.`
  if (form.scopes.length === 0) problems.scopes = 'Select at least one scope.'
  for (const key of AMOUNTS) {
    const amount = Number(form[key])
    const isTooSmall = key === 'perSecond' ? amount <= 0 : amount < 0
    if (form[key].trim() !== '' && (!Number.isFinite(amount) || isTooSmall)) problems[key] = 'A number above 0.'
  }
  if (readRoots(form.roots).some(({ path }) => !/^(\/|[a-zA-Z]:[\\/])/.test(path)))
    problems.roots = 'Use absolute paths, such as /srv/data.'
  if (readRules(form.rules) === undefined) problems.rules = 'A JSON list of rules: [{ "deny": "network" }]'
  return problems
}

/** The request body of a form without problems. */
export function toNewToken(form: TokenForm, now: number): NewToken {
  const amount = (text: string, unit = 1) => (text.trim() === '' ? undefined : Number(text) * unit)
  const budget = without({
    calls: amount(form.calls),
    wallMs: amount(form.minutes, 60_000),
    bytes: amount(form.megabytes, 1_000_000),
    cost: amount(form.cost),
  })
  const perSecond = amount(form.perSecond)
  const roots = readRoots(form.roots)
  const policy = readRules(form.rules) ?? []
  return {
    name: form.name,
    scopes: [...form.scopes],
    ...(form.days !== '' && { expiresAt: now + Number(form.days) * DAY_MS }),
    ...(form.profile !== '' && { profile: form.profile as NewToken['profile'] }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(perSecond !== undefined && { rate: { perSecond } }),
    ...(roots.length > 0 && { roots }),
    ...(policy.length > 0 && { policy }),
  }
}

function readRoots(text: string): { path: string; mode: 'read' | 'write' }[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line !== '')
    .map((line) =>
      line.endsWith(':read') ? { path: line.slice(0, -':read'.length), mode: 'read' } : { path: line, mode: 'write' },
    )
}

function readRules(text: string): Record<string, unknown>[] | undefined {
  if (text.trim() === '') return []
  try {
    const rules: unknown = JSON.parse(text)
    const isList = Array.isArray(rules) && rules.every((rule) => typeof rule === 'object' && rule !== null)
    return isList ? rules : undefined
  } catch {
    // Not valid JSON: the form shows the expected format.
    return undefined
  }
}

function without<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
}

type Limits = Pick<TokenEntry, 'profile' | 'policy' | 'budget' | 'roots' | 'rate' | 'allowDanger'>

/** The limits of a token in one line. */
export function describeLimits({ profile, policy = [], budget = {}, roots = [], rate, allowDanger }: Limits): string {
  const { calls, wallMs, bytes, cost } = budget
  const words = [
    profile !== undefined && `profile ${profile}`,
    calls !== undefined && `${calls.toLocaleString('en')} calls per day`,
    wallMs !== undefined && `${formatDuration(wallMs)} per day`,
    bytes !== undefined && `${formatBytes(bytes)} per day`,
    cost !== undefined && `cost ${cost.toLocaleString('en')} per day`,
    rate !== undefined && `${rate.perSecond.toLocaleString('en')} requests per second`,
    policy.length > 0 && (policy.length === 1 ? '1 own rule' : `${policy.length} own rules`),
    roots.length > 0 && roots.map(({ path, mode }) => (mode === 'read' ? `${path} (read)` : path)).join(', '),
    allowDanger === true && 'commands and destructive calls as the rules allow',
  ].filter((word) => word !== false)
  return words.length === 0 ? 'none' : words.join('; ')
}
