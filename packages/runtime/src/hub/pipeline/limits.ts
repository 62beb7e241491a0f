import { type Awaitable, ERRORS, type HeldRun, messageOf, type ToolResult } from '@tool-hub/core'
import { after, sha256 } from '@tool-hub/core/lib'
import { type BudgetLedger, type Claim, defaultIdempotencyKey, keyName, recordedKeyName } from '../../limits/index.ts'
import type { Limiters, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, untilStopped } from './call.ts'
import type { Settled } from './settle.ts'

/** Step 6, first half: returns the result of a known idempotency key, or joins a call in progress with the same key. */
export function claimKey(runtime: Runtime, decided: DecidedCall): Promise<Settled | undefined> | undefined {
  const key = keyOf(decided.call)
  return key === undefined ? undefined : claim(runtime, decided.valid.found, key)
}

async function claim(
  { limits, identity: { principal } }: Runtime,
  found: FoundCall,
  key: string,
): Promise<Settled | undefined> {
  const scope = { principal, run: found.call.run, tool: found.call.name }
  const name = keyName({ ...scope, key })
  // A call without side effects may be executed again, and its failure is never final.
  const recorded = found.tool.hasEffects ? recordedKeyName({ ...scope, keyHash: sha256(key) }) : undefined
  for (;;) {
    const claiming = limits.idempotency.claim(name, found.call.argsHash, recorded)
    const claimed = claiming instanceof Promise ? await untilClaimed(found.call, claiming) : claiming
    if (claimed.kind === 'new') {
      found.call.limits.key = claimed
      return undefined
    }
    const result = claimed.kind === 'replay' ? claimed.result : await untilStopped(found.call, claimed.result)
    if (result) return again(found.call, result)
  }
}

/** Waits for the store. A key that is claimed only after the call was stopped is free again. */
async function untilClaimed<R>(call: Call, claiming: Promise<Claim<R>>): Promise<Claim<R>> {
  try {
    return await untilStopped(call, claiming)
  } catch (error) {
    claiming.then(
      (late) => late.kind === 'new' && late.finish(undefined),
      // The claim has failed: nothing is claimed.
      () => {},
    )
    throw error
  }
}

/**
 * Step 6, second half: checks loops, circuit breaker, rate and budget; each throws to refuse. Returns a promise only if
 * the store does.
 */
export function takeLimits(runtime: Runtime, decided: DecidedCall): Awaitable<void> {
  const { call } = decided
  const { loops, breakers, rate, budget } = runtime.limits
  // The hash of the arguments alone costs 0.4 us of a call of 6.
  if (loops.hasFailures) loops.check(call.run, call.name, decided.valid.argsHash)
  if (breakers.hasFailures) breakers.refusePaused(call.circuit)
  if (!rate.isLimited) return budget.isLimited ? reserve(budget, decided) : undefined
  return after(rate.take(call.name, call.inputBytes), () => reserve(budget, decided))
}

function reserve(budget: BudgetLedger, decided: DecidedCall): void | Promise<void> {
  const { call } = decided
  const { name: tool, costUnits: cost = 0 } = decided.tool.tool
  const { session } = call.options
  return after(budget.reserve({ run: call.run, session, tool, cost }), (reservation) => {
    call.limits.reservation = reservation
    call.report.notices.push(...reservation.notices)
  })
}

/** Starts step 8: takes a concurrency slot and checks the circuit breaker. Returns a promise only if the call has to wait. */
export function claimPlace({ limits }: Runtime, decided: DecidedCall): Awaitable<void> {
  const { call } = decided
  // A nested call uses the slot of its parent; waiting for another slot could mean waiting for its own parent.
  const entering = call.parent ? undefined : limits.concurrency.enter(call.name, call)
  if (entering instanceof Promise) return entering.then((leave) => begin(limits, decided, leave))
  return begin(limits, decided, entering)
}

function begin({ breakers }: Limiters, { call }: DecidedCall, leave: (() => void) | undefined): Awaitable<void> {
  const held = call.limits
  held.release = leave
  held.isProbe = breakers.hasFailures && breakers.check(call.circuit)
  return held.key?.begin()
}

/**
 * Returns the caller's idempotency key, or one derived from its ids, the tool and the arguments if the tool has side
 * effects.
 */
export function keyOf(call: Call): string | undefined {
  const { idempotencyKey: given, repeatKey, requestId, taskId } = call.options
  if (given !== undefined) return given
  if (!call.found?.tool.hasEffects) return undefined
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
  held?: HeldRun,
): Awaitable<readonly string[]> {
  const { breakers, loops } = limits
  const { key, reservation, release, isProbe = false } = call.limits
  const { enteredMark, waitedMs = 0 } = call.execution ?? {}
  release?.()
  const finishing = key
    ? reported(() => key.finish(isFinal(call, result) ? structuredClone(result) : undefined, held))
    : NO_NOTICES
  if (enteredMark === undefined) {
    if (isProbe) breakers.record(call.circuit, 'neutral', true)
    return reservation ? both(finishing, () => reservation.release()) : finishing
  }
  if (!result.ok || breakers.hasFailures) breakers.record(call.circuit, outcomeOf(result), isProbe)
  // Waiting for a person does not count as time of the tool.
  const wallMs = Math.max(0, performance.now() - enteredMark - waitedMs)
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
 * without side effects; a call that may have had side effects never runs twice, unless the owner lets it retry its request.
 */
function isFinal(call: Call, result: ToolResult): boolean {
  if (call.execution?.mayRepeat) return false
  return call.wasExecuted && (result.ok || call.found?.tool.hasEffects === true)
}

/** Only failures of the tool itself count for the circuit breaker, not a command that failed or timed out. */
function outcomeOf(result: ToolResult): 'ok' | 'failed' | 'neutral' {
  if (result.ok) return 'ok'
  return ERRORS[result.error.code].blame === 'tool' && result.data === undefined ? 'failed' : 'neutral'
}
