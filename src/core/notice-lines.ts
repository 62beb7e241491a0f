import { escapeLine } from '../lib/escape-text.ts'
import type { ContentBlock, ToolResult } from './result.ts'

const MAX_NOTICES = 20
const MAX_CHARS = 500

/** Notices as a model reads them: one block of one line each, at most 20. */
export function noticeLines(notices: readonly string[]): { type: 'text'; text: string }[] {
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
