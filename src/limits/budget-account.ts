import { type BudgetLimits, ToolError, type Usage } from '../core/index.ts'

type Unit = keyof BudgetLimits

const UNITS = ['calls', 'wallMs', 'bytes', 'cost'] as const satisfies readonly Unit[]
const UNIT_NAMES = { calls: 'calls', wallMs: 'ms of tool time', bytes: 'bytes', cost: 'cost units' } as const
/** How the owner writes them in tool-hub.yaml. */
const UNIT_KEYS = { calls: 'calls', wallMs: 'time', bytes: 'bytes', cost: 'cost' } as const
const NOTICE_AT = 0.75

/** A unit as the owner writes it. */
export type UnitKey = (typeof UNIT_KEYS)[Unit]

/** What one run, session, tool or principal may use; what it has used is in the store, by `account`. */
export class BudgetAccount {
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

function hasRoom(unit: Unit, used: Usage, limit: number, cost: number): boolean {
  if (unit === 'calls') return used.calls + 1 <= limit
  return unit === 'cost' ? used.cost + cost <= limit : used[unit] < limit
}

/** Whole numbers as they are, others short. */
function amount(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2)
}
