/** Steps that the searches of one call may take together, in what callers sent: about 5 ms. */
const MAX_STEPS = 40_000

/**
 * What the searches for the values of one call may cost. All of them share it, because a caller chooses how many values
 * there are, and how often each almost occurs.
 */
export class SearchBudget {
  #left: number

  constructor(steps = MAX_STEPS) {
    this.#left = steps
  }

  /** Whether it is spent: then nothing more is found, and what was not found may still be there. */
  get isSpent(): boolean {
    return this.#left < 0
  }

  /** How many steps are left. */
  get left(): number {
    return Math.max(0, this.#left)
  }

  /** Takes some steps. Returns `false` if there are not enough left. */
  spend(steps: number): boolean {
    if (this.#left >= 0) this.#left -= steps
    return this.#left >= 0
  }
}

const budgets = new WeakMap<object, SearchBudget>()

/** The budget of one call, by its arguments: every rule and every demand of the call uses the same. */
export function budgetOf(call: object): SearchBudget {
  let budget = budgets.get(call)
  if (budget === undefined) {
    budget = new SearchBudget()
    budgets.set(call, budget)
  }
  return budget
}
