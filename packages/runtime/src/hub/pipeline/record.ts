import {
  type Artifact,
  type Clock,
  type FilesLevel,
  messageOf,
  type RecentCall,
  ToolError,
  type ToolResult,
  withNoticeLines,
} from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { fileAccess } from '@tool-hub/sandbox/files'
import { shortenText } from '../../limits/index.ts'
import {
  type CallEnded,
  type CallFacts,
  type CallOutput,
  MAX_ARGS_CHARS,
  UnsharedEnd,
} from '../../records/log/index.ts'
import type { PendingStarts, RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, emitEvent, givenIds } from './call.ts'
import { targetLines } from './decide.ts'
import { keyOf, releaseLimits } from './limits.ts'
import { fail, mayHaveHappened, type Settled } from './settle.ts'

/** How many calls of a run its approvers see. */
const MAX_RECENT_CALLS = 10
/** How much of an output is recorded: half of it is the beginning, half the end. */
const MAX_CHARS = 8_192
/** A line of a record has a limit, and a control character takes six characters of JSON. */
const MAX_JSON_CHARS = 24_000
/** A call that has ended is kept only if it holds less than this. */
const MAX_KEPT_BYTES = 65_536

/** Called when a tool without side effects returns a promise. If it settles soon, only its end is recorded, with all facts. */
export function recordPending(runtime: Runtime, run: RunState, call: Call): void {
  if (run.records && call.recorded === 'nothing') {
    run.starts ??= new StartQueue(runtime.clock)
    run.starts.add(call, (open) => recordStart(runtime, run, open))
  }
}

function recordStart(runtime: Runtime, run: RunState, call: Call): void {
  call.recorded = 'start'
  run.records?.append({ type: 'call-started', callId: call.id, tool: call.name, ...facts(runtime, call) })
}

/** Records the intent of a call and waits until it is durable, before the tool changes anything. */
export async function recordIntent(runtime: Runtime, run: RunState, call: Call): Promise<void> {
  const isNew = call.recorded === 'nothing'
  const retrying = run.records?.retrySync?.()
  if (retrying) await retrying.catch(refuseEffects)
  beginChange(runtime, run, call)
  const { settings } = runtime
  const recording = settings.durability === 'behind' ? undefined : run.records?.synced().catch(refuseEffects)
  // The store refuses to share a new intent if the run has moved; nothing is shared for a further side effect.
  const isAsked = settings.durability === 'shared' && isNew && run.records !== undefined
  const confirming = run.hold.confirm?.(isAsked)
  if (confirming) await Promise.all([recording, confirming])
  else if (recording) await recording
  // The process may have been stopped while it waited.
  run.hold.assertHeld?.()
}

/** Records the start of a call that is about to change something. Throws if nothing can be recorded. */
export function beginChange(runtime: Runtime, run: RunState, call: Call): void {
  run.hold.assertHeld?.()
  if (run.records?.problem) refuseEffects(run.records.problem)
  call.hasChanged = true
  if (run.records && call.recorded === 'nothing') recordStart(runtime, run, call)
}

/** Ends a call, exactly once: releases what it held, records the end and emits `call-ended`. */
export async function recordEnd(
  runtime: Runtime,
  run: RunState | undefined,
  call: Call,
  settled: Settled,
): Promise<ToolResult> {
  const releasing = releaseLimits(runtime, call, settled, run?.hold.held)
  const notices = releasing instanceof Promise ? await releasing : releasing
  let result = notices.length > 0 ? withNotices(settled.result, notices) : settled.result
  const { status, meta } = result
  runtime.metrics.record({
    tool: call.found?.tool.tool.name ?? 'unknown',
    status,
    durationMs: Math.max(0, meta.durationMs - call.waitedMs),
    bytes: settled.bytes,
  })
  call.execution?.span?.end({ ok: result.ok, code: result.error?.code })
  const records = run?.records
  if (records) {
    run.starts?.waiting.delete(call)
    if (call.runLater.size > 0 && call.hasChanged) recordRunLater(runtime, records, call)
    const { outputs } = runtime.settings
    const output = outputs === 'all' || (outputs === 'failed' && !result.ok) ? outputOf(result) : undefined
    if (output) records.append(output)
    const end = endOf(runtime, call, result, settled)
    records.append(end)
    call.recorded = 'end'
    runtime.calls.lastEnded.end = end
    const needsDisk = call.hasChanged && call.wasExecuted && runtime.settings.durability !== 'behind'
    const writing = needsDisk ? records.ended() : records.written(run.inFlight)
    const unsafe = writing && (await problemOf(writing))
    if (unsafe instanceof UnsharedEnd) result = unshared(runtime, call, unsafe)
    else if (unsafe) result = withNotices(result, [`The record of this call is not on disk yet: ${unsafe.message}`])
  }
  if (result.meta.notices) result = withNoticeLines(result)
  if (call.found && runtime.hooks.names.has('settled')) {
    const { id: callId, name: tool } = call
    await runtime.hooks.settled(call, result, ({ message }) =>
      records?.append({ type: 'hook-failed', callId, tool, message }),
    )
  }
  if (run) {
    run.recent.push({ callId: result.callId, tool: result.tool, status: result.status, summary: result.summary })
    // Trimmed rarely and many at a time, to keep the cost per call low.
    if (run.recent.length >= 2 * MAX_RECENT_CALLS) run.recent.splice(0, MAX_RECENT_CALLS)
  }
  emitEvent(runtime, call, { type: 'call-ended', callId: call.id, result })
  if (call.inputBytes + settled.bytes < MAX_KEPT_BYTES) {
    runtime.calls.lastEnded.call = call
    runtime.calls.lastEnded.result = result
  }
  return result
}

/**
 * Returns the event with the text that a call returned, shortened. The content of a result is redacted already. A failure
 * that returned nothing but its message has no output: the end of the call has the message.
 */
function outputOf(result: ToolResult): CallOutput | undefined {
  const { ok, callId, tool, content, data, meta } = result
  if (meta.cached || meta.dryRun || (!ok && data === undefined)) return undefined
  const whole = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  if (whole === '') return undefined
  let maxChars = MAX_CHARS
  let kept = shortenText(whole, { maxChars, mode: 'middle' })
  while (JSON.stringify(kept.text).length > MAX_JSON_CHARS) {
    maxChars /= 2
    kept = shortenText(whole, { maxChars, mode: 'middle' })
  }
  const { text, cutChars } = kept
  return { type: 'call-output', callId, tool, text, ...(cutChars > 0 && { cutChars }) }
}

/** Records the files that the call has changed and that other programs run or obey later. */
export function recordRunLater({ redactor }: Runtime, records: NonNullable<RunState['records']>, call: Call): void {
  const files = [...call.runLater].map(([path, by]) => ({ path: redactor.text(path), by: redactor.text(by) }))
  call.runLater.clear()
  records.append({ type: 'run-later-changed', callId: call.id, tool: call.name, files })
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
  if (call.recorded !== 'end') run?.records?.append(end)
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
    meta: { durationMs: 0, attempts: call.execution?.attempts ?? 0 },
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
function problemOf(writing: Promise<void>): Promise<Error | undefined> {
  return writing.then(
    () => undefined,
    (problem: Error) => problem,
  )
}

/** The result of a call that was executed and whose end the others do not know: nobody may rely on it. */
function unshared(runtime: Runtime, call: Call, { cause }: UnsharedEnd): ToolResult {
  const code = ToolError.is(cause) ? cause.code : 'RECORDS_UNAVAILABLE'
  const message = `${call.name} was executed, but its end could not be shared: ${messageOf(cause)} Its record is on this machine.`
  const error = mayHaveHappened(call, code, message, cause)
  return { ...fail(runtime, call, error).result, status: 'error' }
}

/** Stores redacted data as an artifact of the run and lists it in the result of the call. Throws if there are no records. */
export async function keepArtifact(
  { redactor }: Runtime,
  { records }: RunState,
  call: Call,
  content: string | Uint8Array,
  options?: { readonly name?: string; readonly mediaType?: string },
): Promise<Artifact> {
  if (call.ended) throw call.over()
  if (!records)
    throw new ToolError('RECORDS_UNAVAILABLE', 'This hub keeps no records, so it cannot store an artifact.', {
      hint: 'Create the hub with `runs` set to a folder.',
    })
  const kept = typeof content === 'string' ? redactor.text(content) : content
  const artifact = await records.putArtifact(kept, redactor.value(options))
  call.report.artifacts.push(artifact)
  return artifact
}

/** Absent facts are `undefined`, which JSON omits: one object shape for all calls is fastest. */
function endOf(runtime: Runtime, call: Call, result: ToolResult, { text, bytes }: Settled): CallEnded {
  const { status, error, meta, summary, evidence, artifacts } = result
  return {
    type: 'call-ended',
    callId: call.id,
    tool: call.name,
    ...(call.recorded === 'start' ? undefined : facts(runtime, call)),
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
    worker: call.execution?.place?.process,
    notices: meta.notices,
    error: error && { code: error.code, message: error.message, ...defect(runtime, call) },
  }
}

/** Returns the facts of a call: its caller, its request and the deciding rule. */
function facts(runtime: Runtime, call: Call): CallFacts {
  const { session, purpose, callerKind, dryRun, requestId, taskId, goalId } = call.options
  const { valid, decided } = call
  const key = valid ? keyOf(call) : call.options.idempotencyKey
  const isLarge = call.inputBytes > MAX_ARGS_CHARS
  return {
    caller: runtime.redactor.text(call.caller),
    principal: runtime.identity.principal,
    wire: call.wire === call.name ? undefined : call.wire,
    via: callerKind,
    session: session && runtime.redactor.text(session),
    parent: call.parent?.id,
    script: call.script,
    purpose: purpose && runtime.redactor.text(purpose),
    ...((requestId ?? taskId ?? goalId) !== undefined && runtime.redactor.value(givenIds(call.options))),
    argsHash: valid?.argsHash,
    // Large arguments are not recorded, so they are not redacted either: only their size and hash are recorded.
    args: valid && !isLarge ? runtime.redactor.value(valid.input) : undefined,
    argsBytes: valid && isLarge ? call.inputBytes : undefined,
    targets: valid && valid.targets.length > 0 ? targetLines(runtime, valid) : undefined,
    keyHash: key === undefined ? undefined : sha256(key),
    effect: decided?.effect,
    rule: decided?.decision.rule,
    tainted: decided?.isInTaintedRun || undefined,
    sandbox: valid?.sandbox,
    files: fileAccess.level === 'descriptors' ? undefined : weakerFiles(call),
    dryRun: dryRun || undefined,
  }
}

/** Files are normally opened by descriptor, so only the weaker level is recorded. */
function weakerFiles({ valid }: Call): FilesLevel | undefined {
  return valid?.capabilities.some((capability) => capability.endsWith(':fs')) ? fileAccess.level : undefined
}

/** Returns the redacted stack of a defect for the audit log. Models and callers never see it. */
function defect(
  { redactor }: Runtime,
  { report: { failure } }: Call,
): { readonly stack?: string; readonly details?: unknown } {
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
export class StartQueue implements PendingStarts {
  readonly #clock: Clock
  /**
   * Those that have not settled, each with the function that records its start. A call leaves when it ends: one that was
   * kept for 50 ms would survive a minor garbage collection, which costs 2.7 us.
   */
  readonly waiting = new Map<Call, (call: Call) => void>()
  #hasTimer = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(call: Call, record: (call: Call) => void): void {
    this.waiting.set(call, record)
    if (this.#hasTimer) return
    this.#hasTimer = true
    this.#clock.after(SOON_MS, () => this.#recordOpen(), { background: true })
  }

  #recordOpen(): void {
    this.#hasTimer = false
    for (const [call, record] of this.waiting) if (!call.ended && call.recorded === 'nothing') record(call)
    this.waiting.clear()
  }
}

/** Returns the recent calls of the run, newest first. */
export function recentCalls(run: RunState): readonly RecentCall[] {
  return run.recent.slice(-MAX_RECENT_CALLS).reverse()
}
