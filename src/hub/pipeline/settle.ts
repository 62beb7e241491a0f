import {
  type CallError,
  type ContentBlock,
  ERRORS,
  type ErrorCode,
  type Failure,
  type Fix,
  type ResultMeta,
  resourceError,
  type Success,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import { describeIssues, type SchemaResult } from '../../core/schema/index.ts'
import { copyAsJson, NOT_PLAIN, outlineJson, turnFor, withoutDoubtDetails } from '../../lib/index.ts'
import { shortenText } from '../../limits/index.ts'
import type { Call } from './call.ts'
import { blocks, outputLimit } from './content.ts'
import type { Parts, RunState } from './parts.ts'
import { oneLine, summarize } from './summarize.ts'
import { bounded } from './until-stopped.ts'

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
export async function succeed(parts: Parts, run: RunState, call: Call, value: unknown): Promise<Settled<Success>> {
  // What comes back is likely to be as large as what went in; its size is known only when it is text.
  const starting = turnFor(call.inputBytes)
  if (starting) await starting
  const checking = checkOutput(call, value)
  let data = checking instanceof Promise ? await bounded(parts, call, checking) : checking
  if (parts.hooks.has('after')) {
    const changed = await parts.hooks.after(call, assemble(parts, call, data, []))
    if (changed.changed) data = await bounded(parts, call, Promise.resolve(checkOutput(call, changed.data)))
  }
  data = plainData(parts, call, data)
  const showing = turnFor(call.inputBytes)
  if (showing) await showing
  const whole = modelContent(parts, call, data)
  const proving = turnFor(charsOf(whole))
  if (proving) await proving
  const content = fits(parts, call, whole) ? whole : await shorten(parts, run, call, whole)
  const result = assemble(parts, call, data, content)
  const { json: text, bytes } = outlineJson(data)
  return { result, bytes, text }
}

/** What JSON says, without secrets, and nobody else's object: its tool can no longer change it, and it can always be copied. */
function plainData(parts: Parts, call: Call, data: unknown): unknown {
  const redacted = parts.redactor.value(data)
  // What it changed may also have been what no JSON can hold; then that is a defect of the tool, and said.
  if (redacted !== data) toJson(call, data)
  const copy = copyAsJson(redacted)
  return copy === NOT_PLAIN ? JSON.parse(toJson(call, redacted)) : copy
}

/** Step 9 for anything else: every failure becomes a typed error that says what to do. */
export function fail(parts: Parts, call: Call, thrown: unknown): Settled<Failure> {
  const error = asToolError(call, thrown)
  call.failure = error
  const { code, retryable } = error
  const message = parts.redactor.text(error.message)
  const fix = plainFix(parts.redactor.value(error.fix))
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
    evidence: evidenceOf(parts, call, `${code}: ${oneLine(message)}`),
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
export async function failWithData(parts: Parts, run: RunState, call: Call, data: unknown): Promise<Settled<Failure>> {
  const failed = fail(parts, call, call.failure)
  const given = await succeed(parts, run, call, data)
  const { content, artifacts, meta } = given.result
  return { ...given, result: { ...failed.result, data: given.result.data, content, artifacts, meta } }
}

/** The end of a dry run: what would happen, and by which rule; nothing was executed. */
export function rehearsed(call: Call): Settled {
  const { rule, reason } = call.decision!
  if (call.effect === 'ask') {
    throw new ToolError(
      'APPROVAL_UNAVAILABLE',
      `Dry run: ${call.name} would ask, by ${rule}: ${withoutDoubtDetails(reason)}`,
      {
        fix: call.decision!.fix,
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

function checkOutput(call: Call, value: unknown): unknown {
  const { output } = call.tool!
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

function modelContent(parts: Parts, call: Call, data: unknown): readonly ContentBlock[] {
  const { tool, dialects } = call.tool!
  const toModel = dialects.get(call.wire)?.dialect.toModel ?? tool.toModel
  if (!toModel) return [{ type: 'text', text: typeof data === 'string' ? data : JSON.stringify(data) }]
  return parts.redactor.value(blocks(toModel(data, { maxChars: outputLimit(parts, call) })))
}

function fits(parts: Parts, call: Call, content: readonly ContentBlock[]): boolean {
  return charsOf(content) <= outputLimit(parts, call)
}

function charsOf(content: readonly ContentBlock[]): number {
  let chars = 0
  for (const block of content) if (hasText(block)) chars += block.text.length
  return chars
}

/** Text over the limit is cut, the cut is counted, the whole becomes an artifact. */
async function shorten(parts: Parts, run: RunState, call: Call, content: readonly ContentBlock[]) {
  const { overflow = 'middle' } = call.tool!.tool
  const whole = content.flatMap((block) => (hasText(block) ? [block.text] : [])).join('\n')
  const artifact = await run.records?.putArtifact(whole, { name: `${call.id}.txt`, mediaType: 'text/plain' })
  if (artifact) call.artifacts.push(artifact)
  const where = artifact ? `; the whole is ${artifact.ref}` : ''
  const maxChars = outputLimit(parts, call)
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

function assemble(parts: Parts, call: Call, data: unknown, content: readonly ContentBlock[]): Success {
  const summary = summarize(call, { data, content, evidence: ownEvidence(parts, call) })
  return {
    ok: true,
    status: 'ok',
    callId: call.id,
    tool: call.name,
    summary,
    data,
    content,
    artifacts: [...call.artifacts],
    evidence: evidenceOf(parts, call, summary),
    meta: metaOf(call),
  }
}

/** At least one a call, and never a secret. */
function evidenceOf(parts: Parts, call: Call, summary: string) {
  return call.evidence.length === 0 ? [{ type: 'tool', ref: call.id, summary } as const] : ownEvidence(parts, call)
}

function ownEvidence({ redactor }: Parts, { evidence }: Call) {
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
