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
} from '../../core/index.ts'
import { describeIssues, type SchemaResult } from '../../core/schema/index.ts'
import { copyAsJson, isPlainObject, NOT_PLAIN, outlineJson, turnFor } from '../../lib/index.ts'
import { cutHead, shortenText } from '../../limits/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, type FoundCall, withinTimeout } from './call.ts'

/** A result and what the record says about its content. */
export interface Settled<R extends ToolResult = ToolResult> {
  readonly result: R
  readonly bytes: number
  /** What the result's hash is made of; absent when there is no content of this call's own. */
  readonly text?: string
}

const UNTRUSTED = ['untrusted'] as const
/** What a model sees of a result that goes into an artifact as a whole. */
const PREVIEW_CHARS = 1_000

/** Step 9 for a tool that came back: check, `after` hooks, redact, shorten, prove. */
export async function succeed(
  runtime: Runtime,
  run: RunState,
  call: FoundCall,
  value: unknown,
): Promise<Settled<Success>> {
  // What comes back is likely to be as large as what went in; its size is known only when it is text.
  const starting = turnFor(call.inputBytes)
  if (starting) await starting
  const checking = checkOutput(call, value)
  let data = checking instanceof Promise ? await withinTimeout(runtime, call, checking, 'its output schema') : checking
  if (runtime.hooks.has('after')) {
    const changed = await runtime.hooks.after(call, assemble(runtime, call, data, []))
    if (changed.changed) {
      const rechecking = Promise.resolve(checkOutput(call, changed.data))
      data = await withinTimeout(runtime, call, rechecking, 'its output schema')
    }
  }
  data = plainData(runtime, call, data)
  const showing = turnFor(call.inputBytes)
  if (showing) await showing
  const whole = modelContent(runtime, call, data)
  const proving = turnFor(charsOf(whole))
  if (proving) await proving
  const content = fits(runtime, call, whole) ? whole : await shorten(runtime, run, call, whole)
  const result = assemble(runtime, call, data, content)
  const { json: text, bytes } = outlineJson(data)
  return { result, bytes, text }
}

/** What JSON says, without secrets, and nobody else's object: its tool can no longer change it, and it can always be copied. */
function plainData(runtime: Runtime, call: FoundCall, data: unknown): unknown {
  const redacted = runtime.redactor.value(data)
  // What it changed may also have been what no JSON can hold; then that is a defect of the tool, and said.
  if (redacted !== data) toJson(call, data)
  const copy = copyAsJson(redacted)
  return copy === NOT_PLAIN ? JSON.parse(toJson(call, redacted)) : copy
}

/** Step 9 for anything else: every failure becomes a typed error that says what to do. */
export function fail(runtime: Runtime, call: Call, thrown: unknown): Settled<Failure> {
  const error = asToolError(call, thrown)
  call.failure = error
  const { code, retryable } = error
  const message = runtime.redactor.text(error.message)
  const fix = plainFix(runtime.redactor.value(error.fix))
  const callError: CallError = { code, message, retryable, fix }
  const text = `${code}: ${message} ${adviceOf(code, fix)}`
  const result: Failure = {
    ok: false,
    status: ERRORS[code].status,
    callId: call.id,
    tool: call.name,
    summary: oneLine(message),
    content: [{ type: 'text', text }],
    artifacts: [...call.artifacts],
    evidence: evidenceOf(runtime, call, `${code}: ${oneLine(message)}`),
    error: callError,
    meta: metaOf(call),
  }
  return { result, bytes: 0, text }
}

/** What only the owner can change, a model that can reach the config must not take for a thing to do. */
function adviceOf(code: ErrorCode, { key, hint }: Fix): string {
  const isOwners = key === 'policy' && ERRORS[code].blame === 'owner'
  return isOwners ? `Only the owner can change this; tell the user: ${hint}` : hint
}

/** A failure with something to give nevertheless, which goes the way of every output: checked, hooked, redacted, shortened. */
export async function failWithData(
  runtime: Runtime,
  run: RunState,
  call: FoundCall,
  data: unknown,
): Promise<Settled<Failure>> {
  const failed = fail(runtime, call, call.failure)
  const given = await succeed(runtime, run, call, data)
  const { content, artifacts, meta } = given.result
  return { ...given, result: { ...failed.result, data: given.result.data, content, artifacts, meta } }
}

/** The end of a dry run: what would happen, and by which rule; nothing was executed. */
export function rehearsed(call: DecidedCall): Settled {
  const { rule, reason } = call.decision
  if (call.effect === 'ask') {
    throw new ToolError(
      'APPROVAL_UNAVAILABLE',
      `Dry run: ${call.name} would ask, by ${rule}: ${withoutDoubtDetails(reason)}`,
      {
        fix: call.decision.fix,
      },
    )
  }
  const summary = `Dry run: ${call.name} would run, by ${rule}.`
  const content = [{ type: 'text', text: summary } as const]
  const evidence = [{ type: 'tool', ref: call.id, summary } as const]
  const result = {
    ok: true,
    status: 'ok',
    callId: call.id,
    tool: call.name,
    summary,
    data: undefined,
    content,
    artifacts: [],
    evidence,
    meta: metaOf(call),
  } as const
  return { result, bytes: 0 }
}

/** Anything thrown as an error of the table; what is not one of ours is a defect, and only the audit sees its stack. */
export function asToolError(call: Call, thrown: unknown): ToolError {
  if (call.abortReason) return call.abortReason
  if (ToolError.is(thrown) && isWhole(thrown)) return thrown
  const exhausted = resourceError(thrown, `${call.name} could not run`)
  if (exhausted) return exhausted
  return new ToolError('INTERNAL', `${call.name} failed with a defect of its own (call ${call.id}).`, { cause: thrown })
}

/** An error of another copy of the package, or one that a tool changed, may not be what it says. */
function isWhole({ code, message, fix }: ToolError): boolean {
  return Object.hasOwn(ERRORS, code) && typeof message === 'string' && typeof fix?.hint === 'string'
}

/** A fix comes from a tool and goes over wires: its value is JSON, or left out. */
function plainFix({ key, value, hint }: Fix): Fix {
  try {
    return JSON.parse(JSON.stringify({ key, value, hint }))
  } catch {
    return { hint }
  }
}

function checkOutput(call: FoundCall, value: unknown): unknown {
  const { output } = call.tool
  if (value === undefined) throw badOutput(call, 'it returned undefined', 'Return a JSON value; null says "nothing".')
  if (!output) return value
  const checking = output.validate(value)
  return checking instanceof Promise ? checking.then((late) => accepted(call, late)) : accepted(call, checking)
}

function accepted(call: Call, result: SchemaResult): unknown {
  if (result.ok) return result.value
  throw badOutput(call, describeIssues(result.issues, 'its output'))
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

function modelContent(runtime: Runtime, call: FoundCall, data: unknown): readonly ContentBlock[] {
  const { tool, dialects } = call.tool
  const toModel = dialects.get(call.wire)?.dialect.toModel ?? tool.toModel
  if (!toModel) return [{ type: 'text', text: typeof data === 'string' ? data : JSON.stringify(data) }]
  return runtime.redactor.value(blocks(toModel(data, { maxChars: outputLimit(runtime, call) })))
}

function fits(runtime: Runtime, call: FoundCall, content: readonly ContentBlock[]): boolean {
  return charsOf(content) <= outputLimit(runtime, call)
}

function charsOf(content: readonly ContentBlock[]): number {
  let chars = 0
  for (const block of content) if (hasText(block)) chars += block.text.length
  return chars
}

/** Text over the limit is cut, the cut is counted, the whole becomes an artifact. */
async function shorten(runtime: Runtime, run: RunState, call: FoundCall, content: readonly ContentBlock[]) {
  const { overflow = 'middle' } = call.tool.tool
  const whole = content.flatMap((block) => (hasText(block) ? [block.text] : [])).join('\n')
  const artifact = await run.records?.putArtifact(whole, { name: `${call.id}.txt`, mediaType: 'text/plain' })
  if (artifact) call.artifacts.push(artifact)
  const where = artifact ? `; the whole is ${artifact.ref}` : ''
  const maxChars = outputLimit(runtime, call)
  const { text, cutChars } = shortenText(whole, {
    maxChars: overflow === 'artifact' ? Math.min(maxChars, PREVIEW_CHARS) : maxChars,
    mode: overflow === 'artifact' ? 'head' : overflow,
    mark: (cut) => `\n… [${cut.toLocaleString('en-US')} characters cut${where}] …\n`,
  })
  call.truncated = { cutChars, ...(artifact && { artifact: artifact.ref }) }
  return [{ type: 'text', text } as const, ...content.filter((block) => !hasText(block))]
}

function hasText(block: ContentBlock): block is ContentBlock & { readonly text: string } {
  return 'text' in block && block.text !== undefined
}

function assemble(runtime: Runtime, call: FoundCall, data: unknown, content: readonly ContentBlock[]): Success {
  const summary = summarize(call, { data, content, evidence: ownEvidence(runtime, call) })
  return {
    ok: true,
    status: 'ok',
    callId: call.id,
    tool: call.name,
    summary,
    data,
    content,
    artifacts: [...call.artifacts],
    evidence: evidenceOf(runtime, call, summary),
    meta: metaOf(call),
  }
}

/** At least one a call, and never a secret. */
function evidenceOf(runtime: Runtime, call: Call, summary: string) {
  return call.evidence.length === 0 ? [{ type: 'tool', ref: call.id, summary } as const] : ownEvidence(runtime, call)
}

function ownEvidence({ redactor }: Runtime, { evidence }: Call) {
  return evidence.map((each) => redactor.value(each))
}

function metaOf(call: Call): ResultMeta {
  const durationMs = Math.round((performance.now() - call.startedMark) * 1000) / 1000
  const meta: { -readonly [K in keyof ResultMeta]: ResultMeta[K] } = { durationMs, attempts: call.attempts }
  if (call.truncated) meta.truncated = call.truncated
  if (call.options.dryRun) meta.dryRun = true
  if (call.abandoned) meta.abandoned = true
  if (call.isUntrusted) meta.labels = UNTRUSTED
  if (call.decision) meta.rule = call.decision.rule
  if (call.approvedBy !== undefined) meta.approvedBy = call.approvedBy
  if (call.notices.length > 0) meta.notices = [...call.notices]
  return meta
}

function badOutput(call: Call, what: string, hint?: string): ToolError {
  return new ToolError('OUTPUT_SCHEMA_INVALID', `The output of ${call.name} is not usable: ${what}`, { hint })
}

const BLOCK_TYPES: ReadonlySet<ContentBlock['type']> = new Set(['text', 'image', 'audio', 'resource', 'resource-link'])
const DEFAULT_CHARS = 30_000

/** The blocks of what a tool said, a plain text being one block. */
export function blocks(content: Content): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.every((block) => BLOCK_TYPES.has(block?.type))) return content
  throw new TypeError(`Content is a text, or a list of blocks: ${[...BLOCK_TYPES].join(', ')}.`)
}

/** How many characters of a call's text a model gets: what its tool says, but never more than the owner. */
export function outputLimit({ settings }: Runtime, { tool, dialect }: FoundCall): number {
  const wanted = dialect?.dialect.maxOutputChars ?? tool.tool.maxOutputChars ?? DEFAULT_CHARS
  return Math.min(wanted, settings.outputChars ?? wanted)
}

const MAX_SUMMARY_CHARS = 200
const MAX_KEYS = 5
const MAX_KEY_CHARS = 40

/** What a summary is made of: everything without secrets. */
interface Outcome {
  readonly data: unknown
  readonly content: readonly ContentBlock[]
  /** What the tool itself has proven; empty if it has not. */
  readonly evidence: readonly Evidence[]
}

/**
 * Says in one line what a call did, for logs, histories and approvers. What it read or was told is not repeated: the evidence
 * of the tool describes it, else its own single line of text, else the shape of its data.
 */
export function summarize(call: FoundCall, { data, content, evidence }: Outcome): string {
  const { title, name } = call.tool.tool
  const [first, ...others] = evidence
  if (first) {
    const where = first.ref === call.id ? '' : `${first.ref}, `
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    return oneLine(`${title ?? name}: ${where}${first.summary}${more}`)
  }
  return oneLine(ownLine(data, content) ?? `${title ?? name}: returned ${shapeOf(payloadOf(call, data, content))}`)
}

/** The first line of a text, cut where it is long. */
export function oneLine(text: string): string {
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  return cutHead(line, MAX_SUMMARY_CHARS)
}

/** What a tool says in a single line says what it did; JSON does not. */
function ownLine(data: unknown, content: readonly ContentBlock[]): string | undefined {
  const [block, ...others] = content
  if (block?.type !== 'text' || others.length > 0 || block.text === '' || block.text.length > MAX_SUMMARY_CHARS) return
  if (block.text.includes('\n') || (typeof data !== 'string' && /^[[{]/.test(block.text))) return
  return block.text
}

/** What the author of a tool returned, without the form that holds it; a hook may have put something else in its place. */
function payloadOf(call: FoundCall, data: unknown, content: readonly ContentBlock[]): unknown {
  const { kind } = call.tool.tool
  if (!isPlainObject(data) || (kind !== 'agent-tool' && kind !== 'handler')) return data
  return data.details ?? content.map((block) => ('text' in block ? block.text : '')).join('\n')
}

/** Keys, never values. */
function shapeOf(data: unknown): string {
  if (typeof data === 'string') return `${data.length} characters of text`
  if (Array.isArray(data)) return `a list of ${data.length}`
  if (typeof data !== 'object' || data === null) return String(data)
  const keys = Object.keys(data)
  const named = keys.slice(0, MAX_KEYS).map((key) => key.slice(0, MAX_KEY_CHARS))
  return `an object with ${named.join(', ') || 'no keys'}${keys.length > MAX_KEYS ? ', …' : ''}`
}
