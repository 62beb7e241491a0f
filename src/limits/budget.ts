import { LRUCache } from 'lru-cache'
import type { BudgetLimits } from '../options.ts'
import { BudgetAccount } from './budget-account.ts'

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
  /** Limits that this call took past three quarters. */
  readonly notices: readonly string[]
  /** Counts what the call used; gives back the notices of that. */
  settle(used: { readonly wallMs: number; readonly bytes: number }): readonly string[]
  /** The call never ran: gives the call and its cost back. */
  release(): void
}

interface RunAccounts {
  readonly own: BudgetAccount
  readonly tools: Map<string, BudgetAccount>
}

const MOST_TRACKED = 10_000
const NO_NOTICES: readonly string[] = Object.freeze([])
const UNLIMITED: Reservation = Object.freeze({
  wallMs: Number.POSITIVE_INFINITY,
  notices: NO_NOTICES,
  settle: () => NO_NOTICES,
  release: () => {},
})

/**
 * Counts what runs, sessions and tools (each per run) use, and stops them at their limits.
 *
 * Calls and cost are counted before a call starts, so calls at the same time never pass those limits together. Time
 * and bytes are known only afterwards: calls in flight when such a limit is reached still finish. A call without a
 * session belongs to the session of its run. The 10,000 runs and sessions used last are remembered; one that was
 * forgotten begins anew.
 */
export class BudgetLedger {
  readonly #run: BudgetLimits | undefined
  readonly #session: BudgetLimits | undefined
  readonly #tools: ReadonlyMap<string, BudgetLimits>
  readonly #runs: LRUCache<string, RunAccounts> | undefined
  readonly #sessions: LRUCache<string, BudgetAccount> | undefined

  constructor(limits: {
    readonly run?: BudgetLimits
    readonly session?: BudgetLimits
    readonly tools?: Readonly<Record<string, BudgetLimits>>
  }) {
    this.#run = limits.run
    this.#session = limits.session
    this.#tools = new Map(Object.entries(limits.tools ?? {}).filter(([, limits]) => hasLimit(limits)))
    if (this.#run || this.#tools.size > 0) this.#runs = new LRUCache({ max: MOST_TRACKED })
    if (this.#session) this.#sessions = new LRUCache({ max: MOST_TRACKED })
  }

  /** Counts a call in every scope it belongs to, or in none when one of them is used up. */
  reserve(call: BudgetCall): Reservation {
    if (!this.#runs && !this.#sessions) return UNLIMITED
    const accounts = this.#accountsOf(call)
    if (accounts.length === 0) return UNLIMITED
    const cost = Math.max(0, call.cost)
    for (const account of accounts) account.assertRoom(cost)
    return new CountedCall(accounts, cost)
  }

  /** Forgets a run that is over. */
  endRun(run: string): void {
    this.#runs?.delete(run)
  }

  #accountsOf({ run, session, tool }: BudgetCall): readonly BudgetAccount[] {
    const accounts: BudgetAccount[] = []
    const toolLimits = this.#tools.get(tool)
    if (this.#runs && (this.#run || toolLimits)) {
      const ofRun = this.#runs.get(run) ?? this.#openRun(this.#runs, run)
      if (this.#run) accounts.push(ofRun.own)
      if (toolLimits) accounts.push(toolAccount(ofRun, tool, toolLimits))
    }
    if (this.#sessions) accounts.push(this.#sessionAccount(this.#sessions, session ?? run))
    return accounts
  }

  #openRun(runs: LRUCache<string, RunAccounts>, run: string): RunAccounts {
    const accounts = { own: new BudgetAccount('This run', 'limits.run', this.#run ?? {}), tools: new Map() }
    runs.set(run, accounts)
    return accounts
  }

  #sessionAccount(sessions: LRUCache<string, BudgetAccount>, session: string): BudgetAccount {
    const known = sessions.get(session)
    if (known) return known
    const account = new BudgetAccount('This session', 'limits.session', this.#session ?? {})
    sessions.set(session, account)
    return account
  }
}

class CountedCall implements Reservation {
  readonly wallMs: number
  readonly notices: readonly string[]
  readonly #accounts: readonly BudgetAccount[]
  readonly #cost: number
  #isOpen = true

  constructor(accounts: readonly BudgetAccount[], cost: number) {
    this.#accounts = accounts
    this.#cost = cost
    let wallMs = Number.POSITIVE_INFINITY
    for (const account of accounts) {
      account.add('calls', 1)
      account.add('cost', cost)
      wallMs = Math.min(wallMs, account.wallMsLeft())
    }
    this.wallMs = wallMs
    this.notices = takeNotices(accounts)
  }

  settle(used: { readonly wallMs: number; readonly bytes: number }): readonly string[] {
    if (!this.#close()) return NO_NOTICES
    for (const account of this.#accounts) {
      account.add('wallMs', Math.max(0, used.wallMs))
      account.add('bytes', Math.max(0, used.bytes))
    }
    return takeNotices(this.#accounts)
  }

  release(): void {
    if (!this.#close()) return
    for (const account of this.#accounts) {
      account.add('calls', -1)
      account.add('cost', -this.#cost)
    }
  }

  #close(): boolean {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    return wasOpen
  }
}

/** The owner's entry of a tool may be about other things only, such as its rate. */
function hasLimit({ calls, wallMs, bytes, cost }: BudgetLimits): boolean {
  return (calls ?? wallMs ?? bytes ?? cost) !== undefined
}

function toolAccount(ofRun: RunAccounts, tool: string, limits: BudgetLimits): BudgetAccount {
  const known = ofRun.tools.get(tool)
  if (known) return known
  const account = new BudgetAccount(`${tool} in this run`, `limits.tools[${JSON.stringify(tool)}]`, limits)
  ofRun.tools.set(tool, account)
  return account
}

function takeNotices(accounts: readonly BudgetAccount[]): readonly string[] {
  let notices: string[] | undefined
  for (const account of accounts) {
    const fresh = account.takeNotices()
    if (fresh) notices = notices ? [...notices, ...fresh] : fresh
  }
  return notices ?? NO_NOTICES
}
