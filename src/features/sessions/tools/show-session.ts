import type { SessionBrief, SessionEntry, SessionMessage } from '../types.ts'
import { quoteText } from './quote-text.ts'

/** A session on one line. */
export function showBrief({ id, label, runner, state }: SessionBrief): string {
  return [id, ...(label === undefined ? [] : [`(${label})`]), state, ...(runner ? [`runner ${runner}`] : [])].join(' ')
}

/** A session and what came of it. */
export function showEntry(entry: SessionEntry): string {
  const { reason, result, isTainted: isUntrusted } = entry
  return [
    showBrief(entry),
    ...(reason === undefined ? [] : [`reason:\n${quoteText(reason, { isUntrusted })}`]),
    ...(result === undefined ? [] : [`result:\n${quoteText(result, { isUntrusted })}`]),
  ].join('\n')
}

/** A message with who wrote it, and how to answer. */
export function showMessage({ id, from, text, replyTo, isUntrusted }: SessionMessage): string {
  const answers = replyTo === undefined ? '' : `, answers ${replyTo}`
  return `${id} from ${from}${answers}:\n${quoteText(text, { isUntrusted })}`
}
