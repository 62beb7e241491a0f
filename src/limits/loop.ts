import { LRUCache } from 'lru-cache'
import { ToolError } from '../core/index.ts'

interface Streak {
  readonly failure: string
  times: number
}

const MAX_RUNS = 10_000
const MAX_CALLS_PER_RUN = 100

/**
 * Notices an agent that repeats a call which fails the same way every time. A success of any call in the run, or
 * another failure of the same call, shows that something changed and begins the count anew: polling that works and
 * "edit, test, edit, test" are never stopped. Kept for the 10,000 runs and the 100 calls of each that failed last.
 */
export class LoopDetector {
  readonly #warnAt: number
  readonly #stopAt: number
  readonly #maxRuns: number
  /** Made with the first failure: it reserves room for all runs in one allocation. */
  #runs: LRUCache<string, Map<string, Streak>> | undefined

  constructor(options: { readonly warnAt?: number; readonly stopAt?: number; readonly maxRuns?: number } = {}) {
    this.#warnAt = options.warnAt ?? 3
    this.#stopAt = options.stopAt ?? 5
    this.#maxRuns = options.maxRuns ?? MAX_RUNS
  }

  /** Refuses a call that failed the same way too often. Its refusal is not to be recorded as another failure. */
  check(run: string, tool: string, argsHash: string): void {
    const times = this.#runs?.get(run)?.get(keyOf(tool, argsHash))?.times ?? 0
    if (times < this.#stopAt) return
    throw new ToolError('LOOP_DETECTED', `${tool} failed the same way ${times} times in a row with these arguments.`, {
      hint: 'Change the arguments, or do something else first: another call that works frees this one.',
      details: { times, stopAt: this.#stopAt },
    })
  }

  /** Counts how a call ended: the hash of its failure, or `undefined` for a success. Returns a notice in time. */
  record(run: string, tool: string, argsHash: string, failure: string | undefined): string | undefined {
    if (failure === undefined) {
      this.#runs?.delete(run)
      return undefined
    }
    const times = this.#count(run, keyOf(tool, argsHash), failure)
    if (times < this.#warnAt) return undefined
    const next = times < this.#stopAt ? `at ${this.#stopAt} it is refused` : 'the next is refused'
    return `${tool} failed the same way ${times} times in a row with these arguments; ${next}.`
  }

  /** Forgets a run that is over. */
  endRun(run: string): void {
    this.#runs?.delete(run)
  }

  #count(run: string, key: string, failure: string): number {
    this.#runs ??= new LRUCache({ max: this.#maxRuns })
    const streaks = this.#runs.get(run) ?? new Map<string, Streak>()
    const known = streaks.get(key)
    const streak = known?.failure === failure ? known : { failure, times: 0 }
    streak.times++
    streaks.delete(key)
    streaks.set(key, streak)
    this.#runs.set(run, streaks)
    if (streaks.size > MAX_CALLS_PER_RUN) dropOldest(streaks)
    return streak.times
  }
}

function keyOf(tool: string, argsHash: string): string {
  return `${tool}\n${argsHash}`
}

function dropOldest(streaks: Map<string, Streak>): void {
  for (const key of streaks.keys()) {
    streaks.delete(key)
    return
  }
}
