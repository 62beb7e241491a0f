import { type Clock, type Retry, ToolError } from '@tool-hub/core'
import { LRUCache } from 'lru-cache'

/** How a call ended for the breaker: refused and stopped calls say nothing about the tool and are `neutral`. */
type BreakerOutcome = 'ok' | 'failed' | 'neutral'

interface Circuit {
  failures: number
  /** When the pause ends, once there are enough failures for one. */
  openUntil: number
  isProbing: boolean
}

const MAX_CIRCUITS = 10_000

const MAX_RUNS = 10_000
const MAX_CALLS_PER_RUN = 100
const MAX_DELAY_MS = 30_000
const DEFAULT_BASE_MS = 200

/**
 * Pauses a tool that failed several times in a row, then lets one call through to see whether it works again.
 *
 * By hand rather than cockatiel's: that one only wraps async functions and brings its own clock. Only what fails is
 * remembered, and of that the last, because a tool may name what its failures are about.
 */
export class Breakers {
  readonly #failures: number
  readonly #coolDownMs: number
  readonly #clock: Clock
  readonly #circuits = new Map<string, Circuit>()
  /** Whether there is anything to check: most hubs have no tool that failed since it last succeeded. */
  hasFailures = false

  constructor(options: { readonly failures?: number; readonly coolDownMs?: number }, clock: Clock) {
    this.#failures = options.failures ?? 5
    this.#coolDownMs = options.coolDownMs ?? 30_000
    this.#clock = clock
  }

  /** Refuses while the tool is paused, without taking the place of the one that tries it again. */
  refusePaused(tool: string): void {
    const circuit = this.#circuits.get(tool)
    if (!circuit || circuit.failures < this.#failures) return
    const waitMs = circuit.openUntil - this.#clock.now()
    if (waitMs > 0) throw paused(tool, circuit.failures, `wait ${waitMs} ms`, waitMs)
    if (circuit.isProbing) throw paused(tool, circuit.failures, 'another call is trying it now; wait for its end')
  }

  /** Refuses while the tool is paused; true when this call is the one that tries it again. */
  check(tool: string): boolean {
    const circuit = this.#circuits.get(tool)
    if (!circuit || circuit.failures < this.#failures) return false
    this.refusePaused(tool)
    circuit.isProbing = true
    return true
  }

  /**
   * Counts how a call ended. Every call that `check` let through says it, with what `check` returned: a call from
   * before the pause, ending late, neither ends the pause nor frees the place of the one that tries.
   */
  record(tool: string, outcome: BreakerOutcome, isProbe: boolean): void {
    const circuit = this.#circuits.get(tool)
    if (circuit && isProbe) circuit.isProbing = false
    if (outcome === 'failed') this.#fail(tool, circuit)
    if (outcome === 'ok' && circuit && (isProbe || circuit.failures < this.#failures)) this.#circuits.delete(tool)
    this.hasFailures = this.#circuits.size > 0
  }

  #fail(tool: string, known: Circuit | undefined): void {
    const openUntil = this.#clock.now() + this.#coolDownMs
    const circuit = known ?? { failures: 0, openUntil, isProbing: false }
    circuit.failures++
    circuit.openUntil = openUntil
    if (known) return
    this.#circuits.set(tool, circuit)
    const [oldest] = this.#circuits.keys()
    if (this.#circuits.size > MAX_CIRCUITS) this.#circuits.delete(oldest!)
  }
}

function paused(tool: string, failures: number, wait: string, retryAfterMs?: number): ToolError {
  return new ToolError('CIRCUIT_OPEN', `${tool} failed ${failures} times in a row and is paused; ${wait}.`, {
    details: { failures, retryAfterMs },
  })
}

interface Streak {
  readonly failure: string
  times: number
}

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
  /** Whether there is anything to check: most hubs have no run whose last call failed. */
  hasFailures = false

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
    if (failure === undefined) return this.forget(run)
    const times = this.#count(run, keyOf(tool, argsHash), failure)
    if (times < this.#warnAt) return undefined
    const next = times < this.#stopAt ? `at ${this.#stopAt} it is refused` : 'the next is refused'
    return `${tool} failed the same way ${times} times in a row with these arguments; ${next}.`
  }

  /** Forgets the failures of a run: a call succeeded, or the run is over. */
  forget(run: string): undefined {
    this.#runs?.delete(run)
    this.hasFailures = this.#runs !== undefined && this.#runs.size > 0
  }

  #count(run: string, key: string, failure: string): number {
    this.#runs ??= new LRUCache({ max: this.#maxRuns })
    this.hasFailures = true
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

/**
 * How long to wait after the given attempt (the first is 1) failed: anything up to twice as long each time, so that
 * callers who failed together do not come back together. Never sooner than the server asked, never over 30 s.
 */
export function retryDelayMs(
  attempt: number,
  retry: Retry,
  random: () => number = Math.random,
  retryAfterMs?: number,
): number {
  const ceilingMs = Math.min(MAX_DELAY_MS, positive(retry.baseMs ?? DEFAULT_BASE_MS) * 2 ** Math.min(30, attempt - 1))
  return Math.min(MAX_DELAY_MS, Math.max(positive(retryAfterMs), Math.round(random() * ceilingMs)))
}

/** A server's `Retry-After` may be anything. */
function positive(ms: number | undefined): number {
  return Math.max(0, ms || 0)
}
