import type { BudgetLimits, FeatureDefinition, FeatureName, IndexedCaller, Store } from '@tool-hub/core'
import { escapeLine } from '@tool-hub/core/lib'
import type { PrincipalEntry, TokenEntry } from '@tool-hub/core/protocol'
import { features } from '@tool-hub/library/generated/list'
import { principalAccount } from '@tool-hub/runtime/limits'

/** Options of `listPrincipals`. */
export interface ListPrincipalsOptions {
  readonly store: Store
  readonly tokens: readonly TokenEntry[]
  readonly now: number
}

const MAX_CALLERS = 2_000
const MAX_EACH = 1_000
const MAX_NAMES = 10
const OWNER = 'owner'
/** The caller of schedules in the config file. */
const CONFIG = 'config'
const UNITS = ['calls', 'wallMs', 'bytes', 'cost'] as const

/**
 * Lists everybody who uses the hub with rights, budgets and use: the owner, every token, and every principal with a run
 * on record.
 */
export async function listPrincipals({ store, tokens, now }: ListPrincipalsOptions): Promise<PrincipalEntry[]> {
  const [callers, waiting, work] = await Promise.all([
    store.calls.callers({ limit: MAX_CALLERS }),
    store.approvals.briefs({ state: 'waiting', limit: MAX_EACH }),
    workOfFeatures(store),
  ])
  const byName = new Map(tokens.map((token) => [`token:${token.name}`, token]))
  const seen = groupBy(callers, ({ principal, caller }) => principal ?? caller)
  const waits = countBy(
    waiting.filter(({ expiresAt }) => expiresAt > now),
    ({ caller }) => rootOf(caller),
  )
  const workers = work.flatMap(([, counts]) => [...counts.keys()])
  const names = new Set([OWNER, ...byName.keys(), ...seen.keys(), ...waits.keys(), ...workers])
  const entries = [...names].map(async (name): Promise<PrincipalEntry> => {
    const token = byName.get(name)
    const of = seen.get(name) ?? []
    const lastAt = Math.max(token?.usedAt ?? 0, ...of.map((each) => each.lastAt))
    return {
      name: escapeLine(name),
      kind: kindOf(name),
      state: stateOf(name, token, now),
      ...(token && rightsOf(token)),
      budgets: await budgetUse(store, { name, budget: token?.budget }, now),
      ...(lastAt > 0 && { lastAt }),
      runs: sum(of, 'runs'),
      calls: sum(of, 'calls'),
      callers: otherNames(of, name),
      waiting: waits.get(name) ?? 0,
      ...(Object.fromEntries(work.map(([feature, counts]) => [feature, counts.get(name) ?? 0])) as FeatureCounts),
    }
  })
  return (await Promise.all(entries)).sort((a, b) => (b.lastAt ?? 0) - (a.lastAt ?? 0) || (a.name < b.name ? -1 : 1))
}

/** How much a feature does for a principal, by the name of the feature. */
type FeatureCounts = Pick<PrincipalEntry, FeatureName & keyof PrincipalEntry>

async function workOfFeatures(store: Store): Promise<(readonly [feature: string, Map<string, number>])[]> {
  const counting = features.map(async ({ name, inService }: FeatureDefinition) => {
    const principals = await inService?.principals?.(store, MAX_EACH)
    return principals ? [[name, countBy(principals, rootOf)] as const] : []
  })
  return (await Promise.all(counting)).flat()
}

function kindOf(name: string): PrincipalEntry['kind'] {
  if (name === OWNER || name === CONFIG) return name
  const [kind] = name.split(':')
  return kind === 'token' || kind === 'user' || kind === 'cli' || kind === 'mcp' ? kind : 'program'
}

function stateOf(name: string, token: TokenEntry | undefined, now: number): PrincipalEntry['state'] {
  if (kindOf(name) !== 'token') return 'active'
  if (!token) return 'gone'
  return token.expiresAt !== undefined && token.expiresAt <= now ? 'expired' : 'active'
}

function rightsOf({ scopes, policy = [], expiresAt, profile, roots, rate, allowDanger }: TokenEntry) {
  return {
    scopes,
    limits: { profile, roots, rate, allowDanger },
    rules: policy.length,
    expiresAt,
  }
}

/** What a principal has used of its budget, for each unit that is limited. */
export async function budgetUse(
  store: Pick<Store, 'budgets'>,
  { name, budget }: { readonly name: string; readonly budget?: BudgetLimits },
  now: number,
): Promise<PrincipalEntry['budgets']> {
  if (!budget) return []
  const used = await store.budgets.used(principalAccount(name, now))
  return UNITS.flatMap((unit) => {
    const limit = budget[unit]
    return limit === undefined ? [] : [{ unit, used: used[unit], limit }]
  })
}

/** The names of sessions mean nothing here. */
function otherNames(callers: readonly IndexedCaller[], name: string): string[] {
  const others = callers.map(({ caller }) => caller).filter((caller) => caller !== '' && caller !== name)
  return [...new Set(others)].slice(0, MAX_NAMES).map(escapeLine)
}

/** The principal that a session works for: `token:ci` of `token:ci/session-1`. */
function rootOf(name: string): string {
  return name.split('/', 1)[0] ?? name
}

function sum(callers: readonly IndexedCaller[], field: 'runs' | 'calls'): number {
  return callers.reduce((total, each) => total + each[field], 0)
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, number> {
  return new Map([...groupBy(items, nameOf)].map(([name, all]) => [name, all.length]))
}

function groupBy<T>(items: readonly T[], nameOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(nameOf(item))
    if (group) group.push(item)
    else groups.set(nameOf(item), [item])
  }
  return groups
}
