import { ToolError } from '../errors.ts'
import type { BudgetLimits } from '../options.ts'

type Unit = keyof BudgetLimits

const UNITS = ['calls', 'wallMs', 'bytes', 'cost'] as const satisfies readonly Unit[]
const UNIT_NAMES = { calls: 'calls', wallMs: 'ms of tool time', bytes: 'bytes', cost: 'cost units' } as const
/** How the owner writes them in tool-hub.yaml. */
const UNIT_KEYS = { calls: 'calls', wallMs: 'time', bytes: 'bytes', cost: 'cost' } as const
const NOTICE_AT = 0.75

/** What one run, session or tool has used of its limits. */
export class BudgetAccount {
  readonly #used = { calls: 0, wallMs: 0, bytes: 0, cost: 0 }
  readonly #owner: string
  readonly #key: string
  readonly #limits: readonly { readonly unit: Unit; readonly limit: number; noticed: boolean }[]

  constructor(owner: string, key: string, limits: BudgetLimits) {
    this.#owner = owner
    this.#key = key
    this.#limits = UNITS.flatMap((unit) => {
      const limit = limits[unit]
      return limit === undefined ? [] : [{ unit, limit, noticed: false }]
    })
  }

  /** Refuses a call for which nothing is left. Comparisons are written so that a number that is none refuses too. */
  assertRoom(cost: number): void {
    for (const { unit, limit } of this.#limits) {
      const used = this.#used[unit]
      if (unit === 'calls' && used + 1 <= limit) continue
      if (unit === 'cost' && used + cost <= limit) continue
      if ((unit === 'wallMs' || unit === 'bytes') && used < limit) continue
      throw exceeded({ owner: this.#owner, key: `${this.#key}.${UNIT_KEYS[unit]}`, unit, used, limit, cost })
    }
  }

  add(unit: Unit, amount: number): void {
    this.#used[unit] += amount
  }

  wallMsLeft(): number {
    for (const { unit, limit } of this.#limits) if (unit === 'wallMs') return limit - this.#used.wallMs
    return Number.POSITIVE_INFINITY
  }

  /** One sentence for each limit that went past three quarters since the last time; each comes once. */
  takeNotices(): string[] | undefined {
    let notices: string[] | undefined
    for (const entry of this.#limits) {
      const used = this.#used[entry.unit]
      if (entry.noticed || used <= 0 || used < entry.limit * NOTICE_AT) continue
      entry.noticed = true
      notices ??= []
      notices.push(
        `${this.#owner} has used ${amount(used)} of ${amount(entry.limit)} ${UNIT_NAMES[entry.unit]} (${this.#key}.${UNIT_KEYS[entry.unit]}).`,
      )
    }
    return notices
  }
}

function exceeded(state: {
  owner: string
  key: string
  unit: Unit
  used: number
  limit: number
  cost: number
}): ToolError {
  const { owner, key, unit, used, limit, cost } = state
  const wanted = unit === 'cost' ? `, and this call costs ${amount(cost)}` : ''
  const message = `${owner} has used ${amount(used)} of ${amount(limit)} ${UNIT_NAMES[unit]}${wanted} (${key}).`
  return new ToolError('BUDGET_EXCEEDED', message, {
    fix: { key, hint: `Finish with what there is, or have the owner raise ${key}.` },
    details: { unit, used, limit },
  })
}

/** Whole numbers as they are, others short. */
function amount(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2)
}
