import { type Awaitable, ERRORS, messageOf, type ToolResult } from '../../core/index.ts'
import { after, sha256 } from '../../lib/index.ts'
import { defaultIdempotencyKey, keyName, recordedKeyName } from '../../limits/index.ts'
import type { Parts } from '../runtime.ts'
import { type Call, untilStopped } from './call.ts'
import type { Settled } from './settle.ts'

/** Step 6, first part: a key seen before gives back its result; a call with the same key under way is joined. */
export function claimKey(parts: Parts, call: Call): Promise<Settled | undefined> | undefined {
  const key = keyOf(call)
  return key === undefined ? undefined : claim(parts, call, key)
}

async function claim({ idempotency, principal }: Parts, call: Call, key: string): Promise<Settled | undefined> {
  const scope = { principal, run: call.run, tool: call.name }
  const name = keyName({ ...scope, key })
  // Without effects a call may be executed once more, and its failure was never final.
  const recorded = call.tool!.hasEffects ? recordedKeyName({ ...scope, keyHash: sha256(key) }) : undefined
  for (;;) {
    const claiming = idempotency.claim(name, call.argsHash, recorded)
    const claimed = claiming instanceof Promise ? await untilStopped(call, claiming) : claiming
    if (claimed.kind === 'new') {
      call.key = claimed
      return undefined
    }
    const result = claimed.kind === 'replay' ? claimed.result : await untilStopped(call, claimed.result)
    if (result) return again(call, result)
  }
}

/** Step 6, second part: loop, rate and budget; each says no by throwing. A promise only for a store that takes its time. */
export function takeLimits(parts: Parts, call: Call): Awaitable<void> {
  const { tool } = call.tool!
  parts.loops.check(call.run, tool.name, call.argsHash)
  parts.breakers.refusePaused(call.circuit)
  const taking = parts.rate.take(tool.name, call.inputBytes)
  return taking instanceof Promise ? taking.then(() => reserve(parts, call)) : reserve(parts, call)
}

function reserve(parts: Parts, call: Call): Awaitable<void> {
  const { tool } = call.tool!
  const { session } = call.options
  const reserving = parts.budget.reserve({ run: call.run, session, tool: tool.name, cost: tool.costUnits ?? 0 })
  return after(reserving, (reservation) => {
    call.reservation = reservation
    call.notices.push(...reservation.notices)
  })
}

/** The caller's key, or one made of its ids, the tool and the arguments, for tools whose repetition would do something. */
export function keyOf(call: Call): string | undefined {
  const { idempotencyKey: given, repeatKey, requestId, taskId } = call.options
  if (given !== undefined) return given
  if (!call.tool?.hasEffects) return undefined
  const { name: tool, argsHash } = call
  if (repeatKey !== undefined) return defaultIdempotencyKey({ repeatKey, tool, argsHash })
  if (requestId === undefined || taskId === undefined) return undefined
  return defaultIdempotencyKey({ requestId, taskId, tool, argsHash })
}

function again(call: Call, result: ToolResult): Settled {
  const copy = structuredClone(result)
  const meta = { ...copy.meta, cached: true as const }
  return { result: { ...copy, callId: call.id, meta }, bytes: 0 }
}

/** At the end: frees what the call held and counts what it used. What the caller should know comes back as notices. */
export function giveBack(parts: Parts, call: Call, { result, bytes }: Settled): Awaitable<readonly string[]> {
  call.release?.()
  const tool = call.name
  const finishing = told(() => call.key?.finish(isFinal(call, result) ? structuredClone(result) : undefined))
  if (!call.executed) {
    if (call.isProbe) parts.breakers.record(call.circuit, 'neutral', true)
    return both(
      finishing,
      told(() => call.reservation?.release()),
    )
  }
  parts.breakers.record(call.circuit, outcomeOf(result), call.isProbe)
  // Time that a person took to answer is not the tool's.
  const wallMs = Math.max(0, performance.now() - call.executedMark! - call.waitedInToolMs)
  const settling = told(() => call.reservation!.settle({ wallMs, bytes }))
  const failure = result.ok ? undefined : `${result.error.code} ${result.error.message}`
  const loop = parts.loops.record(call.run, tool, call.argsHash, failure)
  const counted = both(finishing, settling)
  return loop === undefined ? counted : after(counted, (notices) => [...notices, loop])
}

/** The call has happened: a store that fails now is told, and changes nothing about it. */
function told(work: () => Awaitable<readonly string[] | void>): Awaitable<readonly string[]> {
  const failed = (error: unknown) => [`What this call used could not be written down: ${messageOf(error)}`]
  try {
    const working = work()
    if (working instanceof Promise) return working.then((notices) => notices ?? NONE, failed)
    return working ?? NONE
  } catch (error) {
    return failed(error)
  }
}

function both(a: Awaitable<readonly string[]>, b: Awaitable<readonly string[]>): Awaitable<readonly string[]> {
  if (a === NONE) return b
  return b === NONE ? a : after(a, (first) => after(b, (second) => [...first, ...second]))
}

const NONE: readonly string[] = []

/**
 * Whether a repeated call gets this very result. What never ran can be tried again, and so can the failure of a tool
 * without effects; what may have had an effect is never done twice.
 */
function isFinal(call: Call, result: ToolResult): boolean {
  return call.executed && (result.ok || call.tool!.hasEffects)
}

/** Only what the tool is to blame for counts against it: not that a command which it ran failed or took too long. */
function outcomeOf(result: ToolResult): 'ok' | 'failed' | 'neutral' {
  if (result.ok) return 'ok'
  return ERRORS[result.error.code].blame === 'tool' && result.data === undefined ? 'failed' : 'neutral'
}
