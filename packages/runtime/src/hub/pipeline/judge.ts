import { type AnyTool, CAPABILITIES, type CallOptions, type Dialect, isUserText, ToolError } from '@tool-hub/core'
import { isPlainObject, turnToBegin } from '@tool-hub/core/lib'
import { describeIssues, type SchemaResult } from '@tool-hub/core/schema'
import { decide } from '@tool-hub/policy'
import { takeInput } from '../../limits/index.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, ValidCall, withinTimeout, wordsFor } from './call.ts'
import { decideCall, question, resolveTargets } from './decide.ts'
import type { RegisteredDialect } from './registered-tool.ts'
import { approvedEvidence, knowApprovedValues } from './remembered-answers.ts'
import { askForRunLater } from './run-later.ts'

const MAX_NAME_CHARS = 128
/** The maximum depth of nested calls. */
const MAX_CALL_DEPTH = 32

/** Steps 1 to 5: find the tool, check the input, resolve the targets, decide. Changes nothing outside the call. */
export async function judge(
  runtime: Runtime,
  run: RunState,
  call: Call,
  asked: string | AnyTool,
): Promise<DecidedCall> {
  const { plugins, sources, registry, doubts } = runtime
  if (!doubts.isReported) doubts.report()
  const settingUp = plugins.pending ?? sources.pending ?? doubts.pending
  if (settingUp) await withinTimeout(runtime, call, settingUp, 'plugins and sources to start')
  // A source that is still starting may provide the tool.
  const arriving = typeof asked === 'string' && !registry.find(asked) ? sources.arriving(asked) : undefined
  if (arriving) await withinTimeout(runtime, call, arriving, 'its source to start')
  const found = findTool(runtime, call, asked) // 1
  checkInputSize(runtime, call)
  const waiting = turnToBegin(call.inputBytes, runtime.identity.principal)
  if (waiting) await waiting
  const { dialect } = found
  const { standsFor } = found.tool.tool
  if (dialect) await withinTimeout(runtime, call, translate(runtime, found, dialect), 'its dialect')
  if (standsFor) {
    const name = await withinTimeout(runtime, call, unwrapCall(runtime, run, found, standsFor), 'its schema')
    return judge(runtime, run, call, name)
  }
  const judged = await judgeInput(runtime, run, found)
  return judged
}

/** Steps 2 to 5. Arguments changed by an approver enter the pipeline here. */
export async function judgeInput(runtime: Runtime, run: RunState, found: FoundCall): Promise<DecidedCall> {
  const { hooks } = runtime
  const { call } = found
  if (hooks.names.has('before')) await rewrite(runtime, found) // 2
  const validating = validate(runtime, found) // 3
  const valid =
    validating instanceof Promise ? await withinTimeout(runtime, call, validating, 'its schema') : validating
  const resolving = resolveTargets(runtime, run, valid) // 4
  if (resolving) await withinTimeout(runtime, call, resolving, 'its targets')
  const { shadowPolicy } = runtime
  const shadowEvidence = shadowPolicy?.readsApprovals ? await approvedEvidence(runtime, run, valid) : undefined
  // Approved values count after content from outside, and for rules that look for them.
  if ((run.tainted && wordsFor(run, call)?.hasUserText) || runtime.policy.readsApprovals)
    await withinTimeout(runtime, call, knowApprovedValues(runtime, run, valid), 'its approved values')
  const decided = decideCall(runtime, run, valid, shadowEvidence) // 5
  const asking = found.tool.capabilities.has('write:fs') ? askForRunLater(runtime, run, decided) : undefined
  if (asking) await withinTimeout(runtime, call, asking, 'the preview of its change')
  if (hooks.names.has('decide')) decided.effect = await hooks.decide(call, decided.effect)
  return decided
}

/** Step 1: finds the tool by canonical, wire or dialect name. Throws TOOL_NOT_FOUND or TOOL_DISABLED. */
export function findTool(runtime: Runtime, call: Call, asked: string | AnyTool): FoundCall {
  const name = typeof asked === 'string' ? asked : String(asked?.name)
  const found = runtime.registry.find(name)
  if (!found) {
    // A name from a model may be anything, even a secret.
    call.wire = runtime.redactor.text(name.slice(0, MAX_NAME_CHARS))
    throw runtime.sources.problem(name) ?? runtime.plugins.problem(name) ?? runtime.registry.notFound(call.wire)
  }
  if (call.depth > MAX_CALL_DEPTH) {
    throw new ToolError('LOOP_DETECTED', `${name} is nested ${call.depth} calls deep; the limit is ${MAX_CALL_DEPTH}.`)
  }
  if (typeof asked !== 'string' && found.entry.tool !== asked) {
    throw new ToolError('TOOL_NOT_FOUND', `This hub has a different tool named ${name}.`, {
      hint: 'Call the tool that was passed to createToolHub or hub.use.',
    })
  }
  const stage: FoundCall = { call, tool: found.entry, dialect: found.dialect }
  call.found = stage
  const sight = runtime.catalog.sees(found.entry)
  if (!sight.visible) throw new ToolError('TOOL_DISABLED', `${call.name} is not visible here: ${sight.why}`)
  if (call.abortReason) throw call.abortReason
  return stage
}

/** Checks the size of the input and copies it, so that nobody outside can change it between decision and execution. */
export function checkInputSize({ settings }: Runtime, call: Call): void {
  const { inputDepth: maxDepth, inputBytes: maxBytes, inputEntries: maxEntries } = settings
  const { value, bytes } = takeInput(call.input, { maxDepth, maxBytes, maxEntries })
  call.input = value
  call.inputBytes = bytes
}

/** Translates the arguments of a dialect into canonical ones, which are all that policy and records see. */
async function translate(runtime: Runtime, found: FoundCall, { dialect, input }: RegisteredDialect): Promise<void> {
  if (dialect.checkSpelling && isPlainObject(found.call.input)) await dialect.checkSpelling(found.call.input)
  if (dialect.argumentAliases) found.call.input = renameArguments(found.call, dialect.argumentAliases)
  if (input) found.call.input = accepted(found.call, await input.validate(found.call.input))
  if (dialect.toInput) found.call.input = dialect.toInput(found.call.input)
  checkInputSize(runtime, found.call)
}

/**
 * Turns a call into the one that it stands for. Returns the name of the tool, which is then found as if it had been called
 * directly: a rule may deny the outer call, but it never asks for an approval and allows nothing. Throws LOOP_DETECTED if
 * the inner call stands for another one, too.
 */
async function unwrapCall(
  runtime: Runtime,
  run: RunState,
  found: FoundCall,
  standsFor: NonNullable<AnyTool['standsFor']>,
): Promise<string> {
  const { call } = found
  const { tool, input } = standsFor(accepted(found.call, await found.tool.input.validate(found.call.input)))
  const { effect, rule, fix } = decide(runtime.policy, question(runtime, run, new ValidCall(found, call.input)))
  if (effect === 'deny') throw new ToolError('POLICY_DENIED', `${found.call.name} is denied by ${rule}.`, { fix })
  call.wire = runtime.redactor.text(tool.slice(0, MAX_NAME_CHARS))
  if (runtime.registry.find(tool)?.entry.tool.standsFor) {
    throw new ToolError('LOOP_DETECTED', `${found.call.name} cannot call ${call.wire}.`, {
      hint: 'Name the tool that does the work.',
    })
  }
  call.found = undefined
  call.input = input
  return tool
}

/** Step 2: lets the owner's `before` hooks replace the input. */
export async function rewrite(runtime: Runtime, found: FoundCall): Promise<void> {
  await runtime.hooks.before(found.call)
  checkInputSize(runtime, found.call)
}

/** Step 3: parses the input with the schema of the tool. Returns a promise only if the schema does. */
export function validate(runtime: Runtime, found: FoundCall): ValidCall | Promise<ValidCall> {
  const checking = found.tool.input.validate(found.call.input)
  if (checking instanceof Promise) return checking.then((result) => accept(runtime, found, result))
  return accept(runtime, found, checking)
}

function accept({ redactor }: Runtime, found: FoundCall, result: SchemaResult): ValidCall {
  if (!result.ok) throw invalid(found.call, result)
  const valid = new ValidCall(found, result.value)
  found.call.valid = valid
  const isMarked = found.tool.capabilities.has('write:fs') && redactor.isMark(JSON.stringify(valid.input))
  if (!isMarked) return valid
  const message = 'The arguments contain a redaction mark; writing it would destroy the secret that it stands for.'
  throw new ToolError('INPUT_SCHEMA_INVALID', message, {
    hint: 'Use an edit that leaves the marked text unchanged.',
  })
}

/** Returns the value that passed the schema. Throws INPUT_SCHEMA_INVALID with the issues otherwise. */
export function accepted(call: Call, result: SchemaResult): unknown {
  if (!result.ok) throw invalid(call, result)
  return result.value
}

function invalid(call: Call, { issues }: SchemaResult & { readonly ok: false }): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', describeIssues(issues, `Invalid arguments for ${call.wire}`))
}

/** Renames arguments that models of other vendors spell differently. Throws if an argument is given twice. */
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

const isText = (value: unknown): boolean => typeof value === 'string'

/** The check for each option of a call: callers in plain JavaScript and transports may pass anything. */
const CHECKS: ReadonlyMap<string, { readonly fits: (value: unknown) => boolean; readonly wanted: string }> = new Map([
  ...['run', 'session', 'caller', 'purpose', 'requestId', 'taskId', 'goalId'].map(
    (name) => [name, { fits: isText, wanted: 'a text' }] as const,
  ),
  ...['idempotencyKey', 'repeatKey'].map((name) => [name, { fits: isText, wanted: 'a text' }] as const),
  ['callerKind', { fits: (value) => value === 'direct' || value === 'script', wanted: 'direct or script' }],
  ['signal', { fits: (value) => value instanceof AbortSignal, wanted: 'an AbortSignal' }],
  ['timeoutMs', { fits: (value) => typeof value === 'number' && value > 0, wanted: 'a number above 0' }],
  ['userText', { fits: isUserText, wanted: 'a text or a list of texts' }],
  ['client', { fits: (value) => typeof value === 'string', wanted: 'a text' }],
  ['untrusted', { fits: (value) => typeof value === 'boolean', wanted: 'true or false' }],
  ['dryRun', { fits: (value) => typeof value === 'boolean', wanted: 'true or false' }],
  ['onAsk', { fits: (value) => value === 'wait' || value === 'return', wanted: 'wait or return' }],
  ...['approve', 'onQuestion', 'onEvent'].map(
    (name) => [name, { fits: (value: unknown) => typeof value === 'function', wanted: 'a function' }] as const,
  ),
  ['grants', { fits: isCapabilityList, wanted: `a list of ${CAPABILITIES.join(', ')}` }],
])

/** Throws if an option of a call is unknown or invalid. */
export function checkOptions(options: CallOptions): void {
  for (const name of Object.keys(options)) {
    const value = (options as Record<string, unknown>)[name]
    const check = CHECKS.get(name)
    if (value === undefined || check?.fits(value)) continue
    throw new ToolError(
      'CONFIG_INVALID',
      `The option ${name} of a call ${check ? `must be ${check.wanted}` : 'does not exist'}.`,
      {
        hint: `Options of a call: ${[...CHECKS.keys()].join(', ')}.`,
      },
    )
  }
}

function isCapabilityList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => (CAPABILITIES as readonly unknown[]).includes(item))
}
