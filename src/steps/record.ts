import { ToolError } from '../errors.ts'
import { sha256 } from '../hash.ts'
import type { CallEnded, CallFacts } from '../record/events.ts'
import type { RunRecords } from '../record/run-records.ts'
import type { ToolResult } from '../result.ts'
import type { Call } from './call.ts'
import { giveBack } from './limit.ts'
import type { Parts, RunState } from './parts.ts'
import { asToolError, type Settled } from './settle.ts'
import { tell } from './tell.ts'

/** Before the effect: the intent is on record, and on the disk itself when the tool can change something. */
export async function recordStart(parts: Parts, run: RunState, call: Call): Promise<void> {
  const { records } = run
  if (!records) return
  const { hasEffects } = call.tool!
  if (hasEffects && records.problem) throw refuseEffects(records.problem)
  records.append({ type: 'call-started', callId: call.id, tool: call.name, ...facts(parts, call) })
  call.started = true
  if (!hasEffects || parts.settings.durability === 'behind') return
  await records.synced().catch((problem: ToolError) => {
    throw refuseEffects(problem)
  })
}

/** The one end of a call: what it held is given back, its record is safe, and everybody is told. */
export async function recordEnd(
  parts: Parts,
  run: RunState | undefined,
  call: Call,
  settled: Settled,
): Promise<ToolResult> {
  const notices = giveBack(parts, call, settled)
  let result = notices.length > 0 ? withNotices(settled.result, notices) : settled.result
  const { status, meta } = result
  parts.metrics.record({
    tool: call.tool?.tool.name ?? 'unknown',
    status,
    durationMs: meta.durationMs,
    bytes: settled.bytes,
  })
  call.span?.end({ ok: result.ok, code: result.error?.code })
  const records = run?.records
  if (records) {
    records.append(endOf(parts, call, { ...settled, result }))
    const unsafe = await unsafeRecord(parts, records, call)
    if (unsafe) result = withNotices(result, [unsafe])
  }
  if (call.tool && parts.hooks.has('settled')) {
    const { id: callId, name: tool } = call
    await parts.hooks.settled(call, result, ({ message }) =>
      records?.append({ type: 'hook-failed', callId, tool, message }),
    )
  }
  tell(parts, call, { type: 'call-ended', callId: call.id, result })
  return result
}

/** A tool that was left behind came to its end after all. */
export function recordLate(
  run: RunState,
  call: Call,
  outcome: { readonly ok: boolean; readonly error?: unknown },
): void {
  const { ok, error } = outcome
  const durationMs = Math.round(performance.now() - call.startedMark)
  const late = { type: 'call-late', callId: call.id, tool: call.name, ok, durationMs } as const
  run.records?.append(
    ok
      ? late
      : { ...late, error: { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) } },
  )
}

/** What an end must be safe against before it is told: kill -9, or with effects also the loss of power. */
async function unsafeRecord(parts: Parts, records: RunRecords, call: Call): Promise<string | undefined> {
  const needsDisk = call.executed && call.tool?.hasEffects && parts.settings.durability !== 'behind'
  try {
    await (needsDisk ? records.synced() : records.written())
  } catch (problem) {
    // The effect has happened and its result must not be lost; the line is kept and tried again.
    return `The record of this call is not on disk yet: ${(problem as Error).message}`
  }
}

function endOf(parts: Parts, call: Call, { result, bytes, resultHash }: Settled): CallEnded {
  const { status, error, meta, summary } = result
  return {
    type: 'call-ended',
    callId: call.id,
    tool: call.name,
    status,
    durationMs: meta.durationMs,
    bytes,
    ...(meta.attempts > 1 && { attempts: meta.attempts }),
    ...(resultHash && { resultHash }),
    summary,
    ...(call.approvedBy !== undefined && { approvedBy: call.approvedBy }),
    evidence: result.evidence.map(({ type, ref }) => `${type}:${ref}`),
    ...(result.artifacts.length > 0 && { artifacts: result.artifacts.map(({ ref }) => ref) }),
    ...(meta.cached && { cached: true }),
    ...(meta.abandoned && { abandoned: true }),
    ...(meta.notices && { notices: meta.notices }),
    ...(error && { error: { code: error.code, message: error.message, ...defect(call) } }),
    ...(!call.started && facts(parts, call)),
  }
}

/** Who asks for what, and which rule decided. */
function facts(parts: Parts, call: Call): CallFacts {
  const { session, purpose, idempotencyKey, callerKind, dryRun } = call.options
  return {
    caller: call.caller,
    ...(call.wire !== call.name && { wire: call.wire }),
    ...(callerKind && { via: callerKind }),
    ...(session !== undefined && { session }),
    ...(call.parent && { parent: call.parent.id }),
    ...(purpose !== undefined && { purpose }),
    ...(call.argsHash && { argsHash: call.argsHash, args: parts.redactor.value(call.input) }),
    ...(call.targets.length > 0 && { targets: call.targets.map(({ capability, value }) => `${capability} ${value}`) }),
    ...(idempotencyKey !== undefined && { keyHash: sha256(idempotencyKey) }),
    ...(call.decision && { effect: call.effect, rule: call.decision.rule }),
    sandbox: parts.settings.sandboxLevel,
    ...(dryRun && { dryRun }),
  }
}

/** Of a defect the audit keeps the stack; models and callers never see it. */
function defect(call: Call): { readonly stack?: string; readonly details?: unknown } {
  const { cause, details } = asToolError(call, call.thrown)
  const stack = cause instanceof Error ? cause.stack : cause === undefined ? undefined : String(cause)
  return { ...(stack && { stack }), ...(details && { details }) }
}

function withNotices(result: ToolResult, notices: readonly string[]): ToolResult {
  return { ...result, meta: { ...result.meta, notices: [...(result.meta.notices ?? []), ...notices] } }
}

function refuseEffects(problem: ToolError): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `${problem.message} Calls with effects are refused until the record can be written.`,
    { cause: problem },
  )
}
