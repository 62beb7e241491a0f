import { setMaxListeners } from 'node:events'
import {
  type AnyTool,
  type CallEvent,
  type CallOptions,
  isCallerGone,
  isRunId,
  ToolError,
  type ToolResult,
} from '@tool-hub/core'
import { sha256, turnFor } from '@tool-hub/core/lib'
import { approve } from './pipeline/approve.ts'
import { Call, untilStopped } from './pipeline/call.ts'
import { denyCall } from './pipeline/decide.ts'
import { execute } from './pipeline/execute.ts'
import { checkOptions, judge } from './pipeline/judge.ts'
import { claimKey, claimPlace, takeLimits } from './pipeline/limits.ts'
import { endAnyway, recordEnd, recordIntent } from './pipeline/record.ts'
import { fail, failWithData, rehearsed, type Settled, succeed } from './pipeline/settle.ts'
import { followLabels, markUntrusted } from './pipeline/taint.ts'
import type { RunState } from './run-state.ts'
import type { CallNested, Runtime } from './runtime.ts'

/** The recorded origin of the taint if the caller marks a call as untrusted. */
const FROM_CALLER = 'caller'

/** The client of a principal's calls that name no run: each process has another default run for them. */
const DEFAULT_RUN = 'default run'

/** Calls a tool. Does not reject if the call fails: check `ok` of the result. */
export function callTool(
  runtime: Runtime,
  asked: string | AnyTool,
  input: unknown,
  options?: CallOptions,
): Promise<ToolResult> {
  // Callers without types may pass null.
  const own = withOwnNames(options ?? {})
  return runCall(runtime, newCall(runtime, asked, input, own, { emit: own.onEvent }), asked)
}

/** Calls a tool when its events are first read, and yields them in order. Ending the iteration early stops the call. */
export function streamTool(
  runtime: Runtime,
  asked: string | AnyTool,
  input: unknown,
  options?: CallOptions,
): AsyncIterable<CallEvent> {
  // Callers without types may pass null.
  const own = withOwnNames(options ?? {})
  return streamEvents((emit, signal) => {
    return runCall(runtime, newCall(runtime, asked, input, { ...own, signal }, { emit }), asked)
  }, own.signal)
}

/** The same options by their own names. */
export function withOwnNames(options: CallOptions): CallOptions {
  if (options.onClarificationRequest === undefined && options.abortSignal === undefined) return options
  const { onClarificationRequest, abortSignal, ...others } = options
  return { onQuestion: onClarificationRequest, signal: abortSignal, ...others }
}

/** Starts a nested call, which inherits the run, session, caller, rights and signal of its parent. */
export const callNested: CallNested = (
  runtime,
  asked,
  input,
  parent,
  { script, keepSource, onEvent: emit, ...own } = {},
) => {
  const { session, grants, approve, onQuestion, onAsk, untrusted } = parent.options
  const callerKind = script ? 'script' : parent.options.callerKind
  const { run, caller } = parent
  const options = { run, session, caller, callerKind, grants, approve, onQuestion, onAsk, untrusted, ...own }
  return runCall(runtime, newCall(runtime, asked, input, options, { parent, script, keepSource, emit }), asked)
}

/** Creates a call that has not started. */
export function newCall(
  runtime: Runtime,
  asked: string | AnyTool,
  input: unknown,
  options: CallOptions,
  { parent, script, keepSource, emit }: Partial<Pick<Call, 'parent' | 'script' | 'keepSource' | 'emit'>> = {},
): Call {
  // If the owner has set a folder for workspaces, each request has a separate run; otherwise calls share the hub's run.
  const isolated = runtime.settings.isolatesRequests ? options.requestId : undefined
  return new Call({
    id: parent && script ? `${parent.id}.${script.seq}` : runtime.calls.nextId(),
    run: options.run ?? (typeof isolated === 'string' ? runOfRequest(runtime, isolated) : runtime.identity.run),
    wire: typeof asked === 'string' ? asked : String(asked?.name),
    caller: options.caller ?? runtime.identity.caller,
    options,
    input,
    parent,
    script,
    keepSource,
    emit,
  })
}

/**
 * Runs a call through the pipeline. It never throws: every call has exactly one end, and that end is recorded. Nothing that
 * a tool, a hook or a caller passes in can keep the call from ending.
 */
async function runCall(runtime: Runtime, call: Call, asked: string | AnyTool): Promise<ToolResult> {
  runtime.calls.underWay.add(call)
  let stopListening: (() => void) | undefined
  let run: RunState | undefined
  let settled: Settled
  try {
    checkOptions(call.options)
    if (call.options.signal ?? call.parent) stopListening = listen(call)
    const opening = runtime.runs.open(call.run, runtime.identity.runOwner)
    // Not awaited if it is open: until it has a call in progress, it may be closed.
    run = opening instanceof Promise ? await opening : opening
    run.inFlight++
    if (call.options.untrusted) run.taint(FROM_CALLER, FROM_CALLER)
    const { userText, client } = call.options
    if (client !== undefined) runtime.people.userTexts.hearOnce(run, call, userText)
    const {
      identity: { principal },
    } = runtime
    const isInDefaultRun = principal !== undefined && call.run === runtime.identity.run && !call.parent
    const unnamed = client ?? (isInDefaultRun ? DEFAULT_RUN : undefined)
    const continuing = unnamed === undefined ? undefined : runtime.earlierSessions.continue(run, [principal, unnamed])
    if (continuing) await continuing
    const said = client === undefined ? userText : undefined
    const hearing = said === undefined && run.evidence ? undefined : runtime.people.userTexts.prepare(run, said)
    if (hearing) await hearing
    settled = await runSteps(runtime, run, call, asked)
  } catch (error) {
    settled = await settleFailure(runtime, run, call, error)
  }
  if (run) followLabels(runtime, call)
  // The owner and the taint of a run must be on disk before a result is returned, to survive a loss of power.
  const marking = run?.keptTaint?.isDurable === false ? run.keptTaint.synced() : undefined
  const labelling = run && runtime.untrusted.synced()
  if (marking ?? labelling)
    settled = await Promise.all([marking, labelling]).then(
      () => settled,
      (error) => fail(runtime, call, error),
    )
  if (call.reporting) await call.reporting
  call.end()
  try {
    const result = await recordEnd(runtime, run, call, settled)
    // Storing a large result starts in a separate turn of the event loop.
    const waiting = turnFor(settled.bytes, runtime.identity.principal)
    if (waiting) await waiting
    return result
  } catch (defect) {
    return endAnyway(run, call, defect)
  } finally {
    stopListening?.()
    if (run) run.inFlight--
    runtime.calls.underWay.delete(call)
    call.onEnded?.()
  }
}

/**
 * Runs the nine steps in order. An error thrown here ends the call with a failure. What rarely waits returns a promise only
 * if it does: calls that begin together then keep their order, and one needless `await` costs up to 3 % of a call without
 * records, all of them 32 %, with records 13 %.
 */
async function runSteps(runtime: Runtime, run: RunState, call: Call, asked: string | AnyTool): Promise<Settled> {
  let decided = await judge(runtime, run, call, asked) // 1 to 5
  if (decided.effect === 'deny') denyCall(decided)
  if (call.options.dryRun) return rehearsed(decided)
  const { tool } = decided
  const hashing = turnFor(call.inputBytes, runtime.identity.principal)
  if (hashing) await hashing
  const claiming = claimKey(runtime, decided) // 6
  const known = claiming && (await claiming)
  if (known) {
    // The taint that this result left may have been cleared since.
    if (known.result.meta.labels?.includes('untrusted')) markUntrusted(run, call)
    return known
  }
  const taking = takeLimits(runtime, decided)
  if (taking) await untilStopped(call, taking)
  if (decided.effect === 'ask') decided = await approve(runtime, run, decided) // 7
  const entering = claimPlace(runtime, decided) // 8
  if (entering) await entering
  const place = runtime.machines.executor.placeOf(decided)
  // What a call changes at another place is not seen here.
  if (tool.recordsFirst || (place && tool.hasEffects)) await recordIntent(runtime, run, call)
  const starting = turnFor(call.inputBytes, runtime.identity.principal)
  if (starting) await starting
  const preparing = tool.usesFeature ? runtime.features.prepare(tool.capabilities) : undefined
  if (preparing) await untilStopped(call, preparing)
  run.hold.assertHeld?.()
  const executing = execute(runtime, run, decided, place)
  const value = executing instanceof Promise ? await executing : executing
  if (call.abortReason) throw call.abortReason
  // A process that was stopped meanwhile must not acknowledge what others may not know.
  run.hold.assertHeld?.()
  // Awaited here: returning the promise itself would take two more microtask turns.
  const settled = await succeed(runtime, run, decided.valid.found, value) // 9
  return settled
}

/** Settles a failure, which may carry data. If settling the data fails too, the call ends with that second failure. */
async function settleFailure(
  runtime: Runtime,
  run: RunState | undefined,
  call: Call,
  error: unknown,
): Promise<Settled> {
  const settled = fail(runtime, call, error)
  const { found, report } = call
  const { data } = report.failure!
  if (data === undefined || run === undefined || !found) return settled
  return failWithData(runtime, run, found, data).catch((defect) => fail(runtime, call, defect))
}

/** Returns the run of a request. A request id must not select the run of another principal. */
function runOfRequest({ identity: { run, principal } }: Runtime, requestId: string): string {
  const own = principal === undefined ? requestId : `${run}-${requestId}`
  return isRunId(own) ? own : `request-${sha256(own).slice(0, 32)}`
}

/** Stops the call when the caller's signal or the parent's signal aborts. Returns a function that removes the listeners. */
function listen(call: Call): () => void {
  const { signal: own } = call.options
  const signals = [own, call.parent?.signal].filter((signal) => signal !== undefined)
  // Many calls may share one signal, and each removes its listener again.
  setMaxListeners(0, ...signals)
  const stops = signals.map((signal) => {
    const stop = () => call.abort(stopReason(call, signal))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    return () => signal.removeEventListener('abort', stop)
  })
  return () => {
    for (const stopListening of stops) stopListening()
  }
}

/** Returns why the call was stopped. A caller that disconnected has not withdrawn its call; one that aborts it has. */
function stopReason({ name }: Call, { reason }: AbortSignal): ToolError {
  return isCallerGone(reason) ? reason : new ToolError('ABORTED', `${name} was stopped by its caller.`)
}

async function* streamEvents(
  start: (emit: (event: CallEvent) => void, signal: AbortSignal) => Promise<ToolResult>,
  callerSignal?: AbortSignal,
): AsyncGenerator<CallEvent, void, undefined> {
  const stopped = new AbortController()
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal
  const waiting: CallEvent[] = []
  let wake: () => void = () => {}
  const done = start((event) => {
    waiting.push(event)
    wake()
  }, signal)
  let isDone = false
  const finished = done.finally(() => {
    isDone = true
    wake()
  })
  try {
    for (;;) {
      yield* waiting.splice(0)
      if (isDone && waiting.length === 0) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (waiting.length > 0 || isDone) resolve()
      })
    }
    await finished
  } finally {
    stopped.abort()
    // The promise of the call reports its failure; a consumer that stopped reading does not wait for it.
    finished.catch(() => {})
  }
}
