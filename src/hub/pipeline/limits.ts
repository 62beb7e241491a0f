import { type Awaitable, ERRORS, messageOf, type RunLease, type ToolResult } from '../../core/index.ts'
import { after, sha256 } from '../../lib/index.ts'
import { type BudgetLedger, defaultIdempotencyKey, keyName, recordedKeyName } from '../../limits/index.ts'
import type { Limiters, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, untilStopped } from './call.ts'
import type { Settled } from './settle.ts'

/** Step 6, first half: returns the result of a known idempotency key, or joins a call in progress with the same key. */
export function claimKey(runtime: Runtime, call: DecidedCall): Promise<Settled | undefined> | undefined {
  const key = keyOf(call)
  return key === undefined ? undefined : claim(runtime, call, key)
}

async function claim({ limits, principal }: Runtime, call: FoundCall, key: string): Promise<Settled | undefined> {
  const scope = { principal, run: call.run, tool: call.name }
  const name = keyName({ ...scope, key })
  // A call without side effects may be executed again, and its failure is never final.
  const recorded = call.tool.hasEffects ? recordedKeyName({ ...scope, keyHash: sha256(key) }) : undefined
  for (;;) {
    const claiming = limits.idempotency.claim(name, call.argsHash, recorded)
    const claimed = claiming instanceof Promise ? await untilStopped(call, claiming) : claiming
    if (claimed.kind === 'new') {
      call.key = claimed
      return undefined
    }
    const result = claimed.kind === 'replay' ? claimed.result : await untilStopped(call, claimed.result)
    if (result) return again(call, result)
  }
}

/**
 * Step 6, second half: checks loops, circuit breaker, rate and budget; each throws to refuse. Returns a promise only if
 * the store does.
 */
export function takeLimits(runtime: Runtime, call: DecidedCall): Awaitable<void> {
  const { loops, breakers, rate, budget } = runtime.limits
  // The hash of the arguments alone costs 0.4 us of a call of 6.
  if (loops.hasFailures) loops.check(call.run, call.name, call.argsHash)
  if (breakers.hasFailures) breakers.refusePaused(call.circuit)
  const taking = rate.isLimited ? rate.take(call.name, call.inputBytes) : undefined
  if (taking instanceof Promise) return taking.then(() => reserve(budget, call))
  return budget.isLimited ? reserve(budget, call) : undefined
}

function reserve(budget: BudgetLedger, call: DecidedCall): Awaitable<void> {
  const { name: tool, costUnits: cost = 0 } = call.tool.tool
  const { session } = call.options
  return after(budget.reserve({ run: call.run, session, tool, cost }), (reservation) => {
    call.reservation = reservation
    call.notices.push(...reservation.notices)
  })
}

/** Starts step 8: takes a concurrency slot and checks the circuit breaker. Returns a promise only if the call has to wait. */
export function claimPlace({ limits }: Runtime, call: DecidedCall): Awaitable<void> {
  // A nested call uses the slot of its parent; waiting for another slot could mean waiting for its own parent.
  const entering = call.parent ? undefined : limits.concurrency.enter(call.name, call)
  if (entering instanceof Promise) return entering.then((leave) => begin(limits, call, leave))
  return begin(limits, call, entering)
}

function begin({ breakers }: Limiters, call: DecidedCall, leave: (() => void) | undefined): Awaitable<void> {
  call.release = leave
  call.isProbe = breakers.hasFailures && breakers.check(call.circuit)
  return call.key?.begin()
}

/**
 * Returns the caller's idempotency key, or one derived from its ids, the tool and the arguments if the tool has side
 * effects.
 */
export function keyOf(call: Call): string | undefined {
  const { idempotencyKey: given, repeatKey, requestId, taskId } = call.options
  if (given !== undefined) return given
  if (!call.tool?.hasEffects) return undefined
  const { name: tool, argsHash } = call
  if (repeatKey !== undefined) return defaultIdempotencyKey({ repeatKey, tool, argsHash })
  if (requestId === undefined || taskId === undefined) return undefined
  return defaultIdempotencyKey({ requestId, taskId, tool, argsHash })
}

function again(call: Call, known: ToolResult): Settled {
  const copy = structuredClone(known)
  const result = { ...copy, callId: call.id, meta: { ...copy.meta, cached: true as const } }
  // The same key gets this failure each time, whatever the reason for it was.
  return { result: result.ok ? result : { ...result, error: { ...result.error, retryable: false } }, bytes: 0 }
}

/** Releases what the call held and counts what it used. Returns notices for the caller. */
export function releaseLimits(
  { limits }: Runtime,
  call: Call,
  { result, bytes }: Settled,
  lease?: RunLease,
): Awaitable<readonly string[]> {
  const { breakers, loops } = limits
  const { key, reservation, executedMark } = call
  call.release?.()
  const finishing = key
    ? reported(() =>
        key.finish(isFinal(call, result) ? structuredClone(result) : undefined, lease && { run: call.run, ...lease }),
      )
    : NO_NOTICES
  if (executedMark === undefined) {
    if (call.isProbe) breakers.record(call.circuit, 'neutral', true)
    return reservation ? both(finishing, () => reservation.release()) : finishing
  }
  if (!result.ok || breakers.hasFailures) breakers.record(call.circuit, outcomeOf(result), call.isProbe)
  // Waiting for a person does not count as time of the tool.
  const wallMs = Math.max(0, performance.now() - executedMark - call.waitedInToolMs)
  const counted = reservation ? both(finishing, () => reservation.settle({ wallMs, bytes })) : finishing
  if (result.ok) {
    if (loops.hasFailures) loops.forget(call.run)
    return counted
  }
  const loop = loops.record(call.run, call.name, call.argsHash, `${result.error.code} ${result.error.message}`)
  return loop === undefined ? counted : after(counted, (notices) => [...notices, loop])
}

/** Turns a failure of the store into a notice, because the call has already happened. */
function reported(work: () => Awaitable<readonly string[] | void>): Awaitable<readonly string[]> {
  const failed = (error: unknown) => [`The usage of this call could not be stored: ${messageOf(error)}`]
  try {
    const working = work()
    if (working instanceof Promise) return working.then((notices) => notices ?? NO_NOTICES, failed)
    return working ?? NO_NOTICES
  } catch (error) {
    return failed(error)
  }
}

/** Returns the notices of work that was started before, and those of work that is started now. */
function both(
  before: Awaitable<readonly string[]>,
  work: () => Awaitable<readonly string[] | void>,
): Awaitable<readonly string[]> {
  const now = reported(work)
  if (before === NO_NOTICES) return now
  return after(before, (first) => (first.length === 0 ? now : after(now, (second) => [...first, ...second])))
}

const NO_NOTICES: readonly string[] = []

/**
 * Returns whether a repeated call gets this result. A call that never ran can be tried again, and so can a failed call
 * without side effects; a call that may have had side effects never runs twice.
 */
function isFinal(call: Call, result: ToolResult): boolean {
  return call.executedMark !== undefined && (result.ok || call.tool?.hasEffects === true)
}

/** Only failures of the tool itself count for the circuit breaker, not a command that failed or timed out. */
function outcomeOf(result: ToolResult): 'ok' | 'failed' | 'neutral' {
  if (result.ok) return 'ok'
  return ERRORS[result.error.code].blame === 'tool' && result.data === undefined ? 'failed' : 'neutral'
}
