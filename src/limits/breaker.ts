import { type Clock, ToolError } from '../core/index.ts'

/** How a call ended for the breaker: refused and stopped calls say nothing about the tool and are `neutral`. */
type BreakerOutcome = 'ok' | 'failed' | 'neutral'

interface Circuit {
  failures: number
  /** When the pause ends, once there are enough failures for one. */
  openUntil: number
  isProbing: boolean
}

const MAX_CIRCUITS = 10_000

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

  constructor(options: { readonly failures?: number; readonly coolDownMs?: number }, clock: Clock) {
    this.#failures = options.failures ?? 5
    this.#coolDownMs = options.coolDownMs ?? 30_000
    this.#clock = clock
  }

  /** Refuses while the tool is paused, without taking the place of the one that tries it again. */
  refusePaused(tool: string): void {
    const circuit = this.#circuits.get(tool)
    if (!this.#isPaused(circuit)) return
    const waitMs = circuit.openUntil - this.#clock.now()
    if (waitMs > 0) throw paused(tool, circuit.failures, `wait ${waitMs} ms`, waitMs)
    if (circuit.isProbing) throw paused(tool, circuit.failures, 'another call is trying it now; wait for its end')
  }

  /** Refuses while the tool is paused; true when this call is the one that tries it again. */
  check(tool: string): boolean {
    const circuit = this.#circuits.get(tool)
    if (!this.#isPaused(circuit)) return false
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
    if (outcome === 'ok' && (isProbe || !this.#isPaused(circuit))) this.#circuits.delete(tool)
  }

  #isPaused(circuit: Circuit | undefined): circuit is Circuit {
    return circuit !== undefined && circuit.failures >= this.#failures
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
