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

/** A tool without effects returned a promise. If it settles soon, only its end is recorded, with all the facts. */
export function recordPending(runtime: Runtime, run: RunState, call: Call): void {
  if (run.records && !call.started) run.starts.add(call, (open) => recordStart(runtime, run, open))
}

function recordStart(runtime: Runtime, run: RunState, call: Call): void {
  call.started = true
  run.records?.append({ type: 'call-started', callId: call.id, tool: call.name, ...facts(runtime, call) })
}

/** Before a tool changes anything, its intent is on record and on the disk itself. */
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

/** The one end of a call: releases what it held, records the end and emits `call-ended`. */
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

/** The end of a call whose end could not be recorded or emitted: once, and on record. */
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

/** A tool that was abandoned has ended after all. */
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
 * What an end must survive before it is returned: kill -9, or with effects also the loss of power. The effect has happened
 * and its result must not be lost, so a disk that refuses is only a notice; the line is kept and tried again.
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

/** Absent facts are left undefined, which JSON leaves out: one shape of object for all calls is quickest. */
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

/** Who asks for what, and which rule decided. */
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
    // Large arguments are not kept, so they are not walked for secrets either: their size and their hash are.
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

/** Descriptors are the rule: only the weaker level is worth a line. */
function weakerFiles({ capabilities }: Call): FilesLevel | undefined {
  if (fileAccess.level === 'descriptors') return undefined
  return capabilities.some((capability) => capability.endsWith(':fs')) ? fileAccess.level : undefined
}

/** Of a defect the audit keeps the stack; models and callers never see it. Secrets are kept by nobody. */
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
    // Its getters throw.
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

const MAX_RECENT_CALLS = 10

/** For approvers. Only in memory, at nearly no cost for other calls. */
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
  // Seldom, and then many together.
  if (known.length >= 2 * MAX_RECENT_CALLS) known.splice(0, known.length - MAX_RECENT_CALLS)
}

/** The calls of the run so far, newest first. */
export function recentCalls(run: RunState): readonly RecentCall[] {
  return (recent.get(run) ?? []).slice(-MAX_RECENT_CALLS).reverse()
}
