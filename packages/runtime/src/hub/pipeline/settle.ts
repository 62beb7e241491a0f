import {
  type CallError,
  type Content,
  type ContentBlock,
  ERRORS,
  type ErrorCode,
  type Evidence,
  type Failure,
  type Fix,
  type ResultMeta,
  resourceError,
  type Success,
  ToolError,
  type ToolResult,
  withoutDoubtDetails,
} from '@tool-hub/core'
import { copyAsJson, isPlainObject, NOT_PLAIN, outlineJson, turnFor } from '@tool-hub/core/lib'
import { describeIssues, type SchemaResult } from '@tool-hub/core/schema'
import { cutHead, shortenText } from '../../limits/index.ts'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, withinTimeout } from './call.ts'

/** A result with the facts about its content that are recorded. */
export interface Settled<R extends ToolResult = ToolResult> {
  readonly result: R
  readonly bytes: number
  /** The text that the result hash is computed from; absent if the call produced no content. */
  readonly text?: string
}

const UNTRUSTED = ['untrusted'] as const
/** How much of a result a model sees if the whole result is stored as an artifact. */
const PREVIEW_CHARS = 1_000

/** Step 9 for a tool that succeeded: checks the output, runs `after` hooks, redacts, shortens and adds evidence. */
export async function succeed(
  runtime: Runtime,
  run: RunState,
  found: FoundCall,
  value: unknown,
): Promise<Settled<Success>> {
  // The output is likely to be as large as the input; its real size is known only once it is serialised.
  const starting = turnFor(found.call.inputBytes, runtime.identity.principal)
  if (starting) await starting
  const checking = checkOutput(found, value)
  let data =
    checking instanceof Promise ? await withinTimeout(runtime, found.call, checking, 'its output schema') : checking
  if (runtime.hooks.names.has('after')) {
    const changed = await runtime.hooks.after(found.call, assemble(runtime, found, data, []))
    if (changed.changed) {
      const rechecking = Promise.resolve(checkOutput(found, changed.data))
      data = await withinTimeout(runtime, found.call, rechecking, 'its output schema')
    }
  }
  // A redacted JSON copy, which the tool can no longer change and which can always be cloned.
  const redacted = runtime.redactor.value(data)
  // Redaction may also have replaced a value that JSON cannot represent: that is a defect of the tool and must be reported.
  if (redacted !== data) toJson(found.call, data)
  const copy = copyAsJson(redacted)
  data = copy === NOT_PLAIN ? JSON.parse(toJson(found.call, redacted)) : copy
  const showing = turnFor(found.call.inputBytes, runtime.identity.principal)
  if (showing) await showing
  const { json: text, bytes, isWhole } = outlineJson(data)
  const maxChars = outputLimit(runtime, found)
  // The text of the result serves the model too, which spares a call 0.6 us.
  const whole = modelContent(runtime, found, data, { maxChars, json: isWhole ? text : undefined })
  let chars = 0
  for (const block of whole) if ('text' in block && block.text !== undefined) chars += block.text.length
  const proving = turnFor(chars, runtime.identity.principal)
  if (proving) await proving
  const content = chars <= maxChars ? whole : await shorten(run, found, whole, maxChars)
  const result = assemble(runtime, found, data, content)
  return { result, bytes, text }
}

/** Step 9 for a call that failed: converts anything thrown into a typed error with a hint. */
export function fail(runtime: Runtime, call: Call, thrown: unknown): Settled<Failure> {
  const error = withoutEffect(call, asToolError(call, thrown))
  call.report.failure = error
  const { code, retryable } = error
  const message = runtime.redactor.text(error.message)
  const fix = plainFix(runtime.redactor.value(error.fix))
  const callError: CallError = { code, message, retryable, fix }
  // A message of several lines, such as one with the output of a program, may end without a full stop.
  const isOpen = message.includes('\n') && !/[.!?]$/.test(message)
  const text = `${code}: ${message}${isOpen ? '\n' : ' '}${adviceOf(code, fix)}`
  const evidence = runtime.redactor.value(call.report.evidence)
  const failed = { type: 'tool', ref: call.id, summary: `${code}: ${oneLine(message)}` } as const
  const result: Failure = {
    ok: false,
    status: ERRORS[code].status,
    callId: call.id,
    tool: call.name,
    summary: oneLine(message),
    content: [{ type: 'text', text }],
    artifacts: [...call.report.artifacts],
    evidence: evidence.length === 0 ? [failed] : [...evidence],
    error: callError,
    meta: metaOf(call),
  }
  return { result, bytes: 0, text }
}

/** If the store does not know whether it has kept something of a call that was not executed, the call can be repeated. */
function withoutEffect({ wasExecuted, name }: Call, error: ToolError): ToolError {
  const { code, message, details, cause } = error
  if (wasExecuted || details?.outcome !== 'unknown') return error
  return new ToolError(code, `${message} ${name} was not executed.`, {
    hint: 'Call again.',
    retryable: true,
    details,
    cause,
  })
}

/** The error of a call that has or may have had its effect, so it is not worth a blind second try. */
export function mayHaveHappened({ found }: Call, code: ErrorCode, message: string, cause?: unknown): ToolError {
  return new ToolError(code, message, {
    hint: 'Check whether the call had its effect before you call again; with the same idempotency key it is not repeated.',
    retryable: found?.tool.tool.retry !== undefined,
    cause,
  })
}

/** Why a call is stopped whose hub is closed: its caller did nothing. */
export function closedDuring(call: Call): ToolError {
  const error = new ToolError('ABORTED', 'The hub was closed.', { hint: 'Call again.', retryable: true })
  return !call.wasExecuted || !call.found?.tool.hasEffects ? error : stoppedBy(call, error)
}

/** Why a call was stopped. Nobody knows what one that executes has changed. */
export function stoppedBy(call: Call, { code, message }: ToolError): ToolError {
  if (!call.wasExecuted || !call.found?.tool.hasEffects) return new ToolError(code, message)
  return mayHaveHappened(call, code, `${message} ${call.name} was stopped; its effect is unknown.`)
}

/** Returns the hint. If only the owner can apply it, says so, because a model might be able to edit the config itself. */
function adviceOf(code: ErrorCode, { key, hint }: Fix): string {
  const isOwners = key === 'policy' && ERRORS[code].blame === 'owner'
  return isOwners ? `Only the owner can change this; tell the user: ${hint}` : hint
}

/** Settles a failure that carries data, which is checked, passed to hooks, redacted and shortened like any output. */
export async function failWithData(
  runtime: Runtime,
  run: RunState,
  found: FoundCall,
  data: unknown,
): Promise<Settled<Failure>> {
  const failed = fail(runtime, found.call, found.call.report.failure)
  const given = await succeed(runtime, run, found, data)
  const { content, artifacts, meta } = given.result
  return { ...given, result: { ...failed.result, data: given.result.data, content, artifacts, meta } }
}

/** Returns the result of a dry run: what would happen, and by which rule. Nothing was executed. */
export function rehearsed(decided: DecidedCall): Settled {
  const { rule, reason } = decided.decision
  if (decided.effect === 'ask') {
    throw new ToolError(
      'APPROVAL_UNAVAILABLE',
      `Dry run: ${decided.call.name} would ask, by ${rule}: ${withoutDoubtDetails(reason)}`,
      {
        fix: decided.decision.fix,
      },
    )
  }
  const summary = `Dry run: ${decided.call.name} would run, by ${rule}.`
  const content = [{ type: 'text', text: summary } as const]
  const evidence = [{ type: 'tool', ref: decided.call.id, summary } as const]
  const result = {
    ok: true,
    status: 'ok',
    callId: decided.call.id,
    tool: decided.call.name,
    summary,
    data: undefined,
    content,
    artifacts: [],
    evidence,
    meta: metaOf(decided.call),
  } as const
  return { result, bytes: 0 }
}

/** Converts anything thrown into a ToolError. An unexpected error becomes INTERNAL; only the audit log contains its stack. */
export function asToolError(call: Call, thrown: unknown): ToolError {
  if (call.abortReason) return call.abortReason
  if (ToolError.is(thrown) && isWhole(thrown)) return thrown
  const exhausted = resourceError(thrown, `${call.name} could not run`)
  if (exhausted) return exhausted
  return new ToolError('INTERNAL', `${call.name} failed because of a defect (call ${call.id}).`, { cause: thrown })
}

/** An error of another copy of the package, or one that a tool modified, may be incomplete. */
function isWhole({ code, message, fix }: ToolError): boolean {
  return Object.hasOwn(ERRORS, code) && typeof message === 'string' && typeof fix?.hint === 'string'
}

/** A fix may come from a tool and is sent to clients: a value that is not JSON is left out. */
function plainFix({ key, value, hint }: Fix): Fix {
  try {
    return JSON.parse(JSON.stringify({ key, value, hint }))
  } catch {
    return { hint }
  }
}

function checkOutput(found: FoundCall, value: unknown): unknown {
  const { output } = found.tool
  if (value === undefined)
    throw badOutput(found.call, 'it returned undefined', 'Return a JSON value, or null for no value.')
  if (!output) return value
  const checking = output.validate(value)
  if (checking instanceof Promise)
    return checking.then((late) => (late.ok ? late.value : refuseOutput(found.call, late)))
  return checking.ok ? checking.value : refuseOutput(found.call, checking)
}

function refuseOutput(call: Call, { issues }: SchemaResult & { readonly ok: false }): never {
  throw badOutput(call, describeIssues(issues, 'its output'))
}

function toJson(call: Call, data: unknown): string {
  try {
    const json = JSON.stringify(data)
    if (json !== undefined) return json
  } catch (error) {
    throw badOutput(call, `it cannot be written as JSON (${(error as Error).message.split('\n', 1)[0]})`)
  }
  throw badOutput(call, `it returned a ${typeof data}`)
}

/** Returns what the model sees of the data. `json` is its JSON, if that is known. */
function modelContent(
  runtime: Runtime,
  found: FoundCall,
  data: unknown,
  { maxChars, json }: { readonly maxChars: number; readonly json: string | undefined },
): readonly ContentBlock[] {
  const toModel = found.dialect?.dialect.toModel ?? found.tool.tool.toModel
  if (toModel) return runtime.redactor.value(blocks(toModel(data, { maxChars }), 'toModel'))
  return [{ type: 'text', text: typeof data === 'string' ? data : (json ?? JSON.stringify(data)) }]
}

/** Shortens text over the limit, states how much was cut, and stores the whole text as an artifact. */
async function shorten(run: RunState, found: FoundCall, content: readonly ContentBlock[], maxChars: number) {
  const { overflow = 'middle' } = found.tool.tool
  const whole = content.flatMap((block) => (hasText(block) ? [block.text] : [])).join('\n')
  const artifact = await run.records?.putArtifact(whole, { name: `${found.call.id}.txt`, mediaType: 'text/plain' })
  if (artifact) found.call.report.artifacts.push(artifact)
  const where = artifact ? `; the whole is ${artifact.ref}` : ''
  const { text, cutChars } = shortenText(whole, {
    maxChars: overflow === 'artifact' ? Math.min(maxChars, PREVIEW_CHARS) : maxChars,
    mode: overflow === 'artifact' ? 'head' : overflow,
    mark: (cut) => `\n… [${cut.toLocaleString('en-US')} characters cut${where}] …\n`,
  })
  found.call.report.truncated = { cutChars, ...(artifact && { artifact: artifact.ref }) }
  return [{ type: 'text', text } as const, ...content.filter((block) => !hasText(block))]
}

function hasText(block: ContentBlock): block is ContentBlock & { readonly text: string } {
  return 'text' in block && block.text !== undefined
}

function assemble(runtime: Runtime, found: FoundCall, data: unknown, content: readonly ContentBlock[]): Success {
  const evidence = runtime.redactor.value(found.call.report.evidence)
  const summary = summarize(found, { data, content, evidence })
  return {
    ok: true,
    status: found.call.report.isPending ? 'pending' : 'ok',
    callId: found.call.id,
    tool: found.call.name,
    summary,
    data,
    content,
    artifacts: [...found.call.report.artifacts],
    evidence: evidence.length === 0 ? [{ type: 'tool', ref: found.call.id, summary }] : [...evidence],
    meta: metaOf(found.call),
  }
}

function metaOf(call: Call): ResultMeta {
  const durationMs = Math.round((performance.now() - call.startedMark) * 1000) / 1000
  const meta: { -readonly [K in keyof ResultMeta]: ResultMeta[K] } = {
    durationMs,
    attempts: call.execution?.attempts ?? 0,
  }
  if (call.report.truncated) meta.truncated = call.report.truncated
  if (call.options.dryRun) meta.dryRun = true
  if (call.execution?.isAbandoned) meta.abandoned = true
  if (call.report.isUntrusted) meta.labels = UNTRUSTED
  if (call.decided) meta.rule = call.decided.decision.rule
  if (call.approvedBy !== undefined) meta.approvedBy = call.approvedBy
  if (call.report.notices.length > 0) meta.notices = [...call.report.notices]
  return meta
}

function badOutput(call: Call, what: string, hint?: string): ToolError {
  return new ToolError('OUTPUT_SCHEMA_INVALID', `The output of ${call.name} is invalid: ${what}`, { hint })
}

const BLOCK_TYPES: ReadonlySet<ContentBlock['type']> = new Set(['text', 'image', 'audio', 'resource', 'resource-link'])
const DEFAULT_CHARS = 30_000

/** Returns the content blocks of what a tool gives to a model. A string is one text block. Throws if the content is invalid. */
export function blocks(content: Content, what: 'toModel' | 'ctx.progress'): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.every((block) => BLOCK_TYPES.has(block?.type))) return content
  const verb = what === 'toModel' ? 'must return' : 'takes'
  throw new TypeError(`${what} ${verb} a string or a list of blocks of type ${[...BLOCK_TYPES].join(', ')}.`)
}

/** Returns the most characters that a model gets: the limit of the tool, but never more than the owner's. */
export function outputLimit({ settings }: Runtime, { tool, dialect }: FoundCall): number {
  const wanted = dialect?.dialect.maxOutputChars ?? tool.tool.maxOutputChars ?? DEFAULT_CHARS
  return Math.min(wanted, settings.outputChars ?? wanted)
}

const MAX_SUMMARY_CHARS = 200
const MAX_KEYS = 5
const MAX_KEY_CHARS = 40

/** The redacted outcome that a summary is made from. */
interface Outcome {
  readonly data: unknown
  readonly content: readonly ContentBlock[]
  /** The evidence of the tool itself; may be empty. */
  readonly evidence: readonly Evidence[]
}

/**
 * Summarises in one line what a call did, for logs, histories and approvers. Uses the evidence of the tool, else its output
 * if that is a single line of text, else the shape of its data. Content that the call read is not repeated.
 */
export function summarize(found: FoundCall, { data, content, evidence }: Outcome): string {
  const { title, name } = found.tool.tool
  const [first, ...rest] = evidence
  if (first) {
    // Further calls that a tool made are counted by the tool itself.
    const others = rest.filter(({ type }) => type !== 'tool')
    const where = first.ref === found.call.id ? '' : `${first.ref}, `
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    return oneLine(`${title ?? name}: ${where}${first.summary}${more}`)
  }
  return oneLine(ownLine(data, content) ?? `${title ?? name}: returned ${shapeOf(payloadOf(found, data, content))}`)
}

/** Returns the first line of a text, shortened if it is too long. */
export function oneLine(text: string): string {
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  return line.length <= MAX_SUMMARY_CHARS ? line : cutHead(line, MAX_SUMMARY_CHARS)
}

/** Returns the output if it is a single line of text that is not JSON: such a line describes what the tool did. */
function ownLine(data: unknown, content: readonly ContentBlock[]): string | undefined {
  const [block, ...others] = content
  if (block?.type !== 'text' || others.length > 0 || block.text === '' || block.text.length > MAX_SUMMARY_CHARS) return
  if (block.text.includes('\n') || (typeof data !== 'string' && /^[[{]/.test(block.text))) return
  return block.text
}

/** Returns what the author of the tool returned, without the wrapper of its format. A hook may have replaced it. */
function payloadOf(found: FoundCall, data: unknown, content: readonly ContentBlock[]): unknown {
  const { kind } = found.tool.tool
  if (!isPlainObject(data) || (kind !== 'agent-tool' && kind !== 'handler')) return data
  return data.details ?? content.map((block) => ('text' in block ? block.text : '')).join('\n')
}

/** Describes the data by its keys, never its values. */
function shapeOf(data: unknown): string {
  if (typeof data === 'string') return `${data.length} characters of text`
  if (Array.isArray(data)) return `a list of ${data.length}`
  if (typeof data !== 'object' || data === null) return String(data)
  const keys = Object.keys(data)
  const named = keys.slice(0, MAX_KEYS).map((key) => key.slice(0, MAX_KEY_CHARS))
  return `an object with ${named.join(', ') || 'no keys'}${keys.length > MAX_KEYS ? ', …' : ''}`
}
