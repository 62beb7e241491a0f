import {
  type Awaitable,
  type BudgetLimits,
  type BudgetOutcome,
  type BudgetStore,
  type Clock,
  ToolError,
  type Usage,
} from '@tool-hub/core'
import { LRUCache } from 'lru-cache'

/** The call that wants to be counted. */
interface BudgetCall {
  readonly run: string
  readonly session?: string
  readonly tool: string
  readonly cost: number
}

/** A call that was counted: it is settled once it ran, or released when it never did. The first of both wins. */
export interface Reservation {
  /** Time left for this call, `Infinity` when no limit says. */
  readonly wallMs: number
  /** The limit that leaves so little, as the owner writes it. */
  readonly wallKey?: string
  /** Limits that this call took past three quarters. */
  readonly notices: readonly string[]
  /** Counts what the call used; returns the notices of that. */
  settle(used: { readonly wallMs: number; readonly bytes: number }): Awaitable<readonly string[]>
  /** The call never ran: takes it and its cost off the account. */
  release(): Awaitable<void>
}

interface Limits {
  readonly run?: BudgetLimits
  readonly shortKeys?: readonly UnitKey[]
  readonly session?: BudgetLimits
  readonly tools?: Readonly<Record<string, BudgetLimits>>
}

/** Whose calls are counted, in addition to their run and session. */
export interface BudgetHolder {
  readonly name: string
  readonly limits?: BudgetLimits
  /** Default: a day. */
  readonly lasts?: 'day' | 'ever'
  /** Its run that ends only with the process: what it uses is counted by the day. */
  readonly openRun?: string
  /** Runs of others that its calls are taken from, too. */
  readonly chargedRuns?: readonly string[]
  /** It lies within another one, whose session it is part of. */
  readonly isWithin?: boolean
}

type Unit = keyof BudgetLimits

const UNITS = ['calls', 'wallMs', 'bytes', 'cost'] as const satisfies readonly Unit[]
const UNIT_NAMES = { calls: 'calls', wallMs: 'ms of tool time', bytes: 'bytes', cost: 'cost units' } as const
/** How the owner writes them in tool-hub.yaml. */
const UNIT_KEYS = { calls: 'calls', wallMs: 'time', bytes: 'bytes', cost: 'cost' } as const
const NOTICE_AT = 0.75

/** A unit as the owner writes it. */
type UnitKey = (typeof UNIT_KEYS)[Unit]

const MAX_TRACKED = 10_000
const DAY_MS = 86_400_000
/** A run or session that was not used for so long begins anew. */
const KEPT_MS = 30 * DAY_MS
const NO_NOTICES: readonly string[] = Object.freeze([])
const UNLIMITED: Reservation = Object.freeze({
  wallMs: Number.POSITIVE_INFINITY,
  notices: NO_NOTICES,
  settle: () => NO_NOTICES,
  release: () => {},
})

/**
 * Counts what runs, sessions, tools (each per run) and principals (each per day) use, and stops them at their limits. A
 * run that ends only with the process, that of a principal which names none, is counted by the day.
 *
 * Calls and cost are counted before a call starts, so calls at the same time never pass those limits together, also not
 * from several processes with one store. Time and bytes are known only afterwards: calls in flight when such a limit is
 * reached still finish. A call without a session belongs to the session of its run.
 */
export class BudgetLedger {
  readonly #limits: Limits
  readonly #tools: ReadonlyMap<string, BudgetLimits>
  readonly #store: BudgetStore
  readonly #clock: Clock
  /** The one who calls last, and those it lies within before. */
  readonly #holders: readonly BudgetHolder[]
  /** Whether any call is counted. */
  readonly isLimited: boolean
  /** Runs of others that all calls are taken from, too. */
  readonly #chargedRuns: ReadonlySet<string>
  /** Runs that end only with the process, of all principals. */
  readonly #openRuns: Set<string>
  /** Those used last, for the notices that they gave; made when there are limits, because it reserves its room in one allocation. */
  #accounts: LRUCache<string, BudgetAccount> | undefined
  /** The one used last: most calls belong to the same run, and the cache takes 0.3 us of a call of 5. */
  #lastAccount: BudgetAccount | undefined

  constructor(
    limits: Limits,
    store: BudgetStore,
    clock: Clock,
    holders: readonly BudgetHolder[] = [],
    openRuns = new Set<string>(),
  ) {
    this.#limits = limits
    this.#tools = new Map(Object.entries(limits.tools ?? {}).filter(([, limits]) => hasLimit(limits)))
    this.#store = store
    this.#clock = clock
    this.#holders = holders
    this.#chargedRuns = new Set(holders.flatMap(({ chargedRuns = [] }) => chargedRuns))
    this.#openRuns = openRuns
    const hasOwn = holders.some(({ limits }) => limits !== undefined)
    this.isLimited = Boolean(limits.run ?? limits.session) || hasOwn || this.#tools.size > 0
  }

  /** The same limits, and those of one more who calls. */
  forPrincipal(holder: BudgetHolder): BudgetLedger {
    if (holder.openRun !== undefined) this.#openRuns.add(holder.openRun)
    return new BudgetLedger(this.#limits, this.#store, this.#clock, [...this.#holders, holder], this.#openRuns)
  }

  /** Counts a call in every scope it belongs to, or in none when one of them is used up. */
  reserve(call: BudgetCall): Awaitable<Reservation> {
    if (!this.isLimited) return UNLIMITED
    const accounts = this.#accountsOf(call)
    if (accounts.length === 0) return UNLIMITED
    const cost = counted(call.cost)
    const reserving = this.#store.reserve(accounts, cost)
    if (reserving instanceof Promise) return reserving.then((outcome) => this.#count(accounts, outcome, cost))
    return this.#count(accounts, reserving, cost)
  }

  #count(accounts: readonly BudgetAccount[], outcome: BudgetOutcome, cost: number): Reservation {
    if (outcome.ok) return new CountedCall(this.#store, accounts, outcome.used, cost)
    throw accounts.find(({ account }) => account === outcome.account)!.exceeded(outcome.used, cost)
  }

  /** Forgets a run that is over. */
  async endRun(run: string): Promise<void> {
    const names = this.#openRuns.has(run) ? [run, this.#periodOf(run)] : [run]
    const accounts = names.flatMap((name) => [
      runAccount(name),
      ...Array.from(this.#tools.keys(), (tool) => toolAccount(tool, name)),
    ])
    this.#lastAccount = undefined
    for (const account of this.isLimited ? accounts : []) {
      this.#accounts?.delete(account)
      await this.#store.forget(account)
    }
  }

  #accountsOf({ run, session, tool }: BudgetCall): readonly BudgetAccount[] {
    const { run: ofRun, session: ofSession } = this.#limits
    const ofTool = this.#tools.get(tool)
    const accounts: BudgetAccount[] = []
    const period = this.#periodOf(run)
    const today = period === run ? '' : ' today'
    if (ofRun) {
      accounts.push(this.#account(runAccount(period), `This run${today}`, this.#runKey, ofRun))
      // Also for all its days together: after a restart it is not known that it was an open run.
      for (const other of this.#chargedRuns)
        for (const name of new Set([other, this.#periodOf(other)]))
          accounts.push(this.#account(runAccount(name), `The run ${other}, which began this one,`, this.#runKey, ofRun))
    }
    if (ofTool) {
      const key = (unit: UnitKey) => `limits.tools[${JSON.stringify(tool)}].${unit}`
      accounts.push(this.#account(toolAccount(tool, period), `${tool} in this run${today}`, key, ofTool))
    }
    if (ofSession) {
      // Of the principal that started it all: what it began is its session, too.
      const account = `session:${JSON.stringify([this.#holders.find(({ isWithin }) => !isWithin)?.name, session ?? period])}`
      accounts.push(this.#account(account, 'This session', (unit) => `limits.session.${unit}`, ofSession))
    }
    for (const { name, limits, lasts = 'day' } of this.#holders) {
      if (limits === undefined) continue
      const isToday = lasts === 'day'
      const account = isToday ? principalAccount(name, this.#clock.now()) : `principal:ever:${name}`
      accounts.push(this.#account(account, isToday ? `${name} today` : name, (unit) => `budget.${unit}`, limits))
    }
    return accounts
  }

  /** The run, or the day of one that ends only with the process. */
  #periodOf(run: string): string {
    return this.#openRuns.has(run) ? `${run}:${dayOf(this.#clock.now())}` : run
  }

  /** As it is written in the config: budgets of the run may stand at the top. */
  readonly #runKey = (unit: UnitKey): string =>
    this.#limits.shortKeys?.includes(unit) ? `limits.${unit}` : `limits.run.${unit}`

  #account(account: string, owner: string, key: (unit: UnitKey) => string, limits: BudgetLimits): BudgetAccount {
    if (this.#lastAccount?.account === account) return this.#lastAccount
    this.#accounts ??= new LRUCache({ max: MAX_TRACKED })
    const known = this.#accounts.get(account)
    this.#lastAccount =
      known ?? new BudgetAccount({ account, owner, key, limits, expiresAt: this.#clock.now() + KEPT_MS })
    if (!known) this.#accounts.set(account, this.#lastAccount)
    return this.#lastAccount
  }
}

/** The account of a principal's day (UTC). */
export function principalAccount(name: string, now: number): string {
  return `principal:${dayOf(now)}:${name}`
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10)
}

class CountedCall implements Reservation {
  readonly wallMs: number
  readonly wallKey?: string
  readonly notices: readonly string[]
  readonly #store: BudgetStore
  readonly #accounts: readonly BudgetAccount[]
  readonly #cost: number
  #isOpen = true

  constructor(store: BudgetStore, accounts: readonly BudgetAccount[], used: readonly Usage[], cost: number) {
    this.#store = store
    this.#accounts = accounts
    this.#cost = cost
    let wallMs = Number.POSITIVE_INFINITY
    for (let index = 0; index < accounts.length; index++) {
      const left = accounts[index]!.wallMsLeft(used[index]!)
      if (left >= wallMs) continue
      wallMs = left
      this.wallKey = accounts[index]!.wallKey
    }
    this.wallMs = wallMs
    this.notices = noticesOf(accounts, used)
  }

  settle({ wallMs, bytes }: { readonly wallMs: number; readonly bytes: number }): Awaitable<readonly string[]> {
    if (!this.#close()) return NO_NOTICES
    const spent = { wallMs: counted(wallMs), bytes: counted(bytes) }
    const settling = this.#store.settle(this.#names, spent)
    return settling instanceof Promise
      ? settling.then((used) => noticesOf(this.#accounts, used))
      : noticesOf(this.#accounts, settling)
  }

  release(): Awaitable<void> {
    if (this.#close()) return this.#store.release(this.#names, this.#cost)
  }

  get #names(): string[] {
    return this.#accounts.map(({ account }) => account)
  }

  #close(): boolean {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    return wasOpen
  }
}

/** What one run, session, tool or principal may use; what it has used is in the store, by `account`. */
class BudgetAccount {
  readonly account: string
  readonly limits: BudgetLimits
  readonly expiresAt: number
  readonly #owner: string
  readonly #key: (unit: UnitKey) => string
  readonly #units: readonly { readonly unit: Unit; readonly limit: number }[]
  readonly #noticed = new Set<Unit>()

  constructor(options: {
    readonly account: string
    readonly owner: string
    /** The key of a unit as the owner writes it. */
    readonly key: (unit: UnitKey) => string
    readonly limits: BudgetLimits
    readonly expiresAt: number
  }) {
    this.account = options.account
    this.limits = options.limits
    this.expiresAt = options.expiresAt
    this.#owner = options.owner
    this.#key = options.key
    this.#units = UNITS.flatMap((unit) => {
      const limit = options.limits[unit]
      return limit === undefined ? [] : [{ unit, limit }]
    })
  }

  wallMsLeft(used: Usage): number {
    return this.limits.wallMs === undefined ? Number.POSITIVE_INFINITY : this.limits.wallMs - used.wallMs
  }

  /** The limit of time, as the owner writes it. */
  get wallKey(): string {
    return this.#keyOf('wallMs')
  }

  /** One sentence for each limit that went past three quarters since the last time; each comes once a process. */
  noticesOf(used: Usage): string[] | undefined {
    let notices: string[] | undefined
    for (const { unit, limit } of this.#units) {
      if (used[unit] <= 0 || used[unit] < limit * NOTICE_AT || this.#noticed.has(unit)) continue
      this.#noticed.add(unit)
      notices ??= []
      notices.push(`${this.#spent(unit, used, limit)} (${this.#keyOf(unit)}).`)
    }
    return notices
  }

  /** Why a call that costs so much has no room. Comparisons are written so that a number that is none refuses too. */
  exceeded(used: Usage, cost: number): ToolError {
    const { unit, limit } = this.#units.find(({ unit, limit }) => !hasRoom(unit, used, limit, cost))!
    const key = this.#keyOf(unit)
    const wanted = unit === 'cost' ? `, and this call costs ${amount(cost)}` : ''
    return new ToolError('BUDGET_EXCEEDED', `${this.#spent(unit, used, limit)}${wanted} (${key}).`, {
      fix: { key, hint: `Finish with what there is, or have the owner raise ${key}.` },
      details: { unit, used: used[unit], limit },
    })
  }

  #spent(unit: Unit, used: Usage, limit: number): string {
    return `${this.#owner} has used ${amount(used[unit])} of ${amount(limit)} ${UNIT_NAMES[unit]}`
  }

  #keyOf(unit: Unit): string {
    return this.#key(UNIT_KEYS[unit])
  }
}

/** A negative amount counts as 0, and one that is not a number uses everything up. */
function counted(amount: number): number {
  return Number.isFinite(amount) ? Math.max(0, amount) : Number.MAX_SAFE_INTEGER
}

/** The owner's entry of a tool may be about other things only, such as its rate. */
function hasLimit({ calls, wallMs, bytes, cost }: BudgetLimits): boolean {
  return (calls ?? wallMs ?? bytes ?? cost) !== undefined
}

function runAccount(run: string): string {
  return `run:${run}`
}

function toolAccount(tool: string, run: string): string {
  return `tool:${run}:${tool}`
}

function noticesOf(accounts: readonly BudgetAccount[], used: readonly Usage[]): readonly string[] {
  let notices = NO_NOTICES
  for (let index = 0; index < accounts.length; index++) {
    const fresh = accounts[index]!.noticesOf(used[index]!)
    if (fresh) notices = [...notices, ...fresh]
  }
  return notices
}

function hasRoom(unit: Unit, used: Usage, limit: number, cost: number): boolean {
  if (unit === 'calls') return used.calls + 1 <= limit
  return unit === 'cost' ? used.cost + cost <= limit : used[unit] < limit
}

/** Whole numbers as they are, others short. */
function amount(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2)
}
