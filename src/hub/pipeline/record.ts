import {
  type Clock,
  type FilesLevel,
  messageOf,
  ToolError,
  type ToolResult,
  withNoticeLines,
} from '../../core/index.ts'
import { sha256 } from '../../lib/index.ts'
import { type CallEnded, type CallFacts, MAX_ARGS_CHARS, type RunRecords } from '../../records/log/index.ts'
import { fileAccess } from '../../sandbox/files/index.ts'
import type { Parts, RunState } from '../runtime.ts'
import { noteCall } from './approval-request.ts'
import { type Call, emitEvent, givenIds } from './call.ts'
import { giveBack, keyOf } from './limits.ts'
import type { Settled } from './settle.ts'
import { targetLines } from './targets.ts'

/** A tool without effects goes on for a while. Should it come back soon, its end alone is recorded, with all the facts. */
export function recordPending(parts: Parts, run: RunState, call: Call): void {
  if (run.records && !call.started) run.starts.add(call, (open) => recordStart(parts, run, open))
}

function recordStart(parts: Parts, run: RunState, call: Call): void {
  call.started = true
  run.records?.append({ type: 'call-started', callId: call.id, tool: call.name, ...facts(parts, call) })
}

/** Before a tool changes anything, its intent is on record and on the disk itself. */
export async function recordIntent(parts: Parts, run: RunState, call: Call): Promise<void> {
  beginChange(parts, run, call)
  if (!run.records || parts.settings.durability === 'behind') return
  await run.records.synced().catch(refuseEffects)
}

/** A door is about to change something for this call: says so on record, or refuses when nothing can be recorded. */
export function beginChange(parts: Parts, run: RunState, call: Call): void {
  if (run.records?.problem) refuseEffects(run.records.problem)
  call.hasChanged = true
  if (run.records && !call.started) recordStart(parts, run, call)
}

/** The one end of a call: what it held is given back, its record is safe, and everybody is told. */
export async function recordEnd(
  parts: Parts,
  run: RunState | undefined,
  call: Call,
  settled: Settled,
): Promise<ToolResult> {
  const giving = giveBack(parts, call, settled)
  const notices = giving instanceof Promise ? await giving : giving
  let result = notices.length > 0 ? withNotices(settled.result, notices) : settled.result
  const { status, meta } = result
  parts.metrics.record({
    tool: call.tool?.tool.name ?? 'unknown',
    status,
    durationMs: Math.max(0, meta.durationMs - call.waitedMs),
    bytes: settled.bytes,
  })
  call.span?.end({ ok: result.ok, code: result.error?.code })
  const records = run?.records
  if (records) {
    records.append(endOf(parts, call, { ...settled, result }))
    call.recorded = true
    const writing = secure(parts, records, run.inFlight, call)
    const unsafe = writing && (await writing)
    if (unsafe) result = withNotices(result, [unsafe])
  }
  if (result.meta.notices) result = withNoticeLines(result)
  if (call.tool && parts.hooks.has('settled')) {
    const { id: callId, name: tool } = call
    await parts.hooks.settled(call, result, ({ message }) =>
      records?.append({ type: 'hook-failed', callId, tool, message }),
    )
  }
  if (run) noteCall(run, result)
  emitEvent(parts, call, { type: 'call-ended', callId: call.id, result })
  return result
}

/** Should telling the end itself fail, the call ends all the same, once, and that is on record. */
export function endAnyway(run: RunState | undefined, call: Call, defect: unknown): ToolResult {
  const message = `The end of call ${call.id} could not be told.`
  const error = { code: 'INTERNAL' as const, message, stack: stackOf(defect) }
  const end = {
    type: 'call-ended',
    callId: call.id,
    tool: call.name,
    status: 'error',
    durationMs: 0,
    bytes: 0,
    error,
  } as const
  if (!call.recorded) run?.records?.append(end)
  const { retryable, fix } = new ToolError('INTERNAL', message)
  return {
    ok: false,
    status: 'error',
    callId: call.id,
    tool: call.name,
    summary: message,
    content: [{ type: 'text', text: message }],
    artifacts: [],
    evidence: [{ type: 'tool', ref: call.id, summary: message }],
    error: { code: 'INTERNAL', message, retryable, fix },
    meta: { durationMs: 0, attempts: call.attempts },
  }
}

/** A tool that was left behind came to its end after all. */
export function recordLate(
  parts: Parts,
  run: RunState,
  call: Call,
  outcome: { readonly ok: boolean; readonly error?: unknown },
): void {
  const durationMs = Math.round(performance.now() - call.startedMark)
  const error = outcome.ok
    ? undefined
    : { code: 'INTERNAL' as const, message: parts.redactor.text(messageOf(outcome.error)) }
  run.records?.append({ type: 'call-late', callId: call.id, tool: call.name, ok: outcome.ok, durationMs, error })
}

/**
 * What an end must be safe against before it is told: kill -9, or with effects also the loss of power. The effect has
 * happened and its result must not be lost, so a disk that refuses is only told; the line is kept and tried again.
 */
function secure(
  parts: Parts,
  records: RunRecords,
  inFlight: number,
  call: Call,
): Promise<string | undefined> | undefined {
  const needsDisk = call.executed && call.hasChanged && parts.settings.durability !== 'behind'
  return (needsDisk ? records.synced() : records.written(inFlight))?.then(
    () => undefined,
    (problem: Error) => `The record of this call is not on disk yet: ${problem.message}`,
  )
}

/** Absent facts are left undefined, which JSON leaves out: one shape of object for all calls is quickest. */
function endOf(parts: Parts, call: Call, { result, text, bytes }: Settled): CallEnded {
  const { status, error, meta, summary, evidence, artifacts } = result
  return {
    type: 'call-ended',
    callId: call.id,
    tool: call.name,
    ...(call.started ? undefined : facts(parts, call)),
    status,
    durationMs: meta.durationMs,
    waitedMs: call.waitedMs > 0 ? Math.round(call.waitedMs) : undefined,
    bytes,
    attempts: meta.attempts > 1 ? meta.attempts : undefined,
    resultHash: text === undefined ? undefined : sha256(text),
    summary,
    approvedBy: call.approvedBy,
    evidence: evidence.map(({ type, ref }) => `${type}:${ref}`),
    artifacts: artifacts.length > 0 ? artifacts.map(({ ref }) => ref) : undefined,
    cached: meta.cached,
    labels: meta.labels,
    abandoned: meta.abandoned,
    notices: meta.notices,
    error: error && { code: error.code, message: error.message, ...defect(parts, call) },
  }
}

/** Who asks for what, and which rule decided. */
function facts(parts: Parts, call: Call): CallFacts {
  const { session, purpose, callerKind, dryRun } = call.options
  const key = call.isValid ? keyOf(call) : call.options.idempotencyKey
  const isLarge = call.inputBytes > MAX_ARGS_CHARS
  return {
    caller: parts.redactor.text(call.caller),
    principal: parts.principal,
    wire: call.wire === call.name ? undefined : call.wire,
    via: callerKind,
    session: session && parts.redactor.text(session),
    parent: call.parent?.id,
    purpose: purpose && parts.redactor.text(purpose),
    ...parts.redactor.value(givenIds(call.options)),
    argsHash: call.argsHash || undefined,
    // Large arguments are not kept, so they are not walked for secrets either: their size and their hash are.
    args: call.isValid && !isLarge ? parts.redactor.value(call.input) : undefined,
    argsBytes: call.isValid && isLarge ? call.inputBytes : undefined,
    targets: call.targets.length > 0 ? targetLines(parts, call) : undefined,
    keyHash: key === undefined ? undefined : sha256(key),
    effect: call.decision && call.effect,
    rule: call.decision?.rule,
    sandbox: call.sandbox,
    files: weakerFiles(call),
    dryRun: dryRun || undefined,
  }
}

/** Descriptors are the rule: only the weaker level is worth a line. */
function weakerFiles({ capabilities }: Call): FilesLevel | undefined {
  if (fileAccess.level === 'descriptors') return undefined
  return capabilities.some((capability) => capability.endsWith(':fs')) ? fileAccess.level : undefined
}

/** Of a defect the audit keeps the stack; models and callers never see it. Secrets are kept by nobody. */
function defect({ redactor }: Parts, { failure }: Call): { readonly stack?: string; readonly details?: unknown } {
  const { cause, details } = failure ?? {}
  return {
    ...(cause !== undefined && { stack: redactor.text(stackOf(cause)) }),
    ...(details && { details: redactor.value(details) }),
  }
}

function stackOf(cause: unknown): string {
  try {
    return cause instanceof Error && typeof cause.stack === 'string' ? cause.stack : messageOf(cause)
  } catch {
    // Whatever it is, it does not want to be looked at.
    return messageOf(cause)
  }
}

function withNotices(result: ToolResult, notices: readonly string[]): ToolResult {
  return { ...result, meta: { ...result.meta, notices: [...(result.meta.notices ?? []), ...notices] } }
}

/** Without a record there is no change. */
export function refuseEffects(problem: ToolError): never {
  throw new ToolError(
    'RECORDS_UNAVAILABLE',
    `${problem.message} Calls with effects are refused until the record can be written.`,
    { cause: problem },
  )
}

const SOON_MS = 50

/**
 * Calls without effects that did not come back at once. Most come back soon, and then their end says it all; only
 * those that are still under way after a moment get a line for their start.
 */
export class StartQueue {
  readonly #clock: Clock
  #waiting: Call[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(call: Call, record: (call: Call) => void): void {
    this.#waiting.push(call)
    if (this.#waiting.length === 1) this.#clock.after(SOON_MS, () => this.#recordOpen(record), { background: true })
  }

  #recordOpen(record: (call: Call) => void): void {
    for (const call of this.#waiting.splice(0)) if (!call.ended && !call.started) record(call)
  }
}
