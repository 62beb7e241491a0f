import type { ChannelAnswer } from '../../../contracts/messages.ts'
import type { ToolError } from '../../../errors.ts'
import { escapeLine } from '../../../value/escape-text.ts'
import { refused } from '../send-errors.ts'

const LONGEST_WORDS = 300
const LONGEST_WAIT_MS = 86_400_000

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
  const seconds = said.retryAfterSeconds ?? readRetryAfter(answer.headers.get('retry-after'))
  const retryAfterMs = seconds === undefined ? undefined : Math.min(Math.ceil(seconds * 1000), LONGEST_WAIT_MS)
  const shown = escapeLine(redact(words.slice(0, 4 * LONGEST_WORDS)).trim()).slice(0, LONGEST_WORDS)
  return refused({ channel, status, words: shown, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** Seconds; a date is for others to compute with. */
function readRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,7}(?:\.\d{1,6})?$/.test(header) ? Number(header) : undefined
}
