import { setMaxListeners } from 'node:events'
import { type AnyTool, type Dialect, isCallerGone, ToolError, type ToolResult } from '../core/index.ts'
import { isPlainObject, turnFor } from '../lib/index.ts'
import { startSpan } from '../records/telemetry/index.ts'
import { approve } from './pipeline/approve.ts'
import { bounded, type Call, emitEvent, markUntrusted, untilStopped } from './pipeline/call.ts'
import { checkOptions } from './pipeline/check-options.ts'
import { buildContext, type Enter } from './pipeline/context.ts'
import { decideCall, refuse } from './pipeline/decide.ts'
import { type Execution, execute } from './pipeline/execute.ts'
import { accepted, bound, rewrite, validate } from './pipeline/input.ts'
import { claimKey, takeLimits } from './pipeline/limits.ts'
import { endAnyway, recordEnd, recordIntent, recordLate, recordPending } from './pipeline/record.ts'
import { fail, failWithData, rehearsed, type Settled, succeed } from './pipeline/settle.ts'
import { resolveTargets } from './pipeline/targets.ts'
import type { Parts, RunState } from './runtime.ts'

const MAX_NAME_CHARS = 128
/** What taints a run when its caller does. */
const FROM_CALLER = 'caller'
/** How deep tools may call tools. */
const MAX_CALL_DEPTH = 32

/**
 * The one road of a call. It never throws: whatever happens has exactly one end, and that end is on record. Nothing that
 * a tool, a hook or a caller hands over can keep the call from ending.
 */
export async function travel(parts: Parts, call: Call, asked: string | AnyTool, enter: Enter): Promise<ToolResult> {
  parts.underWay.add(call)
  let stopListening: (() => void) | undefined
  let run: RunState | undefined
  let settled: Settled
  try {
    checkOptions(call.options)
    stopListening = listen(call)
    const opening = parts.run(call.run)
    run = opening instanceof Promise ? await opening : opening
    run.inFlight++
    if (call.options.untrusted) run.taint(FROM_CALLER)
    settled = await goDown(parts, run, call, asked, enter)
  } catch (error) {
    settled = await settleFailure(parts, run, call, error)
  }
  const marking = run && marked(parts, run)
  if (marking) settled = await marking.then(() => settled).catch((error) => fail(parts, call, error))
  call.end()
  try {
    const result = await recordEnd(parts, run, call, settled)
    // Whoever has to write a large result somewhere starts in a turn of its own.
    const waiting = turnFor(settled.bytes)
    if (waiting) await waiting
    return result
  } catch (defect) {
    return endAnyway(run, call, defect)
  } finally {
    stopListening?.()
    if (run) run.inFlight--
    parts.underWay.delete(call)
    call.onEnded?.()
  }
}

/** Whose the run is and what is from outside is safe before anybody gets something of it: after a loss of power it must still hold. */
function marked({ untrusted }: Parts, run: RunState): Promise<unknown> | undefined {
  const marking = [run.marked(), untrusted.synced()].filter((work) => work !== undefined)
  return marking.length > 0 ? Promise.all(marking) : undefined
}

/** A failure may have something to give; when even that fails, the call ends with what failed last. */
async function settleFailure(parts: Parts, run: RunState | undefined, call: Call, error: unknown): Promise<Settled> {
  const settled = fail(parts, call, error)
  const { data } = call.failure!
  if (data === undefined || run === undefined) return settled
  return failWithData(parts, run, call, data).catch((defect) => fail(parts, call, defect))
}

/**
 * The nine steps, in order. Whatever throws here ends the call with a failure. Steps that seldom have to wait give back
 * a promise only when they do: an ordinary call costs microseconds, and every needless wait is a noticeable part of it.
 */
async function goDown(
  parts: Parts,
  run: RunState,
  call: Call,
  asked: string | AnyTool,
  enter: Enter,
): Promise<Settled> {
  await judge(parts, run, call, asked) // 1 to 5
  refuse(call)
  if (call.options.dryRun) return rehearsed(call)
  const hashing = turnFor(call.inputBytes)
  if (hashing) await hashing
  const claiming = claimKey(parts, call) // 6
  const known = claiming && (await claiming)
  if (known) return known
  const taking = takeLimits(parts, call)
  if (taking) await untilStopped(call, taking)
  if (call.effect === 'ask') await approve(parts, run, call) // 7
  const preparing = prepare(parts, run, call) // 8
  if (preparing) await preparing
  const starting = turnFor(call.inputBytes)
  if (starting) await starting
  const making = call.tool!.usesAbility ? parts.abilities.prepare(call.tool!.capabilities) : undefined
  if (making) await untilStopped(call, making)
  const execution = executionOf(parts, run, call, enter)
  const fromOutside = call.capabilities.includes('network') || call.capabilities.includes('remote')
  const value = await (fromOutside ? executeAndLabel(call, run, execution) : execute(call, execution))
  if (call.abortReason) throw call.abortReason
  return succeed(parts, run, call, value) // 9
}

/** Whatever a tool with the network or through somebody else has done, what it tells came from outside. */
async function executeAndLabel(call: Call, run: RunState, execution: Execution): Promise<unknown> {
  try {
    return await execute(call, execution)
  } finally {
    markUntrusted(run, call)
  }
}

/** Steps 1 to 5: who is called, with what, on what, and may it. Changes nothing outside the call. */
export async function judge(parts: Parts, run: RunState, call: Call, asked: string | AnyTool): Promise<void> {
  const gettingReady = parts.ready()
  if (gettingReady) await bounded(parts, call, gettingReady)
  const arriving = arrivalOf(parts, asked)
  if (arriving) await bounded(parts, call, arriving)
  find(parts, call, asked) // 1
  bound(parts, call)
  const waiting = turnFor(call.inputBytes)
  if (waiting) await waiting
  if (call.dialect) await bounded(parts, call, translate(parts, call))
  if (parts.hooks.has('before')) await rewrite(parts, call) // 2
  const validating = validate(parts, call) // 3
  if (validating) await bounded(parts, call, validating)
  const resolving = resolveTargets(parts, run, call) // 4
  if (resolving) await bounded(parts, call, resolving)
  decideCall(parts, run, call) // 5
  if (parts.hooks.has('decide')) call.effect = await parts.hooks.decide(call, call.effect)
}

/** A tool that a source is still to bring; most calls find theirs at once. */
function arrivalOf({ registry, sources }: Parts, asked: string | AnyTool): Promise<unknown> | undefined {
  return typeof asked === 'string' && !registry.find(asked) ? sources.arriving(asked) : undefined
}

function find(parts: Parts, call: Call, asked: string | AnyTool): void {
  const name = typeof asked === 'string' ? asked : String(asked?.name)
  const found = parts.registry.find(name)
  if (!found) {
    // A name from a model may be anything, a secret too.
    call.wire = parts.redactor.text(name.slice(0, MAX_NAME_CHARS))
    throw parts.sources.problem(name) ?? parts.registry.notFound(call.wire)
  }
  if (call.depth > MAX_CALL_DEPTH) {
    throw new ToolError(
      'LOOP_DETECTED',
      `${name} is called by a tool by a tool, ${call.depth} deep; the limit is ${MAX_CALL_DEPTH}.`,
    )
  }
  if (typeof asked !== 'string' && found.entry.tool !== asked) {
    throw new ToolError('TOOL_NOT_FOUND', `This hub has another tool named ${name}.`, {
      hint: 'Call the tool that was given to createToolHub or hub.use.',
    })
  }
  call.tool = found.entry
  call.dialect = found.dialect
  const sight = parts.sees(found.entry)
  if (!sight.visible) throw new ToolError('TOOL_DISABLED', `${call.name} is not visible here: ${sight.why}`)
  if (call.abortReason) throw call.abortReason
}

/** A dialect's own arguments become the canonical ones; policy and records see only those. */
async function translate(parts: Parts, call: Call): Promise<void> {
  const { dialect, input } = call.dialect!
  if (dialect.checkSpelling && isPlainObject(call.input)) dialect.checkSpelling(call.input)
  if (dialect.argumentAliases) call.input = renameArguments(call, dialect.argumentAliases)
  if (input) call.input = accepted(call, await input.validate(call.input))
  if (dialect.toInput) call.input = dialect.toInput(call.input)
  bound(parts, call)
}

/** Models of other families spell the same argument in another way; said twice, nobody knows which one is meant. */
function renameArguments(call: Call, aliases: NonNullable<Dialect['argumentAliases']>): unknown {
  const { input } = call
  if (!isPlainObject(input)) return input
  const renamed: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(aliases, key) ? aliases[key]! : key
    if (Object.hasOwn(renamed, name))
      throw new ToolError('INPUT_SCHEMA_INVALID', `Invalid arguments for ${call.wire}: ${name} is given twice.`)
    renamed[name] = value
  }
  return renamed
}

/** Everything between the yes and the tool: a free place, a closed circuit, the intent on record. */
function prepare(parts: Parts, run: RunState, call: Call): Promise<void> | undefined {
  // A nested call goes on in the place of its parent; waiting for another one, it could wait for its own parent.
  if (call.parent) return admit(parts, run, call, undefined)
  const entering = parts.concurrency.enter(call.name, () => call.signal)
  if (typeof entering !== 'function') return entering.then((release) => admit(parts, run, call, release))
  return admit(parts, run, call, entering)
}

function admit(parts: Parts, run: RunState, call: Call, release: (() => void) | undefined): Promise<void> | undefined {
  call.release = release
  call.isProbe = parts.breakers.check(call.circuit)
  const beginning = call.key?.begin()
  if (beginning instanceof Promise) return beginning.then(() => intend(parts, run, call))
  return intend(parts, run, call)
}

function intend(parts: Parts, run: RunState, call: Call): Promise<void> | undefined {
  return call.tool!.recordsFirst ? recordIntent(parts, run, call) : undefined
}

function executionOf(parts: Parts, run: RunState, call: Call, enter: Enter): Execution {
  const { name: tool, description } = call.tool!.tool
  emitEvent(parts, call, { type: 'call-started', callId: call.id, tool })
  call.span = startSpan({ tool, callId: call.id, description })
  return {
    clock: parts.clock,
    context: buildContext(parts, run, call, enter),
    ...timeLimit(parts, call),
    graceMs: parts.settings.graceMs,
    onPending: () => recordPending(parts, run, call),
    onLate: (outcome) => recordLate(parts, run, call, outcome),
  }
}

/** The shortest of what the tool by this name (or else the hub), its rule, the caller and the budget say; who was shortest is to blame. */
function timeLimit(parts: Parts, call: Call): Pick<Execution, 'timeoutMs' | 'outOfTime'> {
  const { wallMs = Number.POSITIVE_INFINITY, wallKey } = call.reservation ?? {}
  const timeoutMs = Math.min(
    call.dialect?.dialect.timeoutMs ?? call.tool!.tool.timeoutMs ?? parts.settings.timeoutMs,
    call.decision?.constraints.timeoutMs ?? Number.POSITIVE_INFINITY,
    call.options.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
  if (wallMs < timeoutMs) return { timeoutMs: wallMs, outOfTime: () => outOfBudget(call, wallMs, wallKey) }
  return { timeoutMs, outOfTime: () => outOfTime(call, timeoutMs) }
}

function outOfTime(call: Call, timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `${call.name} did not finish within ${Math.ceil(timeoutMs)} ms.`, {
    fix: { key: 'limits.timeout', hint: 'Ask for less, or have the owner raise limits.timeout.' },
  })
}

function outOfBudget(call: Call, wallMs: number, key = 'limits.run.time'): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `${call.name} used up the ${Math.ceil(wallMs)} ms that were left of the time budget (${key}).`,
    { fix: { key, hint: `Finish with what there is, or have the owner raise ${key}.` } },
  )
}

/** The caller's signal stops the call wherever it is, and so does its parent's. */
function listen(call: Call): (() => void) | undefined {
  const { signal: own } = call.options
  if (!own && !call.parent) return undefined
  const signals = [own, call.parent?.signal].filter((signal) => signal !== undefined)
  // Many calls may share one signal, and each takes its listener away again.
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

/** A caller that went away did not take back what it wanted; one that stops its call did. */
function stopReason({ name }: Call, { reason }: AbortSignal): ToolError {
  return isCallerGone(reason) ? reason : new ToolError('ABORTED', `${name} was stopped by its caller.`)
}
