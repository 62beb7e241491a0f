import {
  type Clock,
  type FilesLevel,
  messageOf,
  type RecentCall,
  ToolError,
  type ToolResult,
  withNoticeLines,
} from '../../core/index.ts'
import { sha256 } from '../../lib/index.ts'
import { type CallEnded, type CallFacts, MAX_ARGS_CHARS, type RunRecords } from '../../records/log/index.ts'
import { fileAccess } from '../../sandbox/files/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, emitEvent, givenIds } from './call.ts'
import { keyOf, releaseLimits } from './limits.ts'
import type { Settled } from './settle.ts'
import { targetLines } from './targets.ts'

/** Called when a tool without side effects returns a promise. If it settles soon, only its end is recorded, with all facts. */
export function recordPending(runtime: Runtime, run: RunState, call: Call): void {
  if (run.records && !call.started) run.starts.add(call, (open) => recordStart(runtime, run, open))
}

function recordStart(runtime: Runtime, run: RunState, call: Call): void {
  call.started = true
  run.records?.append({ type: 'call-started', callId: call.id, tool: call.name, ...facts(runtime, call) })
}

/** Records the intent of a call and waits until it is durable, before the tool changes anything. */
export async function recordIntent(runtime: Runtime, run: RunState, call: Call): Promise<void> {
  beginChange(runtime, run, call)
  if (!run.records || runtime.settings.durability === 'behind') return
  await run.records.synced().catch(refuseEffects)
}

/** Records the start of a call that is about to change something. Throws if nothing can be recorded. */
export function beginChange(runtime: Runtime, run: RunState, call: Call): void {
  if (run.records?.problem) refuseEffects(run.records.problem)
  call.hasChanged = true
  if (run.records && !call.started) recordStart(runtime, run, call)
}

/** Ends a call, exactly once: releases what it held, records the end and emits `call-ended`. */
export async function recordEnd(
  runtime: Runtime,
  run: RunState | undefined,
  call: Call,
  settled: Settled,
): Promise<ToolResult> {
  const releasing = releaseLimits(runtime, call, settled)
  const notices = releasing instanceof Promise ? await releasing : releasing
  let result = notices.length > 0 ? withNotices(settled.result, notices) : settled.result
  const { status, meta } = result
  runtime.metrics.record({
    tool: call.tool?.tool.name ?? 'unknown',
    status,
    durationMs: Math.max(0, meta.durationMs - call.waitedMs),
    bytes: settled.bytes,
  })
  call.span?.end({ ok: result.ok, code: result.error?.code })
  const records = run?.records
  if (records) {
    records.append(endOf(runtime, call, { ...settled, result }))
    call.recorded = true
    const writing = secure(runtime, records, run.inFlight, call)
    const unsafe = writing && (await writing)
    if (unsafe) result = withNotices(result, [unsafe])
  }
  if (result.meta.notices) result = withNoticeLines(result)
  if (call.tool && runtime.hooks.has('settled')) {
    const { id: callId, name: tool } = call
    await runtime.hooks.settled(call, result, ({ message }) =>
      records?.append({ type: 'hook-failed', callId, tool, message }),
    )
  }
  if (run) noteCall(run, result)
  emitEvent(runtime, call, { type: 'call-ended', callId: call.id, result })
  return result
}

/** Ends a call if `recordEnd` failed. Records the end unless it is already recorded. */
export function endAnyway(run: RunState | undefined, call: Call, defect: unknown): ToolResult {
  const message = `The end of call ${call.id} could not be reported.`
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

/** Records that an abandoned tool has ended after all. */
export function recordLate(
  runtime: Runtime,
  run: RunState,
  call: Call,
  outcome: { readonly ok: boolean; readonly error?: unknown },
): void {
  const durationMs = Math.round(performance.now() - call.startedMark)
  const error = outcome.ok
    ? undefined
    : { code: 'INTERNAL' as const, message: runtime.redactor.text(messageOf(outcome.error)) }
  run.records?.append({ type: 'call-late', callId: call.id, tool: call.name, ok: outcome.ok, durationMs, error })
}

/**
 * Waits until the end of a call survives kill -9, or with side effects also a loss of power. The side effect has happened
 * and its result must not be lost, so a disk error is only a notice; the line is kept and written again later.
 */
function secure(
  runtime: Runtime,
  records: RunRecords,
  inFlight: number,
  call: Call,
): Promise<string | undefined> | undefined {
  const needsDisk = call.executed && call.hasChanged && runtime.settings.durability !== 'behind'
  return (needsDisk ? records.synced() : records.written(inFlight))?.then(
    () => undefined,
    (problem: Error) => `The record of this call is not on disk yet: ${problem.message}`,
  )
}

/** Absent facts are `undefined`, which JSON omits: one object shape for all calls is fastest. */
function endOf(runtime: Runtime, call: Call, { result, text, bytes }: Settled): CallEnded {
  const { status, error, meta, summary, evidence, artifacts } = result
  return {
    type: 'call-ended',
    callId: call.id,
    tool: call.name,
    ...(call.started ? undefined : facts(runtime, call)),
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
    error: error && { code: error.code, message: error.message, ...defect(runtime, call) },
  }
}

/** Returns the facts of a call: its caller, its request and the deciding rule. */
function facts(runtime: Runtime, call: Call): CallFacts {
  const { session, purpose, callerKind, dryRun } = call.options
  const key = call.isValid ? keyOf(call) : call.options.idempotencyKey
  const isLarge = call.inputBytes > MAX_ARGS_CHARS
  return {
    caller: runtime.redactor.text(call.caller),
    principal: runtime.principal,
    wire: call.wire === call.name ? undefined : call.wire,
    via: callerKind,
    session: session && runtime.redactor.text(session),
    parent: call.parent?.id,
    purpose: purpose && runtime.redactor.text(purpose),
    ...runtime.redactor.value(givenIds(call.options)),
    argsHash: call.argsHash || undefined,
    // Large arguments are not recorded, so they are not redacted either: only their size and hash are recorded.
    args: call.isValid && !isLarge ? runtime.redactor.value(call.input) : undefined,
    argsBytes: call.isValid && isLarge ? call.inputBytes : undefined,
    targets: call.targets.length > 0 ? targetLines(runtime, call) : undefined,
    keyHash: key === undefined ? undefined : sha256(key),
    effect: call.decision && call.effect,
    rule: call.decision?.rule,
    sandbox: call.sandbox,
    files: weakerFiles(call),
    dryRun: dryRun || undefined,
  }
}

/** Files are normally opened by descriptor, so only the weaker level is recorded. */
function weakerFiles({ capabilities }: Call): FilesLevel | undefined {
  if (fileAccess.level === 'descriptors') return undefined
  return capabilities.some((capability) => capability.endsWith(':fs')) ? fileAccess.level : undefined
}

/** Returns the redacted stack of a defect for the audit log. Models and callers never see it. */
function defect({ redactor }: Runtime, { failure }: Call): { readonly stack?: string; readonly details?: unknown } {
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
    // A getter of the error throws.
    return messageOf(cause)
  }
}

function withNotices(result: ToolResult, notices: readonly string[]): ToolResult {
  return { ...result, meta: { ...result.meta, notices: [...(result.meta.notices ?? []), ...notices] } }
}

/** Throws because calls with side effects must not run without a record. */
export function refuseEffects(problem: ToolError): never {
  throw new ToolError(
    'RECORDS_UNAVAILABLE',
    `${problem.message} Calls with side effects are refused until the record can be written.`,
    { cause: problem },
  )
}

const SOON_MS = 50

/**
 * Calls without side effects that returned a promise. Most settle soon, and then their end contains all facts; only those
 * that are still running after a moment get a line for their start.
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

const MAX_RECENT_CALLS = 10

/** The recent calls of each run, shown to approvers. Kept in memory only. */
const recent = new WeakMap<RunState, RecentCall[]>()

/** Remembers how a call of the run ended. */
export function noteCall(run: RunState, { callId, tool, status, summary }: ToolResult): void {
  const known = recent.get(run)
  const call: RecentCall = { callId, tool, status, summary }
  if (!known) {
    recent.set(run, [call])
    return
  }
  known.push(call)
  // Trimmed rarely and many at a time, to keep the cost per call low.
  if (known.length >= 2 * MAX_RECENT_CALLS) known.splice(0, known.length - MAX_RECENT_CALLS)
}

/** Returns the recent calls of the run, newest first. */
export function recentCalls(run: RunState): readonly RecentCall[] {
  return (recent.get(run) ?? []).slice(-MAX_RECENT_CALLS).reverse()
}
