import { isDeepStrictEqual } from 'node:util'
import { type CallEvent, type Principal, ToolError, type ToolErrorOptions, toolFailure } from '@tool-hub/core'
import { hashJson } from '@tool-hub/core/lib'
import type { Decision } from '@tool-hub/policy'
import { guestRuntime, type HubRuntime, type Runtime } from '@tool-hub/runtime/hub'
import {
  asToolError,
  buildContext,
  Call,
  checkInputSize,
  type DecidedCall,
  Execution,
  type FoundCall,
  findTool,
  mayHaveHappened,
  resolveTargets,
  type ValidCall,
  validate,
} from '@tool-hub/runtime/hub/pipeline'
import { GuestRun } from './guest-run.ts'
import { type CallJob, definitionOf, type JobOutcome, putParts } from './job.ts'

interface JobOptions {
  /** Stops the call; its reason says who does. */
  readonly signal: AbortSignal
  /** Rejects if nobody waits for the call any more. */
  readonly confirm: () => Promise<void>
  /** Called with each event of the call. */
  readonly onEvent: (event: CallEvent) => void
}

/**
 * Executes a decided call of another process: step 8 of the pipeline. It does not decide again, but checks that the tool,
 * the arguments and the targets are here what they were there, and its sandbox guards every use. Never rejects.
 */
export async function executeJob(hub: HubRuntime, job: CallJob, options: JobOptions): Promise<JobOutcome> {
  const { id, callId, run: runId, wire, caller, input } = job
  const given = { ...job.options, run: runId, timeoutMs: job.timeoutMs }
  const call = new Call({ id: callId, run: runId, wire, caller, options: given, input, emit: options.onEvent })
  const stop = () => call.abort(stopped(call, job, options.signal))
  options.signal.addEventListener('abort', stop, { once: true })
  if (options.signal.aborted) stop()
  hub.calls.underWay.add(call)
  let run: GuestRun | undefined
  const outcome: { value?: unknown; error?: JobOutcome['error'] } = {}
  try {
    const runtime = await runtimeFor(hub, job)
    run = openRun(hub, runtime, job, options)
    const decided = await prepare(runtime, run, call, job)
    const context = buildContext(runtime, run, decided)
    const value = await new Execution(runtime, run, decided, { context }).attempt()
    if (call.abortReason) throw call.abortReason
    outcome.value = plain(hub, call, value)
  } catch (error) {
    outcome.error = describeError(hub, call, error)
  } finally {
    options.signal.removeEventListener('abort', stop)
    call.end()
    hub.calls.underWay.delete(call)
    call.onEnded?.()
    await run?.close().catch(() => {})
  }
  const { hasChanged } = call
  const { evidence, notices, truncated, isUntrusted } = call.report
  return {
    id,
    ...outcome,
    evidence: hub.redactor.value(evidence),
    notices,
    ...(truncated && { truncated }),
    artifacts: run?.records.artifacts ?? [],
    taintedBy: [...(run?.newSources.list ?? [])],
    isUntrusted,
    labels: run?.labels ?? [],
    hasChanged,
    lines: run?.records.lines.map((line) => hub.redactor.value({ ...line })) ?? [],
  }
}

/** For a caller that did not stop its call: one that did knows why already. */
function stopped(call: Call, { tool }: CallJob, { reason }: AbortSignal): ToolError {
  const message = `${tool} was stopped by ${reason}`
  if (!call.wasExecuted)
    return new ToolError('NO_WORKER', `${message}, before it was executed.`, { hint: 'Call again.' })
  if (call.found?.tool.hasEffects) return mayHaveHappened(call, 'WORKER_LOST', `${message}; its effect is unknown.`)
  return new ToolError('WORKER_LOST', `${message}.`, { hint: 'Call again.', retryable: true })
}

/** Returns the runtime of the principal of the call, as long as it still exists. */
async function runtimeFor(hub: HubRuntime, { principal, tool, run }: CallJob): Promise<Runtime> {
  if (!principal) return hub
  const known = await hub.identity.principalNow(principal as Principal)
  if (!known) throw new ToolError('FORBIDDEN', `The principal ${principal.name} of ${tool} no longer exists.`)
  // The rights with which policy decided, not those of now: a token that was narrowed since is refused at its next call.
  return guestRuntime(hub, principal as Principal, run)
}

function openRun(
  hub: HubRuntime,
  { identity: { runOwner } }: Runtime,
  job: CallJob,
  { confirm }: JobOptions,
): GuestRun {
  const { id, run, taintedBy } = job
  let uploads = 0
  return new GuestRun(run, {
    clock: hub.clock,
    sandbox: runOwner?.sandbox ?? hub.sandbox,
    runsFolder: hub.runsFolder,
    redact: (text) => hub.redactor.text(text),
    taintedBy,
    confirm,
    async putParts(content) {
      const upload = `worker/${id}/${uploads++}`
      return { upload, parts: await putParts(hub.store.blobs, upload, content, hub.clock.now()) }
    },
  })
}

/** Steps 1, 3 and 4 again, and the decision of the process of the run. */
async function prepare(runtime: Runtime, run: GuestRun, call: Call, job: CallJob): Promise<DecidedCall> {
  const { plugins, sources, registry } = runtime
  await (plugins.pending ?? sources.pending)
  if (!registry.find(job.wire)) await sources.arriving(job.wire)
  const found = findTool(runtime, call, job.wire)
  assertSameTool(found, job)
  checkInputSize(runtime, call)
  const valid = await validate(runtime, found)
  if (valid.argsHash !== hashJson(job.input)) throw unstableInput(call)
  await resolveTargets(runtime, run, valid)
  assertSameTargets(valid, job)
  const decision: Decision = {
    ...{ effect: 'allow', rule: job.rule, source: 'the process of the run', layer: 'owner' },
    ...{ reason: 'Decided by the process of the run.', fix: { hint: '' }, demands: [], requests: [] },
    constraints: job.constraints,
  }
  call.approvedBy = job.approvedBy
  const decided: DecidedCall = {
    ...{ valid, call, tool: found.tool, decision },
    effect: 'allow',
    isInTaintedRun: run.tainted,
  }
  call.decided = decided
  return decided
}

function assertSameTool({ tool }: FoundCall, job: CallJob): void {
  const isSame = tool.tool.name === job.tool && definitionOf(tool) === job.definition
  if (isSame && !tool.usesFeature) return
  throw differs(`${job.tool} is defined differently on the worker`, 'Give all processes the same tools in one version.')
}

/** The paths and commands here must be those that policy decided on there. */
function assertSameTargets(valid: ValidCall, { targets, commands, capabilities, sandbox, tool }: CallJob): void {
  const isSame =
    isDeepStrictEqual([...valid.targets], targets) &&
    isDeepStrictEqual([...valid.capabilities], capabilities) &&
    isDeepStrictEqual(
      valid.commands.map(({ value, cwd, env }) => ({ value, cwd, env: [...env] })),
      commands,
    )
  if (!isSame)
    throw differs(
      `${tool} would use other files or commands on the worker than those that were decided`,
      'Give all processes the same sandbox.root, roots and workspaces, on a disk that they share.',
    )
  if (valid.sandbox === 'none' && sandbox !== 'none')
    throw differs(`The worker has no sandbox for the commands of ${tool}`, 'Run tool-hub doctor on the worker.')
}

function unstableInput({ name }: Call): ToolError {
  return differs(
    `The input schema of ${name} changes what it has accepted before`,
    'A tool on a worker needs a schema without transformations; convert inside execute.',
  )
}

function differs(what: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', `${what}, so it was not executed.`, { hint })
}

/** Returns the redacted value as JSON. Its own schema is checked by the process of the run. */
function plain({ redactor }: HubRuntime, { name }: Call, value: unknown): unknown {
  if (value === undefined) return undefined
  try {
    const json = JSON.stringify(redactor.value(value))
    if (json !== undefined) return JSON.parse(json)
  } catch (error) {
    throw new ToolError('OUTPUT_SCHEMA_INVALID', `The output of ${name} cannot be written as JSON.`, { cause: error })
  }
  throw new ToolError('OUTPUT_SCHEMA_INVALID', `The output of ${name} is a ${typeof value}.`)
}

function describeError(hub: HubRuntime, call: Call, thrown: unknown): NonNullable<JobOutcome['error']> {
  const error = asToolError(
    call,
    call.found && call.found.tool.origin !== 'builtin' ? toolFailure(call.name, thrown) : thrown,
  )
  const { code, message, fix, retryable, details, data, cause } = error
  const stack = cause instanceof Error ? cause.stack : undefined
  return JSON.parse(
    JSON.stringify(
      hub.redactor.value({ code, message, fix: { ...fix }, retryable, details, data, stack: stack && String(stack) }),
    ),
  )
}

/** Returns the error of an outcome as if it had been thrown here. */
export function errorOf({ code, message, ...options }: NonNullable<JobOutcome['error']>): ToolError {
  const { fix, retryable, details, data, stack } = options
  const cause = stack === undefined ? undefined : Object.assign(new Error(message), { stack })
  const carried: ToolErrorOptions = { fix, retryable, details, data, ...(cause && { cause }) }
  return new ToolError(code, message, carried)
}
