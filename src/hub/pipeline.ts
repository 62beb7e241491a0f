import { setMaxListeners } from 'node:events'
import {
  type AnyTool,
  type CallEvent,
  type CallOptions,
  isCallerGone,
  isRunId,
  labelsOfPlace,
  placeOfLabels,
  ToolError,
  type ToolResult,
  withOwnNames,
} from '../core/index.ts'
import { sha256, turnFor } from '../lib/index.ts'
import { approve, approvedEvidence, knowApprovedValues } from './pipeline/approve.ts'
import { Call, type DecidedCall, type FoundCall, markUntrusted, untilStopped, withinTimeout } from './pipeline/call.ts'
import type { CallNested } from './pipeline/context.ts'
import { decideCall, denyCall, resolveTargets } from './pipeline/decide.ts'
import { execute } from './pipeline/execute.ts'
import { claimKey, claimPlace, takeLimits } from './pipeline/limits.ts'
import { endAnyway, recordEnd, recordIntent } from './pipeline/record.ts'
import { fail, failWithData, rehearsed, type Settled, succeed } from './pipeline/settle.ts'
import {
  checkInputSize,
  checkOptions,
  findTool,
  rewrite,
  translate,
  unwrapCall,
  validate,
} from './pipeline/validate.ts'
import type { RunState, Runtime } from './runtime.ts'

/** The recorded origin of the taint if the caller marks a call as untrusted. */
const FROM_CALLER = 'caller'

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

/** Starts a nested call, which inherits the run, session, caller, rights and signal of its parent. */
const callNested: CallNested = (runtime, asked, input, parent, { script, keepSource, onEvent: emit, ...own } = {}) => {
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
    id: parent && script ? `${parent.id}.${script.seq}` : runtime.nextCallId(),
    run: options.run ?? (typeof isolated === 'string' ? runOfRequest(runtime, isolated) : runtime.run),
    wire: typeof asked === 'string' ? asked : String(asked?.name),
    caller: options.caller ?? runtime.caller,
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
  runtime.underWay.add(call)
  let stopListening: (() => void) | undefined
  let run: RunState | undefined
  let settled: Settled
  try {
    checkOptions(call.options)
    if (call.options.signal ?? call.parent) stopListening = listen(call)
    const opening = runtime.runs.open(call.run, runtime.runOwner)
    run = opening instanceof Promise ? await opening : opening
    run.inFlight++
    if (call.options.untrusted) run.taint(FROM_CALLER, FROM_CALLER)
    const { userText } = call.options
    const hearing = userText === undefined && run.evidence ? undefined : runtime.userTexts.prepare(run, userText)
    if (hearing) await hearing
    settled = await runSteps(runtime, run, call, asked)
  } catch (error) {
    settled = await settleFailure(runtime, run, call, error)
  }
  // The owner and the taint of a run must be on disk before a result is returned, to survive a loss of power.
  const marking = run?.keptTaint?.isDurable === false ? run.keptTaint.synced() : undefined
  const labelling = run && runtime.untrusted.synced()
  if (marking ?? labelling)
    settled = await Promise.all([marking, labelling]).then(
      () => settled,
      (error) => fail(runtime, call, error),
    )
  call.end()
  try {
    const result = await recordEnd(runtime, run, call, settled)
    // Storing a large result starts in a separate turn of the event loop.
    const waiting = turnFor(settled.bytes)
    if (waiting) await waiting
    return result
  } catch (defect) {
    return endAnyway(run, call, defect)
  } finally {
    stopListening?.()
    if (run) run.inFlight--
    runtime.underWay.delete(call)
    call.onEnded?.()
  }
}

/**
 * Runs the nine steps in order. An error thrown here ends the call with a failure. A step that rarely waits returns a
 * promise only if it does: an ordinary call takes microseconds, and every needless `await` is a measurable share of that.
 */
async function runSteps(runtime: Runtime, run: RunState, begun: Call, asked: string | AnyTool): Promise<Settled> {
  const call = await judge(runtime, run, begun, asked) // 1 to 5
  if (call.effect === 'deny') denyCall(call)
  if (call.options.dryRun) return rehearsed(call)
  const hashing = turnFor(call.inputBytes)
  if (hashing) await hashing
  const claiming = claimKey(runtime, call) // 6
  const known = claiming && (await claiming)
  if (known) {
    // The taint that this result left may have been cleared since.
    if (known.result.meta.labels?.includes('untrusted')) markUntrusted(run, call)
    return known
  }
  const taking = takeLimits(runtime, call)
  if (taking) await untilStopped(call, taking)
  if (call.effect === 'ask') await approve(runtime, run, call, judgeInput) // 7
  const entering = claimPlace(runtime, call) // 8
  if (entering) await entering
  const { runOn } = call.decision.constraints
  const labels = runOn === undefined ? call.tool.workerLabels : labelsOf(call, runOn)
  if (labels) call.workerLabels = reachable(runtime, call, labels)
  // What a call changes on a worker is not seen here.
  if (call.tool.recordsFirst || (labels && call.tool.hasEffects)) await recordIntent(runtime, run, call)
  const starting = turnFor(call.inputBytes)
  if (starting) await starting
  const preparing = call.tool.usesFeature ? runtime.features.prepare(call.tool.capabilities) : undefined
  if (preparing) await untilStopped(call, preparing)
  if (runtime.cluster) runtime.cluster.assertHolds(call.run)
  const executing = execute(runtime, run, call, callNested)
  const value = executing instanceof Promise ? await executing : executing
  if (call.abortReason) throw call.abortReason
  // A process that was stopped meanwhile must not acknowledge what others may not know.
  if (runtime.cluster) runtime.cluster.assertHolds(call.run)
  // Awaited here: returning the promise itself would take two more microtask turns.
  const settled = await succeed(runtime, run, call, value) // 9
  return settled
}

/** Returns the labels of the workers that execute a call: those that the rule and the tool name. */
function labelsOf({ tool }: DecidedCall, runOn: string): readonly string[] {
  return [...new Set([...(labelsOfPlace(runOn) ?? []), ...(tool.workerLabels ?? [])])].sort()
}

/** Throws if a call cannot be executed on a worker. It is never executed here instead. */
function reachable({ remote }: Runtime, { name, tool }: DecidedCall, labels: readonly string[]): readonly string[] {
  if (!remote)
    throw new ToolError('NO_WORKER', `${name} belongs on ${placeOfLabels(labels)}, and this hub has no workers.`, {
      retryable: false,
      fix: {
        key: 'store',
        hint: 'Set store to a PostgreSQL URL and start tool-hub worker, or remove `where` or runOn.',
      },
    })
  if (!tool.usesFeature) return labels
  throw new ToolError('CONFIG_INVALID', `${name} uses a feature of the hub, so no worker can execute it.`, {
    hint: 'Remove `where` of the tool, or limit.runOn of the rule.',
  })
}

/** Steps 1 to 5: find the tool, check the input, resolve the targets, decide. Changes nothing outside the call. */
export async function judge(
  runtime: Runtime,
  run: RunState,
  begun: Call,
  asked: string | AnyTool,
): Promise<DecidedCall> {
  const { plugins, sources, registry } = runtime
  const settingUp = plugins.pending ?? sources.pending
  if (settingUp) await withinTimeout(runtime, begun, settingUp, 'plugins and sources to start')
  // A source that is still starting may provide the tool.
  const arriving = typeof asked === 'string' && !registry.find(asked) ? sources.arriving(asked) : undefined
  if (arriving) await withinTimeout(runtime, begun, arriving, 'its source to start')
  const call = findTool(runtime, begun, asked) // 1
  checkInputSize(runtime, call)
  const waiting = turnFor(call.inputBytes)
  if (waiting) await waiting
  if (call.dialect) await withinTimeout(runtime, call, translate(runtime, call, call.dialect), 'its dialect')
  if (call.tool.tool.standsFor) {
    const name = await withinTimeout(
      runtime,
      call,
      unwrapCall(runtime, run, call, call.tool.tool.standsFor),
      'its schema',
    )
    return judge(runtime, run, begun, name)
  }
  const judged = await judgeInput(runtime, run, call)
  return judged
}

/** Steps 2 to 5. Arguments changed by an approver enter the pipeline here. */
async function judgeInput(runtime: Runtime, run: RunState, found: FoundCall): Promise<DecidedCall> {
  const { hooks } = runtime
  if (hooks.names.has('before')) await rewrite(runtime, found) // 2
  const validating = validate(runtime, found) // 3
  const call =
    validating instanceof Promise ? await withinTimeout(runtime, found, validating, 'its schema') : validating
  const resolving = resolveTargets(runtime, run, call) // 4
  if (resolving) await withinTimeout(runtime, call, resolving, 'its targets')
  const { shadowPolicy } = runtime
  const shadowEvidence = shadowPolicy?.readsApprovals ? await approvedEvidence(runtime, run, call) : undefined
  // Approved values count after content from outside, and for rules that look for them.
  if ((run.tainted && run.evidence?.hasUserText) || runtime.policy.readsApprovals)
    await withinTimeout(runtime, call, knowApprovedValues(runtime, run, call), 'its approved values')
  const decided = decideCall(runtime, run, call, shadowEvidence) // 5
  if (hooks.names.has('decide')) decided.effect = await hooks.decide(decided, decided.effect)
  return decided
}

/** Settles a failure, which may carry data. If settling the data fails too, the call ends with that second failure. */
async function settleFailure(
  runtime: Runtime,
  run: RunState | undefined,
  call: Call,
  error: unknown,
): Promise<Settled> {
  const settled = fail(runtime, call, error)
  const { data } = call.failure!
  if (data === undefined || run === undefined) return settled
  return failWithData(runtime, run, call as FoundCall, data).catch((defect) => fail(runtime, call, defect))
}

/** Returns the run of a request. A request id must not select the run of another principal. */
function runOfRequest({ run, principal }: Runtime, requestId: string): string {
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
