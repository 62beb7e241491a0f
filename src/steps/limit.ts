import { ERRORS } from '../errors.ts'
import { defaultIdempotencyKey } from '../limits/idempotency.ts'
import type { ToolResult } from '../result.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'
import type { Settled } from './settle.ts'
import { untilStopped } from './until-stopped.ts'

/** Step 6, first part: a key seen before gives back its result; a call with the same key under way is joined. */
export function claimKey(parts: Parts, call: Call): Promise<Settled | undefined> | undefined {
  const key = idempotencyKey(call)
  return key === undefined ? undefined : claim(parts, call, key)
}

async function claim(parts: Parts, call: Call, key: string): Promise<Settled | undefined> {
  for (;;) {
    const claimed = parts.idempotency.claim(key, call.argsHash)
    if (claimed.kind === 'new') {
      call.finishKey = claimed.finish
      return undefined
    }
    const result = claimed.kind === 'replay' ? claimed.result : await untilStopped(call, claimed.result)
    if (result) return again(call, result)
  }
}

/** Step 6, second part: loop, rate and budget; each says no by throwing. */
export function takeLimits(parts: Parts, call: Call): void {
  const { tool } = call.tool!
  parts.loops.check(call.run, tool.name, call.argsHash)
  parts.breakers.refusePaused(tool.name)
  parts.rate.take(tool.name)
  const { session } = call.options
  call.reservation = parts.budget.reserve({ run: call.run, session, tool: tool.name, cost: tool.costUnits ?? 0 })
  if (call.reservation.notices.length > 0) call.notices.push(...call.reservation.notices)
}

/** The caller's key, or S0's: request, task, tool and arguments, for tools whose repetition would do something. */
function idempotencyKey(call: Call): string | undefined {
  const { idempotencyKey: given, requestId, taskId } = call.options
  if (given !== undefined) return `${call.run}:${call.name}:${given}`
  if (requestId === undefined || taskId === undefined || !call.tool!.hasEffects) return undefined
  return `${call.run}:${defaultIdempotencyKey({ requestId, taskId, tool: call.name, argsHash: call.argsHash })}`
}

function again(call: Call, result: ToolResult): Settled {
  const copy = structuredClone(result)
  const meta = { ...copy.meta, cached: true as const }
  return { result: { ...copy, callId: call.id, meta }, bytes: 0 }
}

/** At the end: frees what the call held and counts what it used. What the caller should know comes back as notices. */
export function giveBack(parts: Parts, call: Call, { result, bytes }: Settled): readonly string[] {
  call.release?.()
  call.finishKey?.(isFinal(call, result) ? structuredClone(result) : undefined)
  const tool = call.name
  if (!call.executed) {
    call.reservation?.release()
    if (call.isProbe) parts.breakers.record(tool, 'neutral', true)
    return []
  }
  parts.breakers.record(tool, outcomeOf(result), call.isProbe)
  // Time that a person took to answer is not the tool's.
  const wallMs = performance.now() - call.executedMark!
  const notices = call.reservation!.settle({ wallMs, bytes })
  const failure = result.ok ? undefined : `${result.error.code} ${result.error.message}`
  const loop = parts.loops.record(call.run, tool, call.argsHash, failure)
  return loop === undefined ? notices : [...notices, loop]
}

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
