import type { Artifact, CallError, ContentBlock, Evidence, Failure, ToolResult } from './call.ts'
import type { ErrorCode } from './errors.ts'
import type { AgentToolResult } from './from-agent-tool.ts'
import { escapeLine, isPlainObject } from './lib/index.ts'

/** `{ ok, result, evidence, error }`, where `error.kind` is the code of the error. */
export function toCoreResult<T>(result: ToolResult<T>): {
  /** Whether the call succeeded. */
  readonly ok: boolean
  /** The data of a call that succeeded. */
  readonly result?: T
  /** What can be checked afterwards. */
  readonly evidence: readonly Evidence[]
  /** Why the call failed; absent when it succeeded. */
  readonly error?: CallError & { readonly kind: ErrorCode }
} {
  const { evidence } = result
  if (result.ok) return { ok: true, result: result.data, evidence }
  return { ok: false, evidence, error: { kind: result.error.code, ...result.error } }
}

/**
 * `{ tool_call_id, content, is_error }`. What a tool threw is the content in its own words, without advice; notices
 * follow.
 */
export function toExecutorResult(
  result: ToolResult,
  toolCallId: string = result.callId,
): { readonly tool_call_id: string; readonly content: string; readonly is_error: boolean } {
  const { error, meta } = result
  const isThrown = error?.code === 'TOOL_FAILED' && result.data === undefined
  const thrown = isThrown && [{ type: 'text' as const, text: error.message }, ...noticeLines(meta.notices ?? [])]
  return { tool_call_id: toolCallId, content: textOf(thrown || result.content), is_error: !result.ok }
}

/**
 * An AgentToolResult: content blocks and details. A failure is a result for the model; an aborted call is thrown.
 * @param tool The name that was called, for the result of a failure.
 */
export function toAgentToolResult(result: ToolResult, tool: string = result.tool): AgentToolResult {
  if (result.status === 'aborted') throw new DOMException(result.summary, 'AbortError')
  if (!result.ok) return failedAgentResult(result, tool)
  const content = toAgentContent(result.content)
  if (!isAgentToolData(result.data)) return { content, details: detailsOf(result) }
  const { details } = result.data
  return details === null ? { content } : { content, details }
}

/**
 * Data of the built-in tools for files in the words of AgentTools, too: `lines` of a text, `width` and `height`,
 * `size`.
 */
function detailsOf(result: ToolResult): unknown {
  const { tool, data } = result
  if (!isPlainObject(data)) return data
  if (tool === 'core/fs.writeText') return { ...data, size: data.bytes }
  if (tool !== 'core/fs.readText') return data
  const { image, page, text } = result.data as ReadData
  if (image) return { ...data, width: image.width, height: image.height }
  return { ...data, lines: page?.totalLines ?? text.split('\n').length }
}

interface ReadData {
  readonly text: string
  readonly page?: { readonly totalLines: number }
  readonly image?: { readonly width: number; readonly height: number }
}

/** The data of a tool that came in as an AgentTool has both; what it called its details goes out as such. */
function isAgentToolData(data: unknown): data is { readonly content: readonly unknown[]; readonly details: unknown } {
  if (!isPlainObject(data) || Object.keys(data).sort().join() !== 'content,details') return false
  return Array.isArray(data.content)
}

function failedAgentResult({ error, meta }: Failure, tool: string): AgentToolResult {
  const { content, details } = jsonResult({ status: 'error', tool, error: error.message })
  return { content: [...content, ...noticeLines(meta.notices ?? [])], details }
}

/** The content blocks of AgentTools. */
export type AgentContent = readonly (
  | { type: 'text'; text: string }
  | { type: 'image'; data: string; mimeType: string }
)[]

/** Converts content blocks to those of AgentTools, where an image has a `mimeType` and everything else becomes text. */
export function toAgentContent(content: readonly ContentBlock[]): AgentContent {
  return content.map((block) => {
    if (block.type === 'text') return { ...block }
    if (block.type === 'image') return { type: 'image', data: block.data, mimeType: block.mediaType }
    return { type: 'text', text: textOfBlock(block) }
  })
}

/** Converts a result to the form `{ ok, summary, data, artifacts, error }`. */
export function toSummaryResult<T>(result: ToolResult<T>): {
  /** Whether the call succeeded. */
  readonly ok: boolean
  /** What the call did, in one line. */
  readonly summary: string
  /** The data of a call that succeeded. */
  readonly data?: T
  /** Content stored for the call. */
  readonly artifacts: readonly Artifact[]
  /** Why the call failed; absent when it succeeded. */
  readonly error?: CallError
} {
  const { ok, summary, artifacts } = result
  return { ok, summary, artifacts, ...(result.ok ? { data: result.data } : { error: result.error }) }
}

/** The `jsonResult` of AgentTools: indented JSON for the model, the payload as details. */
export function jsonResult<T>(payload: T): { readonly content: { type: 'text'; text: string }[]; readonly details: T } {
  return { content: [{ type: 'text', text: JSON.stringify(payload, null, 2) }], details: payload }
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map(textOfBlock).join('\n')
}

/** A block for those who take only text: what is none is named. */
export function textOfBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource':
      return block.text ?? `[resource ${block.uri}]`
    case 'resource-link':
      return `[${block.name}](${block.uri})`
    default:
      return `[${block.type} ${block.mediaType}]`
  }
}

const MAX_NOTICES = 20
const MAX_CHARS = 500

/** Notices as a model reads them: one block of one line each, at most 20. */
function noticeLines(notices: readonly string[]): { type: 'text'; text: string }[] {
  const left = notices.length - MAX_NOTICES
  const shown = notices.slice(0, MAX_NOTICES).map((notice) => `Notice: ${cut(escapeLine(notice))}`)
  if (left > 0) shown.push(`Notice: there are ${left} more notices.`)
  return shown.map((text) => ({ type: 'text', text }))
}

/** The result with its notices at the end of what a model reads. */
export function withNoticeLines<R extends ToolResult>(result: R): R {
  return { ...result, content: [...result.content, ...noticeLines(result.meta.notices ?? [])] }
}

/** What the tool itself said, for those who show the notices elsewhere. */
export function withoutNoticeLines({ content, meta }: Pick<ToolResult, 'content' | 'meta'>): readonly ContentBlock[] {
  const lines = noticeLines(meta.notices ?? []).length
  return lines === 0 ? content : content.slice(0, -lines)
}

function cut(text: string): string {
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text
}
