import type { ToolError } from '../../../core/index.ts'
import { escapeLine } from '../../../lib/index.ts'
import { refused } from '../send-errors.ts'
import type { ChannelAnswer } from '../types.ts'

const MAX_WORDS_LENGTH = 300
const MAX_WAIT_MS = 86_400_000

/** What a service said instead of taking a message. */
export interface AnswerWords {
  readonly channel: string
  readonly redact: (text: string) => string
  /** Its own words; its whole answer unless said. */
  readonly words?: string
  readonly retryAfterSeconds?: number
  /** Where it is another one than that of the answer. */
  readonly status?: number
}

/** The error of an answer that is a refusal. */
export function refusedBy(answer: ChannelAnswer, said: AnswerWords): ToolError {
  const { channel, redact, words = answer.text, status = answer.status } = said
  const seconds = said.retryAfterSeconds ?? readRetryAfter(answer.headers)
  const retryAfterMs = seconds === undefined ? undefined : Math.min(Math.ceil(seconds * 1000), MAX_WAIT_MS)
  const shown = escapeLine(redact(words.slice(0, 4 * MAX_WORDS_LENGTH)).trim()).slice(0, MAX_WORDS_LENGTH)
  const isUnknown = status < 300 || status >= 500
  return refused({ channel, status, words: shown, isUnknown, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** Seconds from now; a date is compared with that of the answer, since clocks differ. */
function readRetryAfter(headers: Headers): number | undefined {
  const header = headers.get('retry-after') ?? ''
  if (/^\d{1,7}(?:\.\d{1,6})?$/.test(header)) return Number(header)
  const seconds = (Date.parse(header) - Date.parse(headers.get('date') ?? '')) / 1000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
