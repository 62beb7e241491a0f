import { ToolError } from '../../core/index.ts'
import { LONE_SURROGATE } from '../../lib/index.ts'
import type { ChannelLimits } from './types.ts'

const MAX_CHARS = 100_000
const MAX_TITLE_CHARS = 200
// Line breaks and tabs are text; the others drive terminals, or end the header of a mail.
const CONTROL = /[^\P{Cc}\n\t]/u

/** What a message says. */
export interface Words {
  readonly title?: string
  readonly text: string
}

/** The words as they may be sent; too long ones are refused, never cut. */
export function checkWords({ title, text }: Words, limits: ChannelLimits, channel: string): Words {
  const { maxChars = MAX_CHARS, maxTitleChars = MAX_TITLE_CHARS } = limits
  if (text.trim() === '') throw invalid('The message says nothing.', 'Give a text.')
  if (title !== undefined && /\p{Cc}/u.test(title)) throw invalid('The title has a line break or a control character.')
  if (CONTROL.test(text)) throw invalid('The text has a control character.')
  if (LONE_SURROGATE.test(text) || LONE_SURROGATE.test(title ?? '')) throw invalid('The message has half a character.')
  if (title !== undefined) assertFits(title, maxTitleChars, 'title', channel)
  assertFits(title === undefined ? text : `${title}\n${text}`, maxChars, 'message', channel)
  return { ...(title !== undefined && { title }), text }
}

/** Refuses what the channel would cut or refuse. */
export function assertFits(text: string, most: number, what: string, channel: string): void {
  if (text.length <= most) return
  const message = `The ${what} has ${text.length} characters; the channel ${channel} takes at most ${most}.`
  throw new ToolError('FILE_TOO_LARGE', message, {
    hint: 'Shorten it, send it in parts, or attach the whole where the channel takes attachments.',
  })
}

function invalid(message: string, hint = 'Leave such characters out.'): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
